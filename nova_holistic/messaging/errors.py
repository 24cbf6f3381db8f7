# SPDX-License-Identifier: Apache-2.0
"""Errors with which an engine answers a request."""

from nova_holistic import exceptions


class GroupExists(exceptions.HolisticError):
    """The requested UUID belongs to another group."""


class GroupBusy(exceptions.HolisticError):
    """The group is being planned."""


class LeaseRefused(exceptions.HolisticError):
    """The group has no planned members whose lease could be extended."""


class BindingRefused(exceptions.HolisticError):
    """The server group or the stack cannot be bound to the member; the message
    states the reason."""


class HostUnknown(exceptions.HolisticError):
    """The inventory has no host of that name."""


class EngineUnreachable(exceptions.HolisticError):
    """No engine answered in time. The request may have been carried out."""


class EngineFailed(exceptions.HolisticError):
    """An unexpected error occurred in an engine, whose log contains it."""

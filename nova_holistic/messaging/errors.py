# SPDX-License-Identifier: Apache-2.0
"""Errors with which an engine answers a request."""

from nova_holistic import exceptions


class GroupExists(exceptions.HolisticError):
    """The requested UUID belongs to another group."""


class GroupBusy(exceptions.HolisticError):
    """The group is being planned."""


class StaleRevision(exceptions.HolisticError):
    """The definition of the group has changed since the client read it."""

    def __init__(self, group_uuid: str, present: int, required: int):
        super().__init__(f'group {group_uuid} is at revision {present}, not '
                         f'{required}')


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


def must_have_revision(group_uuid: str, present: int,
                       required: int | None) -> None:
    """
    :param present: revision of the group
    :param required: revision that the client has read; None means any
    :raises StaleRevision: they differ
    """
    if required is not None and present != required:
        raise StaleRevision(group_uuid, present, required)

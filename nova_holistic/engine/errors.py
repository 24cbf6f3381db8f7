# SPDX-License-Identifier: Apache-2.0
"""What the engine refuses."""

from nova_holistic import exceptions


class GroupExists(exceptions.HolisticError):
    """The UUID asked for belongs to another group."""


class GroupBusy(exceptions.HolisticError):
    """The group is being planned."""


class LeaseRefused(exceptions.HolisticError):
    """There is nothing left for a lease to keep."""

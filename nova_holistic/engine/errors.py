# SPDX-License-Identifier: Apache-2.0
"""What the engine refuses."""

from nova_holistic import exceptions


class GroupExists(exceptions.HolisticError):
    """The UUID asked for belongs to another group."""


class GroupBusy(exceptions.HolisticError):
    """The group is being planned."""


class LeaseRefused(exceptions.HolisticError):
    """There is nothing left for a lease to keep."""


class HostUnknown(exceptions.HolisticError):
    """The inventory has no host of that name."""


class EngineUnreachable(exceptions.HolisticError):
    """No engine answered in time; whether it did as asked is not known."""


class EngineFailed(exceptions.HolisticError):
    """An engine met a fault of its own, which its log tells of."""


class TurnLost(exceptions.HolisticError):
    """Another engine has taken over, or the task is gone."""


class HoldsLeft(exceptions.HolisticError):
    """What was held for nothing cannot be dropped now: the task that held it
    stays, to be seen to again."""

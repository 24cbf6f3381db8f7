# SPDX-License-Identifier: Apache-2.0
"""Errors that end an engine's work on a task before the task is done."""

from nova_holistic import exceptions


class OwnershipLost(exceptions.HolisticError):
    """Another engine owns the task now, or the task no longer exists."""


class HoldsNotDropped(exceptions.HolisticError):
    """Placement does not respond, so unneeded holds cannot be dropped now.

    The task remains, and an engine tries it again.
    """


class WorkDelayed(exceptions.HolisticError):
    """Work has failed. The table states when an engine repeats it."""


class OutdatedPlan(exceptions.HolisticError):
    """The cloud or the group has changed since the plan was made.

    The members are planned again on a newer snapshot."""


class UnreadableReference(exceptions.HolisticError):
    """A member names an object that cannot be read now.

    :ivar place: position in the document, as in InvalidDocument
    :ivar message: text for users, without names of services
    """

    def __init__(self, place: str, message: str):
        super().__init__(f'{place}: {message}')
        self.place = place
        self.message = message

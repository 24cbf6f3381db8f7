# SPDX-License-Identifier: Apache-2.0
"""What can go wrong between us and Placement."""

from nova_holistic import exceptions


class HoldsError(exceptions.HolisticError):
    """Placement does not answer, or answers what it should not.

    Whether the request was carried out is not known: the reconciler finds
    out.
    """


class Unanswered(HoldsError):
    """No answer of Placement has arrived: the connection failed, or the
    client or a proxy did not wait any longer.

    Placement may have carried out the request, or may carry it out later.
    """


class CapacityGone(HoldsError):
    """Placement refused: the room, or its provider, is no longer there.

    Nothing was allocated.
    """


class HoldGone(HoldsError):
    """The hold is no longer in Placement, and the instance did not get it."""


class AllocationChanged(HoldsError):
    """The instance's allocation differs from the allocation of the hold.

    Another process moved or resized the server; nothing was changed.
    """

# SPDX-License-Identifier: Apache-2.0
"""Errors of requests to Placement."""

from nova_holistic import exceptions


class HoldsError(exceptions.HolisticError):
    """Placement does not respond, or its response is unexpected.

    Unless a subclass states otherwise, it is unknown whether the request was
    carried out. The reconciler checks this later.
    """


class NoResponse(HoldsError):
    """No response of Placement was received: the connection failed, or the
    timeout of the client or of a proxy was exceeded.

    Placement may have carried out the request, or may carry it out later.
    """


class CapacityUnavailable(HoldsError):
    """Placement refuses a request, because the capacity or its provider is no
    longer available. Nothing was allocated."""


class HoldMissing(HoldsError):
    """Neither the hold nor the instance has the allocation."""


class AllocationChanged(HoldsError):
    """A consumer has another allocation than planned, for example because
    another process moved or resized the server. Nothing was changed."""

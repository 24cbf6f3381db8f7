# SPDX-License-Identifier: Apache-2.0
"""Exchanges the hold of a claimed row for the allocation of its instance, and
back."""

from nova_holistic.holds.client import HoldClient
from nova_holistic.holds import errors
from nova_holistic.scheduler.claim.claimed_row import ClaimedRow
from nova_holistic.scheduler.claim.request_refusal import (
    HostRefused, RequestRefused)
from nova_holistic.table.records import MemberRecord


class HoldExchange:
    """Exchanges the holds of one request."""

    def __init__(self, holds: HoldClient, project_id: str, user_id: str):
        """
        :param project_id: project of the allocations of instances
        :param user_id: user of these allocations
        """
        self._holds = holds
        self._owner = (project_id, user_id)

    def swap(self, claim: ClaimedRow) -> None:
        """Replace the hold with the instance's allocation.

        :raises HostRefused: the host does not have enough capacity; the hold
            is unchanged
        :raises RequestRefused: the hold no longer exists
        :raises HoldsError: Placement does not answer, or not as expected
        """
        # Placement's messages name providers, which users must not see.
        place = (claim.moved or claim.row).place
        swap = self._holds.allocate if claim.grown else self._holds.swap
        claim.swapped = claim.unanswered = True
        try:
            swap(claim.row, claim.instance_uuid, *self._owner,
                 *claim.other_place)
        except errors.HoldMissing as error:
            claim.unanswered = False
            raise RequestRefused(
                f'the hold of member {claim.row.member.path!r} no longer '
                f'exists in Placement') from error
        except errors.CapacityUnavailable as error:
            claim.unanswered = False
            raise HostRefused(
                'no longer has enough capacity for the '
                'server', place.host) from error
        claim.unanswered = False

    def undo(self, claim: ClaimedRow) -> MemberRecord:
        """Replace the allocation with a hold, and return the row with this
        hold. Placement does not carry out a swap without an answer later.

        :raises HoldMissing: neither the allocation nor the hold exists
        :raises HoldsError: the capacity or Placement is unavailable
        """
        if claim.unanswered:
            try:
                self._holds.renew(claim.row)
                return claim.row
            except errors.HoldMissing:
                # The swap was carried out.
                pass
        return self._unswapped(claim)

    def withdraw(self, claim: ClaimedRow, is_final: bool) -> None:
        """Remove the allocation of a grown member's instance.

        :param is_final: whether no other allocation of the instance follows.
            Then Placement does not carry out a swap without an answer later.
            Otherwise, if Nova allocates another place first, Placement refuses
            the late swap
        :raises HoldsError: Placement is unavailable
        """
        if claim.unanswered and is_final:
            self._holds.withdraw(claim.instance_uuid, *self._owner)
        else:
            self._holds.restore(claim.instance_uuid, None)

    def _unswapped(self, claim: ClaimedRow) -> MemberRecord:
        arguments = claim.instance_uuid, *self._owner
        try:
            self._holds.unswap(claim.row, *arguments, *claim.other_place)
            return claim.row
        except errors.CapacityUnavailable:
            if claim.moved is None:
                raise
        # The capacity of its planned place was allocated in the meantime: it
        # stays at the place of the move.
        self._holds.unswap(claim.moved, *arguments)
        return claim.moved

# SPDX-License-Identifier: Apache-2.0
"""The rows that one request claims: all of them or none."""

from collections.abc import Sequence
import contextlib
from dataclasses import replace
import uuid

from oslo_log import log as logging

from nova_holistic import crash_points, exceptions
from nova_holistic.engine.update import unneeded_holds
from nova_holistic.holds import errors as holds_errors
from nova_holistic.metrics import instruments
from nova_holistic.scheduler.claim.claimed_row import ClaimedRow
from nova_holistic.scheduler.claim.hold_exchange import HoldExchange
from nova_holistic.scheduler.claim import lost_member
from nova_holistic.scheduler.claim.request_refusal import (
    HostRefused, RequestRefused)
from nova_holistic.scheduler.connections import Connections
from nova_holistic.table.changes.claim import SeenRows
from nova_holistic.table.changes import member_moves
from nova_holistic.table.changes.member_moves import Move
from nova_holistic.table import errors as table_errors
from nova_holistic.table.records import (
    GroupStatus, MemberRecord, MemberState, Place)

LOG = logging.getLogger(__name__)


class UndoFailed(exceptions.HolisticError):
    """An instance may still have its planned allocation, so that stock Nova
    would add a second one. ``__cause__`` is the first error."""


class Claims:
    """Claims rows, swaps their holds, and can undo its own claims."""

    def __init__(self, connections: Connections, project_id: str,
                 user_id: str):
        """
        :param project_id: project of the servers and of their allocations
        :param user_id: user of their allocations
        """
        self._table = connections.table
        self._holds = connections.holds
        self._clock = connections.clock
        self._exchange = HoldExchange(self._holds, project_id, user_id)
        self._claims: list[ClaimedRow] = []

    def take(self, group_uuid: str, path: str, instance_uuid: str,
             seen: SeenRows) -> MemberRecord:
        """Assign the member's row to the instance, unless it already has it.

        :param path: path of a member or of a member description
        :param seen: rows at this path that have just been read
        :raises ClaimRefused: no row at that path can be claimed
        """
        try:
            claim = self._table.take(
                group_uuid, path, instance_uuid, self._clock(),
                replace(seen, rows=[row for row in seen.rows
                                    if row.id not in self._taken()]))
        except table_errors.ClaimRefused:
            instruments.CLAIMS.add(result='refused')
            raise
        instruments.CLAIMS.add(
            result='repeated' if claim.repeated else 'claimed')
        self._claims.append(ClaimedRow(
            claim.row, instance_uuid, claim.repeated, claim.row.hold))
        crash_points.reached('claim.row-claimed')
        return claim.row

    def add(self, row: MemberRecord,
            before: MemberRecord | None = None) -> MemberRecord:
        """Add a row that was written for an instance whose member was not
        planned before.

        :param before: the row that it replaces, as it was read
        """
        instruments.CLAIMS.add(result='grown')
        self._claims.append(ClaimedRow(
            row, row.instance_uuid or '', False, row.hold, grown=True,
            before=before))
        crash_points.reached('claim.row-grown')
        return row

    def is_grown(self, row: MemberRecord) -> bool:
        """Whether the member was not planned before this request."""
        return self._of(row).grown

    def _taken(self) -> set[int]:
        return {claim.row.id for claim in self._claims}

    def is_repeated(self, row: MemberRecord) -> bool:
        """Whether the instance had the row before this request."""
        return self._of(row).repeated

    def move(self, row: MemberRecord, place: Place) -> MemberRecord:
        """The row at another place, where ``write`` and ``swap`` move it.

        Its hold there is new. So the old hold never counts as held at the new
        place, even if the change is interrupted.
        """
        claim = self._of(row)
        claim.moved = replace(
            claim.row, place=place, hold=str(uuid.uuid4()),
            instance_uuid=claim.instance_uuid)
        return claim.moved

    def give_up(self, row: MemberRecord,
                refusals: Sequence[HostRefused]) -> None:
        """Let ``undo`` change the member to lost instead of planned."""
        self._of(row).refusals = refusals

    def write(self, row: MemberRecord,
              checked_rows: Sequence[MemberRecord]) -> bool:
        """Write the place to which the row moves, if it moves.

        :param checked_rows: all rows of the group at the time when the place
            was checked
        :returns: False if another member has a new place since then
        :raises RequestRefused: another process has undone the claim
        """
        claim = self._of(row)
        if claim.moved is None or claim.written == claim.moved.hold:
            return True
        answer = member_moves.move(self._table.database, claim.moved,
                                   claim.written,
                                   checked_rows, self._clock())
        if answer == Move.GONE:
            raise RequestRefused('the claim was undone by another process')
        if answer == Move.WRITTEN:
            claim.written = claim.moved.hold
            crash_points.reached('claim.row-moved')
        return answer == Move.WRITTEN

    def swap(self, row: MemberRecord) -> None:
        """Replace the row's hold with its instance's allocation. If the row
        moves, call ``write`` first.

        :raises HostRefused: the host does not have enough capacity; the hold
            is unchanged
        :raises RequestRefused: the hold no longer exists
        :raises HoldsError: Placement does not answer, or not as expected
        """
        self._exchange.swap(self._of(row))
        crash_points.reached('claim.hold-swapped')

    def confirm(self) -> None:
        """Check that the instances still have their rows.

        :raises RequestRefused: another process has undone a claim
        """
        # A reconciler may have considered this scheduler failed, or the group
        # may be deleted.
        found = self._table.standing(self._taken())
        if any(claim.row.id not in found
               or found[claim.row.id].instance_uuid != claim.instance_uuid
               for claim in self._claims):
            raise RequestRefused('the claim was undone by another process')
        # The group was settled between the read of its status and the claim.
        if any(group.status == GroupStatus.PLANNED
               for group in found.values()):
            self._settle(self._claims[0].row.group_uuid)
        crash_points.reached('claim.confirmed')

    def _settle(self, group_uuid: str) -> None:
        try:
            self._table.settle(group_uuid, self._clock())
        except table_errors.TableError as error:
            # The reconciler settles it later. The servers have their places.
            LOG.warning('The status of group %(group)s is not settled: '
                        '%(error)s', {'group': group_uuid, 'error': error})

    def _of(self, row: MemberRecord) -> ClaimedRow:
        return next(claim for claim in self._claims if claim.row.id == row.id)

    def undo(self, is_final: bool = True) -> bool:
        """Plan and hold every claimed row again, unless it was given up.

        If a claim cannot be undone now, the reconciler undoes it later.

        :param is_final: whether the create fails; otherwise stock Nova answers
            it, and may allocate other places for the instances
        :returns: False if an instance may still have its allocation
        """
        complete = True
        for claim in self._claims:
            if claim.repeated:
                # Its first request may have given it the allocation.
                complete = complete and not claim.may_have_allocation(
                    self._holds)
                continue
            try:
                self._undo(claim, is_final)
            except exceptions.HolisticError as error:
                LOG.warning(
                    'Member %(member)s of group %(group)s stays claimed for '
                    'instance %(instance)s: %(error)s',
                    {'member': claim.row.member.path,
                     'group': claim.row.group_uuid,
                     'instance': claim.instance_uuid, 'error': error})
                complete = complete and not claim.swapped
            crash_points.reached('claim.one-undone')
        self._claims = []
        return complete

    def _undo(self, claim: ClaimedRow, is_final: bool) -> None:
        if claim.grown:
            self._shrink(claim, is_final)
            return
        row, state, held = claim.row, MemberState.PLANNED, True
        if claim.swapped:
            try:
                row = self._exchange.undo(claim)
                crash_points.reached('claim.unswapped')
            except holds_errors.HoldMissing:
                state, held = MemberState.LOST, False
        if claim.refusals:
            state = MemberState.LOST
        undone = self._table.change_state(
            row.id, {MemberState.CLAIMED}, state, self._clock(),
            of_instance=claim.instance_uuid, instance_uuid=None, held=held,
            **claim.moved_back(row))
        crash_points.reached('claim.undone')
        if undone and claim.refusals:
            self._lose(claim, row)
        elif not undone and claim.swapped and held:
            # The process that undid the claim or deleted the row did not find
            # the hold, because the instance had the allocation.
            unneeded_holds.drop_if_unwanted(self._table, self._holds, row)
        crash_points.reached('claim.hold-checked')
        self._table.settle(row.group_uuid, self._clock())

    def _shrink(self, claim: ClaimedRow, is_final: bool) -> None:
        """Release a member that was not planned before.

        If its row was taken from a deleted server, it belongs to that server
        again: the reconciler decides whether its place is held again.
        """
        if claim.swapped:
            self._exchange.withdraw(claim, is_final)
            crash_points.reached('claim.allocation-dropped')
        former = claim.before and claim.before.instance_uuid
        self._table.change_state(
            claim.row.id, {MemberState.CLAIMED},
            claim.before.state if former else MemberState.RELEASED,
            self._clock(), of_instance=claim.instance_uuid,
            instance_uuid=former, held=False, returned=not former)
        crash_points.reached('claim.shrunk')
        self._table.settle(claim.row.group_uuid, self._clock())

    def _lose(self, claim: ClaimedRow, row: MemberRecord) -> None:
        """Record why the member is lost, and drop its hold.

        If the hold cannot be dropped now, the reconciler drops it later.
        """
        lost_member.record_loss(self._table, row, claim.refusals,
                                self._clock())
        crash_points.reached('claim.refusal-written')
        with contextlib.suppress(holds_errors.HoldsError):
            self._holds.drop([row.hold])
            crash_points.reached('claim.lost-dropped')
            self._table.forget_holds([row.hold])

# SPDX-License-Identifier: Apache-2.0
"""The journal of a change: the table names each hold from before it is written
until it is dropped.

While a group is planned, and while lost members are planned again, the rows of
the members name the new holds. While a group is updated, its rows still
describe the current state of the members, so the group's task names the new
holds. An engine that takes over from a crashed engine reads in the journal
which holds it must drop and which it must restore.
"""

import abc
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from oslo_log import log as logging

from nova_holistic import crash_points
from nova_holistic.engine import errors
from nova_holistic.engine.tasks.ownership import Ownership
from nova_holistic.holds.client import HoldClient, Replan
from nova_holistic.holds import errors as hold_errors
from nova_holistic.table.changes import group_revision, member_replan
from nova_holistic.table.records import GroupRecord, MemberRecord, MemberState
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

_PUT, _VACATED, _UNNEEDED = 'put', 'vacated', 'unneeded'
"""Keys of a task. ``put``: holds that are written to Placement, or about to
be. ``vacated``: holds whose capacity the new holds take. ``unneeded``: holds
that the updated group does not need."""


def holds_of(pending: Mapping[str, Any] | None) -> Sequence[str]:
    """The holds that a task may have left without a row."""
    pending = pending or {}
    return [*pending.get(_PUT, ()), *pending.get(_UNNEEDED, ())]


def all_holds(pending: Mapping[str, Any]) -> Sequence[str]:
    """All holds that a task names, including those of vacated members."""
    return [*holds_of(pending), *pending.get(_VACATED, ())]


class Journal(abc.ABC):
    """The journal of one change of one group."""

    def __init__(self, record: GroupRecord, table: PlacementTable,
                 holds: HoldClient, ownership: Ownership | None = None):
        """
        :param ownership: ownership of the group, if the group shows how many
            of the holds are written
        """
        self._record = record
        self._table = table
        self._holds = holds
        self._ownership = ownership

    def put(self, members: Sequence[MemberRecord],
            replan: Replan | None = None) -> None:
        """Write holds that are in the journal to Placement: all of them, or
        none.

        The holds of large groups are written in several parts. In between, the
        group shows how many of its holds are written.

        :param replan: see ``HoldClient.put``; it writes its result in the
            journal
        :raises CapacityUnavailable: the capacity is no longer available
        :raises OwnershipLost: the group belongs to another engine; some of the
            holds are written
        """
        self._holds.put(members, self._record.project_id,
                        self._record.user_id, self._note, replan)

    def _note(self, written: int) -> None:
        if self._ownership is not None:
            self._ownership.change(holds_written=written)

    def drop(self, holds: Sequence[str]) -> None:
        """Drop holds.

        :raises HoldsError: Placement does not respond
        """
        self._holds.drop(holds, self._record.project_id,
                         self._record.user_id)

    @abc.abstractmethod
    def undo(self, error: BaseException | None = None) -> None:
        """Drop the new holds, and restore the holds that were dropped for
        them.

        :param error: the error for which the change was not accepted
        :raises HoldsError: Placement does not respond
        :raises TableError: the table does not respond
        """


class RowJournal(Journal):
    """The journal in rows: the rows of the members name the holds and state
    that the members are held.

    ``undo`` drops the holds only after OutdatedPlan and OwnershipLost. After
    CapacityUnavailable, none exists. After other errors, the rows keep the
    holds, and the engine that gives up the group, or the reconciler, drops
    them.
    """

    def __init__(self, record: GroupRecord, table: PlacementTable,
                 holds: HoldClient, ownership: Ownership | None = None):
        super().__init__(record, table, holds, ownership)
        self._written: Sequence[str] = ()

    def write(self, members: Sequence[MemberRecord],
              into_table: Callable[[Sequence[MemberRecord]], None]) -> None:
        """Write the rows of members that are about to be held.

        :param into_table: writes all rows, or raises an error
        """
        into_table(members)
        self._written = [member.hold for member in members]

    def move(self, moved: Mapping[str, MemberRecord]) -> None:
        """Write the new places of members before they are held.

        :param moved: members with new holds and places, by their previous
            holds, which do not exist in Placement
        :raises OutdatedPlan: the members have changed since the plan
        :raises OwnershipLost: the group belongs to another engine
        """
        # If any later step fails, these holds can be dropped safely.
        self._written = [*self._written, *(m.hold for m in moved.values())]
        owner = self._ownership and self._record.engine
        if not member_replan.move(self._table.database, moved, owner):
            if self._ownership is not None:
                # Usually the ownership was lost, which ends the work.
                self._ownership.change()
            raise errors.OutdatedPlan(
                'the members have changed since the plan')

    def undo(self, error: BaseException | None = None) -> None:
        if isinstance(error, (errors.OutdatedPlan, errors.OwnershipLost)):
            self.drop(self._written)
            crash_points.reached('undo.holds-dropped')
        elif not isinstance(error, hold_errors.CapacityUnavailable):
            return
        self._table.forget_holds(self._written)

    def recover(self, ownership: Ownership) -> None:
        """Drop the holds of another engine that did not finish the group.

        The rows stay until the rows of the next attempt replace them.

        :raises OwnershipLost: the group belongs to another engine
        """
        holds = [member.hold for member in
                 self._table.members(self._record.uuid) if member.held]
        if not holds:
            return
        # The rows were read before this check of the ownership, so no later
        # owner wrote them.
        ownership.change(holds_written=0)
        crash_points.reached('recovery.started')
        self.drop(holds)
        crash_points.reached('recovery.finished')


class TaskJournal(Journal):
    """The journal in a task: the task of a group names the holds."""

    _ownership: Ownership

    def __init__(self, ownership: Ownership, table: PlacementTable,
                 holds: HoldClient, clock: Callable[[], datetime]):
        """:param clock: returns naive UTC"""
        super().__init__(ownership.record, table, holds, ownership)
        self._clock = clock
        self._pending = dict(ownership.record.pending or {})

    @property
    def revised(self) -> bool:
        """Whether the rows are already those of the updated group."""
        return _UNNEEDED in self._pending

    def revised_with(self, unneeded: Sequence[str]) -> Mapping[str, Any]:
        """The parameters of the task when the rows of the group are updated.

        :param unneeded: holds to drop after the update
        """
        return {**self._requested_task(), _UNNEEDED: list(unneeded)}

    def write(self, put: Sequence[str], vacated: Sequence[str] = ()) -> None:
        """Write the next change of holds.

        :param put: new holds
        :param vacated: holds of members whose capacity the new holds take
        :raises OwnershipLost: the task belongs to another engine
        """
        pending = {**self._requested_task(), _PUT: list(put),
                   _VACATED: list(vacated)}
        self._ownership.change(pending=pending, holds_written=0)
        self._pending = pending

    def exchange(self, emptied: Sequence[str],
                 members: Sequence[MemberRecord]) -> None:
        """Replace holds by the holds of members in one step.

        :param emptied: holds that are dropped
        :raises CapacityUnavailable: the capacity is not available, even
            without the vacated holds
        """
        self._holds.exchange(emptied, members, self._record.project_id,
                             self._record.user_id)

    def undo(self, error: BaseException | None = None) -> None:
        """Undo the change: the group has exactly the holds that its rows name.

        :raises HoldsNotDropped: Placement does not respond
        :raises TableError: the table does not respond
        :raises OwnershipLost: the task belongs to another engine, and members
            that were vacated are left to it
        """
        put = self._pending.get(_PUT, ())
        if not put:
            return
        vacated = self._vacated()
        try:
            if vacated and self._holds.exists(put[0]) is not None:
                self._restore_vacated(put, vacated)
            else:
                self.drop(put)
        except hold_errors.HoldsError as failure:
            raise errors.HoldsNotDropped(str(failure)) from failure
        if vacated:
            crash_points.reached('undo.room-restored')
            self._occupy([member.hold for member in vacated])
        self._pending = self._requested_task()

    def recover(self) -> bool:
        """Finish or undo the update that a crashed engine began.

        :returns: whether the group is updated already
        :raises HoldsNotDropped: Placement does not respond
        """
        if self.revised:
            self.close()
        else:
            self.undo()
        crash_points.reached('recovery.finished')
        return self.revised

    def close(self, unneeded: Sequence[str] | None = None) -> None:
        """Drop the holds that the updated group does not need.

        :param unneeded: holds; None means those that the task names
        :raises HoldsNotDropped: Placement does not respond
        """
        if unneeded is None:
            unneeded = self._pending.get(_UNNEEDED, ())
        # The rows already name the holds that exist.
        self._pending = dict(self.revised_with(unneeded))
        try:
            self.drop(unneeded)
            crash_points.reached('update.unneeded-dropped')
        except hold_errors.HoldsError as error:
            raise errors.HoldsNotDropped(str(error)) from error

    def _requested_task(self) -> dict[str, Any]:
        """The task without the entries of the journal."""
        return {key: value for key, value in self._pending.items()
                if key not in (_PUT, _VACATED, _UNNEEDED)}

    def _vacated(self) -> Sequence[MemberRecord]:
        """Vacated members that still need their capacity. A member is left out
        if another engine has restored it and it has lost its place since
        then."""
        holds = set(self._pending.get(_VACATED, ()))
        return [member for member in self._table.members(self._record.uuid)
                if member.hold in holds and member.held
                and member.state in (MemberState.LOST, MemberState.PLANNED)]

    def _occupy(self, holds: Sequence[str]) -> None:
        if not group_revision.occupy(
                self._table.database, self._record.uuid,
                self._record.engine or '', holds, self._clock()):
            raise errors.OwnershipLost(
                'the update took too long and was abandoned')

    def _restore_vacated(self, put: Sequence[str],
                         vacated: Sequence[MemberRecord]) -> None:
        try:
            self.exchange(put, vacated)
        except hold_errors.CapacityUnavailable as error:
            LOG.warning('Members of group %s have lost their places: %s',
                        self._record.uuid, error)
            self.drop(put)
            crash_points.reached('undo.places-lost')
            self._table.forget_holds([member.hold for member in vacated])

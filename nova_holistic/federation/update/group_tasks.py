# SPDX-License-Identifier: Apache-2.0
"""Performs the tasks of a parent's groups."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from nova_holistic.documents.validation import listed
from nova_holistic.engine import reasons
from nova_holistic import exceptions
from nova_holistic.federation.child import Child, ChildGroup, Refusal
from nova_holistic.federation.credentials.user import User
from nova_holistic.federation.credentials.user_children import UserChildren
from nova_holistic.federation.errors import JournalRefused
from nova_holistic.federation.group_placer import GroupPlacer
from nova_holistic.federation.refresh import Refresh
from nova_holistic.federation.saga.journal import PartState
from nova_holistic.federation.table_journal import record_of, TableJournal
from nova_holistic.federation import unfinished_task
from nova_holistic.federation.update.group_updater import GroupUpdater, Waiting
from nova_holistic.federation.update.part_settler import HELD
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.plan import Reason
from nova_holistic.table.changes.claim import CLAIMABLE
from nova_holistic.table.coordination.parts import GroupPart
from nova_holistic.table import errors as table_errors
from nova_holistic.table.records import (
    GroupRecord, MemberRecord, MemberState, Task)
from nova_holistic.table.store import PlacementTable


class GroupTasks:
    """Performs a task that this process has taken."""

    def __init__(self, table: PlacementTable, children: UserChildren,
                 placer: GroupPlacer, updater: GroupUpdater,
                 refresh: Refresh, seconds: float,
                 clock: Callable[[], datetime]):
        """
        :param refresh: compares groups with the children
        :param seconds: time limit of one request to a child
        :param clock: returns naive UTC
        """
        self._table = table
        self._children = children
        self._placer = placer
        self._updater = updater
        self._refresh = refresh
        self._seconds = seconds
        self._clock = clock

    def perform(self, record: GroupRecord, user: User) -> None:
        """Perform the task of a group. An error ends the task, as in the
        engine of a single cloud.

        :param record: result of ``table.tasks.take``
        :raises TableError: the table does not respond; the task remains
        """
        try:
            self._perform(record, user)
        except table_errors.TableError:
            raise
        except exceptions.HolisticError as error:
            self.give_up(record, reasons.of_errors(error))
        except Exception as error:
            self.give_up(record, [reasons.of_error(
                error, f'{record.task} failed: {error!r}')])
            raise

    def give_up(self, record: GroupRecord, why: Sequence[Reason]) -> None:
        """End the task without a result: see ``unfinished_task.end``."""
        unfinished_task.end(self._table, record, why, self._clock())

    def _perform(self, record: GroupRecord, user: User) -> None:
        if record.task == Task.UPDATING:
            self._updater.perform(record, user)
        elif record.task == Task.REPAIRING:
            self._forward(record, user, lambda child, part: child.repair(
                part.child_group or '', self._seconds))
        elif record.task == Task.REPLANNING and record.status in CLAIMABLE:
            self._replan(record, user)
        else:
            self._placer.perform(record, user)

    def _replan(self, record: GroupRecord, user: User) -> None:
        """Place parts again whose child no longer has the group, and lost
        members that their child does not know, or whose child was forgotten.
        Otherwise, the children replan their lost members.

        Parts wait whose child does not answer, or no longer has a part with
        servers: these may still run, and would belong to no group afterwards.
        All other parts are replanned."""
        journal = TableJournal(self._table.parts, record.uuid, record.engine,
                               self._clock)
        rows = self._table.members(record.uuid)
        gone, waiting = self._is_forgotten(record), {}
        lost = {row.member.path for row in rows
                if row.state == MemberState.LOST}
        for part in self._parts(record):
            found = self._child(user, part).show(part.child_group or '')
            if isinstance(found, Refusal):
                waiting[part.child] = found.reasons
            elif found is not None:
                known = {each.path for each in found.members or ()}
                gone |= found.members is not None and (
                    not lost.intersection(part.paths) <= known)
            elif servers := _servers(part, rows):
                waiting[part.child] = (_missing(part, servers),)
            else:
                try:
                    journal.write(replace(
                        record_of(part), state=PartState.UNDONE))
                except JournalRefused:
                    return
                gone = True
        if gone:
            self._updater.perform(record, user, waiting)
        else:
            self._forward(record, user, lambda child, part: child.replan(
                part.child_group or '', self._seconds), waiting)

    def _is_forgotten(self, record: GroupRecord) -> bool:
        """Whether members are lost because the parent has forgotten the part
        in their cloud."""
        clouds = {part.child for part in self._parts(record)}
        return any(row.state == MemberState.LOST
                   and row.place.host not in clouds
                   for row in self._table.members(record.uuid))

    def _forward(self, record: GroupRecord, user: User, send: Callable[
            [Child, GroupPart], ChildGroup | None | Refusal],
            waiting: Waiting = FrozenMapping()) -> None:
        """Send a request to each child that has a part.

        :param waiting: parts for which no request is sent
        """
        why = [reason for each in waiting.values() for reason in each]
        for part in self._parts(record):
            if part.child not in waiting:
                found = send(self._child(user, part), part)
                if found is not None:
                    why += found.reasons
        self._refresh.of_task(user, record, waiting)
        self._table.tasks.finish(record.uuid, record.engine or '', {
            'reasons': [each.to_row() for each in why],
            'updated_at': self._clock()})

    def _parts(self, record: GroupRecord) -> list[GroupPart]:
        return [part for part in self._table.parts.of_group(record.uuid)
                if part.state in HELD]

    def _child(self, user: User, part: GroupPart) -> Child:
        return self._children.child_of(user, record_of(part))


def _servers(part: GroupPart, rows: Sequence[MemberRecord]) -> list[str]:
    """Paths of the members of a part that have servers."""
    return [row.member.path for row in rows
            if row.place.host == part.child and row.state in (
                MemberState.CLAIMED, MemberState.BUILT)]


def _missing(part: GroupPart, servers: Sequence[str]) -> Reason:
    """The reason why a part that its child no longer has is not placed again.

    :param servers: paths of its members with servers
    """
    text = (f'cloud {part.child}: the cloud no longer has its part of the '
            'group, and these members have servers there, which may still '
            f'run: {listed(servers)}; remove these members from the group '
            'before you replan it')
    return Reason('', text, names=(), hidden=(), public=text)

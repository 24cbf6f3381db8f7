# SPDX-License-Identifier: Apache-2.0
"""Caches the positions of the members of groups, so that the cost of a create
depends on the number of changes, and not on the number of existing servers.

A position follows from the member's row and from Nova's record of its server.
The row is compared with that of the last read. Nova sets ``updated_at`` at
each change of a record, and has an index of this column and the project. A
record is read again each time if it can change without a new date, if its
server is moving, or if no cell has it yet. All records of a group are read
again after ``MAX_AGE_SECONDS``; those of an exclusive group only by a create
in this group.

A server changes its cell only in a resize, before which the scheduler writes
the destination to the row if the group has hard policies. So the scheduler
asks only cells that have servers of the group.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from collections import OrderedDict
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
import threading
import time

import nova.conf
from nova import objects
from oslo_utils import timeutils

from nova_holistic.model.layered_mapping import differences
from nova_holistic.model.nova.server_position import Position
from nova_holistic.scheduler.policies.known_positions import (
    KnownPositions, number_in_cells, stale_rows, unanswered, updated)
from nova_holistic.scheduler.policies import server_locations
from nova_holistic.scheduler.policies.server_locations import (
    CellRead, OWNED)
from nova_holistic.table.records import MemberRecord, MemberState

CONF = nova.conf.CONF

MAX_AGE_SECONDS = 600
"""Seconds after which all servers of a group are read again. This limits the
effect of a change without a date, for example by hand in Nova's database."""
MIN_LIMIT = 1_000
"""Minimum limit of the changed servers of a project that are read from a cell.
The limit is twice the number of servers of the group if that is larger,
because a read of all of them returns two rows for each. If a cell reaches the
limit, all servers of the group are read again."""
REMEMBERED = 50_000
"""Maximum number of cached members of all groups."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups whose members are read together.

    :ivar key: key of the cache: the UUID of the group, or a constant for all
        exclusive groups
    :ivar projects: projects of the groups, and of their servers
    """

    key: str
    projects: frozenset[str]


class GroupPositions:
    """The cache. The state of a group is replaced as a whole, so that
    threads may share an instance."""

    def __init__(self, limit: int = REMEMBERED,
                 clock: Callable[[], float] = time.monotonic,
                 max_age: float = MAX_AGE_SECONDS):
        """
        :param limit: maximum number of cached members: see ``REMEMBERED``
        :param clock: returns seconds since any point in time
        :param max_age: seconds: see ``MAX_AGE_SECONDS``
        """
        self._limit, self._clock = limit, clock
        self._max_age = max_age
        self._known: OrderedDict[str, KnownPositions] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    def unread_servers(self, group_uuid: str, rows: Mapping[int, MemberRecord]
                       ) -> list[str]:
        """UUIDs of the servers that ``positions`` will read for certain.

        :param rows: members of the group by the IDs of their rows
        """
        return [row.instance_uuid for row
                in stale_rows(self._of(group_uuid), rows)
                if row.instance_uuid is not None]

    def positions(self, context, groups: Groups,
                  rows: Mapping[int, MemberRecord],
                  again: Collection[int] = ()) -> Mapping[int, Position]:
        """The positions of the members that use capacity, by the IDs of their
        rows. If no position has changed, the result is the same object as
        before.

        An existing server counts at its host in Nova's database, not at its
        planned place. A server that is being moved counts at its source and at
        its destination; the member's row names the destination before Nova's
        databases do. A server that is being built or does not exist yet counts
        at its planned place. A server in a cell that does not respond counts
        at its last known host, or else at its planned place.

        If nothing has changed, one statement is sent to each cell that has
        servers of the group. It returns a row for each server of the project
        that has changed since the last read or in the ``[DEFAULT]
        service_down_time`` before it. This time covers differences of clocks:
        if they differ by more, Nova considers services down. The same
        statement reads servers that must be read again. Their cells take one
        statement to Nova's API database, and one more if a cell is new for the
        group. One further query is sent for each moving server.

        :param groups: the group, or all groups that are read together
        :param rows: its members by the IDs of their rows, or those of all
            groups
        :param again: IDs of rows whose servers are read again in any case
        """
        known = self._of(groups.key)
        found = _read(context, groups.projects, rows, replace(
            known, unsettled=known.unsettled.union(again)) if again else known)
        if found is None:
            found = _read(context, groups.projects, rows,
                          KnownPositions(self._clock()))
        assert found is not None
        self._remember(groups.key, found)
        return found.positions

    def _of(self, group_uuid: str) -> KnownPositions:
        with self._lock:
            known = self._known.get(group_uuid)
        now = self._clock()
        return known if known is not None and (
            known.full_at > now - self._max_age) else KnownPositions(now)

    def _remember(self, group_uuid: str, found: KnownPositions) -> None:
        with self._lock:
            self._forget(group_uuid)
            self._known[group_uuid] = found
            self._weight += len(found.rows)
            oldest_time = self._clock() - self._max_age
            while len(self._known) > 1:
                oldest = next(iter(self._known))
                if self._weight <= self._limit and (
                        self._known[oldest].full_at > oldest_time):
                    break
                self._forget(oldest)

    def _forget(self, group_uuid: str) -> None:
        known = self._known.pop(group_uuid, None)
        self._weight -= len(known.rows) if known is not None else 0


def _read(context, projects: frozenset[str],
          now: Mapping[int, MemberRecord], known: KnownPositions
          ) -> KnownPositions | None:
    """The current state of the group; None if all its servers must be read
    again.

    :param known: the last state; it has no members if all are read
    """
    stale = stale_rows(known, now)
    owned = {row.instance_uuid: row for row in stale if row.state in OWNED}
    by_number = server_locations.by_cell_number(
        context, list(owned)) if owned else {}
    cells = _cells(context, known.cells, by_number)
    gone = [number for number in differences(known.rows, now)
            if number not in now]
    left = [known.rows[number].instance_uuid for number in (
        *gone, *(row.id for row in stale if row.id in known.rows))]
    servers = known.servers.updated(owned, left)
    cell_of = known.cell_of.updated({
        uuid: cells[number].uuid for number, uuids in by_number.items()
        for uuid in uuids}, left)
    number_in = number_in_cells(known, cell_of, {*left, *owned})
    begin = timeutils.utcnow()
    wanted = {cell.uuid: CellRead(
        {uuid: owned[uuid] for uuid in by_number.get(number, ())},
        _since(known, cell.uuid), projects, servers, known.locations,
        max(MIN_LIMIT, 2 * len(servers)))
        for number, cell in cells.items() if cell.uuid in number_in}
    answers = server_locations.in_cells(
        context, [cell for cell in cells.values() if cell.uuid in wanted],
        wanted) if wanted else {}
    found = {row.id: server_locations.at(row.place.host) for row in stale
             if row.state == MemberState.PLANNED}
    found.update({row.id: unanswered(row, known, uuid in cell_of)
                  for uuid, row in owned.items()})
    read_at = dict(known.read_at)
    for cell_uuid, answer in answers.items():
        if answer is None:
            continue
        # A server without a cell is read each time.
        if not answer.is_complete or any(
                [cell_of.get(uuid, cell_uuid) != cell_uuid
                 for uuid in answer.found]):
            # Too many servers have changed, or one has another cell.
            return None
        read_at[cell_uuid] = begin
        found.update({servers[uuid].id: seen
                      for uuid, seen in answer.found.items()
                      if uuid in cell_of})
    return replace(updated(known, now, gone, stale, found),
                   cell_of=cell_of, cells=cells, read_at=read_at,
                   servers=servers, number_in=number_in)


def _cells(context, known: 'Mapping[int, objects.CellMapping]',
           numbers: Iterable[int]) -> 'Mapping[int, objects.CellMapping]':
    """The known cells, and those with the IDs."""
    missing = [number for number in numbers if number not in known]
    return {**known, **{
        cell.id: cell for cell in server_locations.cell_mappings(
            context, missing)}} if missing else known


def _since(known: KnownPositions, cell_uuid: str) -> datetime | None:
    """Naive UTC from which changes are read; None if the cell is new."""
    last = known.read_at.get(cell_uuid)
    return last and last - timedelta(seconds=CONF.service_down_time)

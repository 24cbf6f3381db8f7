# SPDX-License-Identifier: Apache-2.0
"""Caches the positions of the members of exclusive groups.

The cost of a read depends on the number of changes. A member that has changed
in the placement table is a new object: see ``ExclusiveGroups``. Nova sets
``updated_at`` at each change of a server, and its table of servers has an
index for this column. The position of a server is also read again if its
record may appear in its cell without such a date, or if the server is moving.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import nova.conf
from nova import context as nova_context
from nova import objects
from oslo_log import log as logging
from oslo_utils import timeutils

from nova_holistic.model.nova.server_position import Position, ServerRecord
from nova_holistic.scheduler.policies import server_locations
from nova_holistic.table.queries.cached_group import Found
from nova_holistic.table.records import MemberRecord

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)

Positions = Mapping[int, Position]
"""Positions by the ID of the member's row."""

MIN_LIMIT = 1_000
"""Minimum limit of the changed servers that are read from a cell. The limit is
the number of members with servers if that is larger. If a cell reaches the
limit, the positions of all these members are read."""


@dataclass(frozen=True, slots=True)
class _Group:
    rows: Sequence[MemberRecord]
    positions: Positions


@dataclass(frozen=True, slots=True)
class _Known:
    """The result of the last read.

    :ivar source: the groups that were passed to the read
    :ivar groups: rows and positions of each group, by its UUID
    :ivar owners: members that have a server, by the UUID of the server
    :ivar servers: the known state of each of these servers, by its UUID
    :ivar unsettled: UUIDs of servers whose positions are read each time
    :ivar read_at: time of the last read of each cell, by the UUID of the cell
    :ivar positions: positions of each group, by its UUID
    """

    source: Sequence[Found] = ()
    groups: Mapping[str, _Group] = field(default_factory=dict)
    owners: Mapping[str, MemberRecord] = field(default_factory=dict)
    servers: Mapping[str, ServerRecord | None] = field(default_factory=dict)
    unsettled: frozenset[str] = frozenset()
    read_at: Mapping[str, datetime] = field(default_factory=dict)
    positions: Mapping[str, Positions] = field(default_factory=dict)


class MemberPositionCache:
    """Keeps the positions in memory. They are replaced as a whole, so that
    threads need no lock."""

    def __init__(self) -> None:
        self._known = _Known()

    def positions(self, context, groups: Sequence[Found]
                  ) -> Mapping[str, Positions]:
        """Positions of the members, by the UUID of the group. If no member of
        a group has moved, its positions are the same object as before. If no
        member of any group has moved, so is the whole result.

        If nothing has changed, one statement is sent to Nova's API database,
        and one to each cell. A cell returns a row for each server of any
        project that has changed since the last read or in the ``[DEFAULT]
        service_down_time`` before it. This time covers differences of clocks:
        if they differ by more, Nova considers services down. If no member has
        a server, no statement is sent.
        """
        known = self._known
        changed = (() if groups is known.source else [
            found for found in groups
            if found[0].uuid not in known.groups
            or known.groups[found[0].uuid].rows is not found[1]])
        owners = known.owners if groups is known.source else {
            row.instance_uuid: row for _, rows in groups for row in rows
            if row.state in server_locations.OWNED}
        stale = {row.id: row for row in _other_rows(changed, known)}
        moved, read_at = ((), {}) if not owners else _moved(
            context, owners, known)
        stale.update((owners[uuid].id, owners[uuid]) for uuid in moved)
        if groups is known.source and not stale:
            self._known = replace(known, read_at=read_at)
            return known.positions
        seen = server_locations.locations_by_row(context, stale.values())
        by_group = _merged(groups, changed, known, stale, seen)
        servers, unsettled = _servers(owners, stale, seen, known)
        positions = {uuid: each.positions for uuid, each in by_group.items()}
        if positions.keys() == known.positions.keys() and all(
                positions[uuid] is known.positions[uuid]
                for uuid in positions):
            positions = known.positions
        self._known = _Known(groups, by_group, owners, servers, unsettled,
                             read_at, positions)
        return positions


def _other_rows(changed: Sequence[Found], known: _Known
                ) -> Iterator[MemberRecord]:
    for record, rows in changed:
        before = known.groups.get(record.uuid)
        same = {row.id: row for row in before.rows} if before else {}
        yield from (row for row in rows if same.get(row.id) is not row)


def _moved(context, owners: Mapping[str, MemberRecord], known: _Known
           ) -> tuple[Collection[str], Mapping[str, datetime]]:
    """UUIDs of servers whose positions may have changed, and the time of the
    last read of each cell."""
    now = timeutils.utcnow()
    cells = [cell for cell in objects.CellMappingList.get_all(context)
             if not cell.is_cell0()]
    read_at = {cell.uuid: now for cell in cells}
    if not known.read_at.keys() >= read_at.keys():
        return owners.keys(), read_at
    most = max(MIN_LIMIT, len(owners))
    answers = nova_context.scatter_gather_cells(
        context, cells, nova_context.CELL_TIMEOUT, _changed_in_cell,
        known.read_at, most)
    moved = set(known.unsettled & owners.keys())
    for cell_uuid, answer in answers.items():
        if nova_context.is_cell_failure_sentinel(answer):
            LOG.warning(
                'Cell %s does not respond: members of exclusive groups in it '
                'are assumed to be at their last known hosts', cell_uuid)
            read_at[cell_uuid] = known.read_at[cell_uuid]
        elif len(answer) >= most:
            moved.update(owners)
        else:
            moved.update(
                uuid for uuid, server in answer.items() if uuid in owners
                and known.servers.get(uuid) != server)
    return moved, read_at


def _changed_in_cell(context, read_at: Mapping[str, datetime], most: int
                     ) -> Mapping[str, ServerRecord | None]:
    return server_locations.changed_servers(
        context, read_at[context.cell_uuid]
        - timedelta(seconds=CONF.service_down_time), most)


def _merged(groups: Sequence[Found], changed: Sequence[Found], known: _Known,
            stale: Mapping[int, MemberRecord],
            seen: Mapping[int, server_locations.ServerLocation]
            ) -> dict[str, _Group]:
    """The groups by UUID; positions that were just read replace others."""
    touched = {record.uuid for record, _ in changed}
    touched |= {row.group_uuid for row in stale.values()}
    found = {}
    for record, rows in groups:
        before = known.groups.get(record.uuid)
        if record.uuid not in touched and before is not None:
            found[record.uuid] = before
            continue
        last = before.positions if before is not None else {}
        now = {row.id: position for row in rows if (
            position := seen[row.id].position if row.id in seen
            else None if row.id in stale else last.get(row.id)) is not None}
        found[record.uuid] = _Group(rows, last if now == last else now)
    return found


def _servers(owners: Mapping[str, MemberRecord],
             stale: Mapping[int, MemberRecord],
             seen: Mapping[int, server_locations.ServerLocation], known: _Known
             ) -> tuple[Mapping[str, ServerRecord | None], frozenset[str]]:
    """The known state of each server, and the servers whose state is not
    final."""
    looked_up = {row.instance_uuid: seen[row.id] for row in stale.values()
                 if row.id in seen and row.instance_uuid is not None}
    return ({uuid: looked_up[uuid].server if uuid in looked_up
             else known.servers.get(uuid) for uuid in owners},
            frozenset(uuid for uuid in owners
                      if (not looked_up[uuid].is_settled
                          if uuid in looked_up else uuid in known.unsettled)))

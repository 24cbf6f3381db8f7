# SPDX-License-Identifier: Apache-2.0
"""The state of ``GroupPositions`` after a read of a group.

The next state has the same mappings with the changes, so that its cost depends
on their number and not on that of the members.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime

from nova import objects

from nova_holistic.model.layered_mapping import (
    differences, LayeredMapping)
from nova_holistic.model.nova.server_position import Position
from nova_holistic.scheduler.policies import server_locations
from nova_holistic.scheduler.policies.server_locations import ServerLocation
from nova_holistic.table.records import MemberRecord, MemberState


@dataclass(frozen=True, slots=True)
class KnownPositions:
    """The result of the last read of a group.

    :ivar full_at: time of the last read of all servers: see ``clock``
    :ivar rows: members by the IDs of their rows
    :ivar locations: their locations by the IDs of their rows
    :ivar unsettled: IDs of the rows whose servers are read each time
    :ivar positions: positions of members that use capacity, by ID
    :ivar cell_of: UUID of the cell of each server that a cell has, by its UUID
    :ivar cells: cells of these servers, by their IDs
    :ivar read_at: naive UTC of the last read of each cell, by its UUID
    :ivar servers: members that have a server, by its UUID
    :ivar number_in: number of servers in each cell, by its UUID
    """

    full_at: float
    rows: Mapping[int, MemberRecord] = field(default_factory=LayeredMapping)
    locations: LayeredMapping[int, ServerLocation] = field(
        default_factory=LayeredMapping)
    unsettled: frozenset[int] = frozenset()
    positions: LayeredMapping[int, Position] = field(
        default_factory=LayeredMapping)
    cell_of: LayeredMapping[str, str] = field(default_factory=LayeredMapping)
    cells: 'Mapping[int, objects.CellMapping]' = field(default_factory=dict)
    read_at: Mapping[str, datetime] = field(default_factory=dict)
    servers: LayeredMapping[str, MemberRecord] = field(
        default_factory=LayeredMapping)
    number_in: Mapping[str, int] = field(default_factory=dict)


def stale_rows(known: KnownPositions, now: Mapping[int, MemberRecord]
               ) -> list[MemberRecord]:
    """Members whose rows have changed, or whose servers must be read."""
    before, unsettled = known.rows, known.unsettled
    found = [number for number in differences(before, now)
             if number in now and before.get(number) != now[number]]
    return [now[number] for number in dict.fromkeys(
        [*found, *unsettled]) if number in now]


def number_in_cells(known: KnownPositions, cell_of: Mapping[str, str],
                    servers: Iterable[str]) -> Mapping[str, int]:
    """The number of servers in each cell that has any.

    :param servers: UUIDs of servers whose cells may have changed
    """
    found = Counter(known.number_in)
    for uuid in servers:
        for cells, step in (known.cell_of, -1), (cell_of, 1):
            if uuid in cells:
                found[cells[uuid]] += step
    return +found


def unanswered(row: MemberRecord, known: KnownPositions,
               has_cell: bool) -> ServerLocation:
    """The location of a server until its cell answers."""
    last = known.locations.get(row.id)
    if has_cell and last is not None and last.server is not None and (
            known.rows[row.id].instance_uuid == row.instance_uuid):
        return replace(last, is_settled=False)
    if has_cell or row.state == MemberState.CLAIMED:
        return server_locations.planned(row)
    return server_locations.NOWHERE


def updated(known: KnownPositions, now: Mapping[int, MemberRecord],
            gone: Sequence[int], stale: Sequence[MemberRecord],
            found: Mapping[int, ServerLocation]) -> KnownPositions:
    """The last state with other rows and newly read locations.

    :param gone: IDs of rows that no longer exist
    """
    if not stale and not found and not gone:
        return known if known.rows is now else replace(known, rows=now)
    different = {*(row.id for row in stale), *gone, *found}
    positions = {number: found[number].position for number in different
                 if number in found and found[number].position is not None}
    lost = [number for number in different
            if number not in positions and number in known.positions]
    new = {number: position for number, position in positions.items()
           if known.positions.get(number) != position}
    locations = known.locations.updated(found, different)
    return KnownPositions(
        known.full_at, now, locations, frozenset([
            *[number for number in known.unsettled
              if number in locations and number not in found],
            *[number for number, seen in found.items()
              if not seen.is_settled]]),
        known.positions.updated(new, lost) if new or lost
        else known.positions)

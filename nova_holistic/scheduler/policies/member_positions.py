# SPDX-License-Identifier: Apache-2.0
"""The positions of the members of all exclusive groups, which
``GroupPositions`` reads together.

A member that has changed in the placement table is a new object: see
``ExclusiveGroups``.
"""

from collections.abc import Collection, Mapping, Sequence
from collections import defaultdict
from dataclasses import dataclass, field, replace
import math

from nova_holistic.model.layered_mapping import (
    differences, LayeredMapping)
from nova_holistic.model.nova.server_position import Position
from nova_holistic.scheduler.policies.group_positions import (
    GroupPositions, Groups)
from nova_holistic.table.queries.cached_group import Found
from nova_holistic.table.records import MemberRecord

Positions = Mapping[int, Position]
"""Positions by the ID of the member's row."""

_KEY = 'exclusive groups'


_Rows = LayeredMapping[int, MemberRecord]
"""Members by the IDs of their rows."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The result of the last read.

    :ivar source: the groups that were passed to the read
    :ivar members: the members of each group, by its UUID
    :ivar rows: the members of all groups
    :ivar found: positions of all these members
    :ivar positions: positions of each group, by its UUID
    """

    source: Sequence[Found] = ()
    members: Mapping[str, _Rows] = field(default_factory=dict)
    rows: _Rows = field(default_factory=LayeredMapping)
    found: Positions = field(default_factory=LayeredMapping)
    positions: 'Mapping[str, LayeredMapping[int, Position]]' = field(
        default_factory=dict)


class MemberPositionCache:
    """Keeps the positions in memory. They are replaced as a whole, so that
    threads need no lock."""

    def __init__(self) -> None:
        # A create of another project waits for the read. So the positions of
        # all members are never read again only because of their age.
        self._cache = GroupPositions(max_age=math.inf)
        self._known = _Known()

    def positions(self, context, groups: Sequence[Found]
                  ) -> Mapping[str, Positions]:
        """Positions of the members, by the UUID of the group. If no member of
        a group has moved, its positions are the same object as before. If no
        member of any group has moved, so is the whole result.

        The statements are those of ``GroupPositions.positions`` for one group.
        They read only the cells that have servers of members, and only the
        servers of the projects of the groups.
        """
        known = self._known
        if groups is known.source:
            members, rows = known.members, known.rows
        else:
            members = {record.uuid: rows.by_id for record, rows in groups}
            rows = _all_rows(known, members)
        found = self._cache.positions(context, Groups(_KEY, frozenset(
            record.project_id for record, _ in groups)), rows)
        if groups is known.source and found is known.found:
            return known.positions
        now = _Known(groups, members, rows, found)
        positions = _by_group(known, now)
        self._known = replace(now, positions=positions)
        return positions


def _all_rows(known: _Known, members: Mapping[str, _Rows]) -> _Rows:
    """The members of all groups. Only changed members are visited."""
    changed: dict[int, MemberRecord] = {}
    gone: list[int] = []
    for uuid, now in members.items():
        for number in differences(known.members.get(uuid, {}), now):
            if number in now:
                changed[number] = now[number]
            else:
                gone.append(number)
    for uuid in known.members.keys() - members.keys():
        gone.extend(known.members[uuid])
    return known.rows.updated(changed, gone)


def _by_group(known: _Known, now: _Known
              ) -> 'Mapping[str, LayeredMapping[int, Position]]':
    """The positions of each group. Only changed members are visited."""
    different = defaultdict(set)
    for number in {*differences(known.found, now.found),
                   *differences(known.rows, now.rows)}:
        # A database may give the ID of a deleted row to another group.
        for row in known.rows.get(number), now.rows.get(number):
            if row is not None:
                different[row.group_uuid].add(number)
    positions = {uuid: _updated(
        known.positions.get(uuid, LayeredMapping()), members, now.found,
        different.get(uuid, ())) for uuid, members in now.members.items()}
    if positions.keys() == known.positions.keys() and all(
            positions[uuid] is known.positions[uuid] for uuid in positions):
        return known.positions
    return positions


def _updated(before: LayeredMapping[int, Position], members: _Rows,
             found: Positions, different: Collection[int]
             ) -> LayeredMapping[int, Position]:
    """The positions of a group; the same object if all are equal to those
    before.

    :param different: IDs of members whose positions may have changed
    """
    now = {number: found[number] for number in different
           if number in found and number in members}
    gone = [number for number in different
            if number not in now and number in before]
    new = {number: position for number, position in now.items()
           if position != before.get(number)}
    return before.updated(new, gone) if new or gone else before

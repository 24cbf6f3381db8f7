# SPDX-License-Identifier: Apache-2.0
"""The positions of the members of all exclusive groups, which
``GroupPositions`` reads together.

A member that has changed in the placement table is a new object: see
``ExclusiveGroups``.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from collections import defaultdict
from dataclasses import dataclass, field, replace
import math
import time

from nova_holistic.model.layered_mapping import (
    differences, LayeredMapping)
from nova_holistic.model.nova.server_position import Position
from nova_holistic.scheduler.policies.group_positions import (
    GroupPositions, Groups, MAX_AGE_SECONDS)
from nova_holistic.table.queries.cached_group import Found
from nova_holistic.table.records import MemberRecord

Positions = Mapping[int, Position]
"""Positions by the ID of the member's row."""
PositionsByGroup = Mapping[str, Positions]
"""Positions of each group, by its UUID."""

_KEY = 'exclusive groups'


_Rows = LayeredMapping[int, MemberRecord]
"""Members by the IDs of their rows."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The result of the last read.

    :ivar groups: the groups that were passed to the read
    :ivar found: positions of all their members
    :ivar positions: positions of each group, by its UUID
    :ivar full_at: time of the last read of all servers of each group, by its
        UUID: see ``clock``
    """

    groups: '_GroupMembers' = field(default_factory=lambda: _GroupMembers())
    found: Positions = field(default_factory=LayeredMapping)
    positions: 'Mapping[str, LayeredMapping[int, Position]]' = field(
        default_factory=dict)
    full_at: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _GroupMembers:
    """Groups with their members.

    :ivar source: the groups
    :ivar members: the members of each group, by its UUID
    :ivar rows: the members of all groups
    """

    source: Sequence[Found] = ()
    members: Mapping[str, _Rows] = field(default_factory=dict)
    rows: _Rows = field(default_factory=LayeredMapping)


class MemberPositionCache:
    """Keeps the positions in memory. They are replaced as a whole, so that
    threads need no lock."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """:param clock: returns seconds since any point in time"""
        # A create of another project waits for the read. So the positions of
        # all members are never read again only because of their age.
        self._cache = GroupPositions(max_age=math.inf)
        self._clock = clock
        self._groups = _GroupMembers()
        self._known = _Known()

    def unread_servers(self, groups: Sequence[Found]) -> list[str]:
        """UUIDs of the servers that ``positions`` will read for certain."""
        return self._cache.unread_servers(_KEY, self._members(groups).rows)

    def positions(self, context, groups: Sequence[Found],
                  own: str | None = None) -> PositionsByGroup:
        """Positions of the members, by the UUID of the group. If no member of
        a group has moved, its positions are the same object as before. If no
        member of any group has moved, so is the whole result.

        The statements are those of ``GroupPositions.positions`` for one group.
        They read only the cells that have servers of members, and only the
        servers of the projects of the groups.

        :param own: UUID of the group of the server that is created. All its
            servers are read again after ``MAX_AGE_SECONDS``
        """
        known, now = self._known, self._members(groups)
        full_at, time_now = known.full_at, self._clock()
        if now is not known.groups:
            full_at = {uuid: full_at.get(uuid, time_now)
                       for uuid in now.members}
        again: Collection[int] = ()
        if own in full_at and full_at[own] <= time_now - MAX_AGE_SECONDS:
            again = now.members[own].copied()
            full_at = {**full_at, own: time_now}
        found = self._cache.positions(context, Groups(_KEY, frozenset(
            record.project_id for record, _ in groups)), now.rows, again)
        if now is known.groups and found is known.found:
            if again:
                self._known = replace(known, full_at=full_at)
            return known.positions
        positions = _by_group(known, now, found)
        self._known = _Known(now, found, positions, full_at)
        return positions

    def _members(self, groups: Sequence[Found]) -> _GroupMembers:
        """The members of the groups. If these are the groups of the last call,
        so is the result."""
        last = self._groups
        if groups is last.source:
            return last
        members = {record.uuid: rows.by_id for record, rows in groups}
        found = _GroupMembers(groups, members, _all_rows(last, members))
        self._groups = found
        return found


def _all_rows(known: _GroupMembers, members: Mapping[str, _Rows]) -> _Rows:
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


def _by_group(known: _Known, now: _GroupMembers, found: Positions
              ) -> 'Mapping[str, LayeredMapping[int, Position]]':
    """The positions of each group. Only changed members are visited."""
    different = defaultdict(set)
    for number in {*differences(known.found, found),
                   *differences(known.groups.rows, now.rows)}:
        # A database may give the ID of a deleted row to another group.
        for row in known.groups.rows.get(number), now.rows.get(number):
            if row is not None:
                different[row.group_uuid].add(number)
    positions = {uuid: _updated(
        known.positions.get(uuid, LayeredMapping()), members, found,
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

# SPDX-License-Identifier: Apache-2.0
"""The positions of the members of all exclusive groups, which
``GroupPositions`` reads together.

A member that has changed in the placement table is a new object: see
``ExclusiveGroups``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
import math

from nova_holistic.model.nova.server_position import Position
from nova_holistic.scheduler.policies.group_positions import (
    GroupPositions, Groups)
from nova_holistic.table.queries.cached_group import Found
from nova_holistic.table.records import MemberRecord

Positions = Mapping[int, Position]
"""Positions by the ID of the member's row."""

_KEY = 'exclusive groups'


@dataclass(frozen=True, slots=True)
class _Known:
    """The result of the last read.

    :ivar source: the groups that were passed to the read
    :ivar rows: their members by the IDs of their rows
    :ivar found: positions of all these members
    :ivar positions: positions of each group, by its UUID
    """

    source: Sequence[Found] = ()
    rows: Mapping[int, MemberRecord] = field(default_factory=dict)
    found: Positions = field(default_factory=dict)
    positions: Mapping[str, Positions] = field(default_factory=dict)


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
        same = groups is known.source
        rows = known.rows if same else {
            row.id: row for _, members in groups for row in members}
        found = self._cache.positions(context, Groups(_KEY, frozenset(
            record.project_id for record, _ in groups)), rows)
        if same and found is known.found:
            return known.positions
        positions = known.positions
        if found is not known.found or (
                rows.keys() != known.rows.keys()
                or positions.keys() != {each.uuid for each, _ in groups}):
            positions = _by_group(groups, found, known)
        self._known = _Known(groups, rows, found, positions)
        return positions


def _by_group(groups: Sequence[Found], found: Positions, known: _Known
              ) -> Mapping[str, Positions]:
    positions = {}
    for record, members in groups:
        last = known.positions.get(record.uuid)
        now = {row.id: found[row.id] for row in members if row.id in found}
        positions[record.uuid] = last if last == now else now
    if positions.keys() == known.positions.keys() and all(
            positions[uuid] is known.positions[uuid] for uuid in positions):
        return known.positions
    return positions

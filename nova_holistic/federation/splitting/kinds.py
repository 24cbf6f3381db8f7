# SPDX-License-Identifier: Apache-2.0
"""Kinds of parts that can replace each other, so that the program needs only
their number."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from nova_holistic.federation.splitting.parts import Division, Part
from nova_holistic.model.group import Group


@dataclass(frozen=True, slots=True)
class Kind:
    """Parts that can replace each other.

    :ivar parts: parts in the order of the document
    :ivar rows: (index of a row, index of its side) to the number of members of
        one part in this side, without zeros
    """

    parts: tuple[Part, ...]
    rows: dict[tuple[int, int], int]

    @property
    def clouds(self) -> frozenset[str]:
        return self.parts[0].clouds

    @property
    def size(self) -> int:
        """Number of members of one part."""
        return len(self.parts[0].paths)

    @property
    def number(self) -> int:
        return len(self.parts)


def kinds(division: Division) -> tuple[Kind, ...]:
    """The kinds of all parts.

    Two servers are of the same kind if they have the same member description.
    Two nested groups are of the same kind if they are replicas of the same
    group. In both cases, no row, relationship or location may distinguish
    them.
    """
    siblings = _siblings(division.group)
    sides = [(position, number, side)
             for position, number, side in _sides(division)]
    found: dict[Hashable, list[Part]] = defaultdict(list)
    rows: dict[Hashable, dict[tuple[int, int], int]] = {}
    for part in division.parts:
        inside = frozenset(part.paths)
        row = _rows(division, inside)
        key = (siblings.get(inside, inside), part.clouds,
               tuple(sorted(row.items())),
               frozenset((position, number, len(side & inside))
                         for position, number, side in sides
                         if side & inside))
        found[key].append(part)
        rows[key] = row
    return tuple(Kind(tuple(parts), rows[key])
                 for key, parts in found.items())


def _rows(division: Division,
          inside: frozenset[str]) -> dict[tuple[int, int], int]:
    return {(i, j): number for i, row in enumerate(division.rows)
            for j, side in enumerate(row.sides)
            if (number := len(side & inside))}


def _siblings(group: Group) -> dict[frozenset[str], Hashable]:
    """The members of each server, and of each replica, to a key that is equal
    for servers of one description, and for replicas of one group."""
    found: dict[frozenset[str], Hashable] = {}
    for scope in group.scopes():
        prefix = f'{scope.path}/' if scope.path else ''
        for description in scope.group.members:
            for name in description.server_names():
                found[frozenset({prefix + name})] = prefix + description.name
        if scope.group.stem and len(scope.members) > 1:
            parent, _, _ = scope.path.rpartition('/')
            found[frozenset(m.path for m in scope.members)] = (
                parent, scope.group.stem)
    return found


def _sides(division: Division) -> Sequence[tuple[str, int, frozenset[str]]]:
    """The sides of all relationships with their positions; relationships in
    replicas have the same position."""
    return [(rule.place, number, frozenset(m.path for m in side))
            for scope in division.group.scopes()
            for rule in scope.group.relationships
            for number, side in enumerate(rule.sides(scope))]

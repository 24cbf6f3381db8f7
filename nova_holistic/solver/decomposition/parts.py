# SPDX-License-Identifier: Apache-2.0
"""Parts: members of one kind that rules on few domains distinguish."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.group import Scope
from nova_holistic.solver.limits.current import decomposition as limits
from nova_holistic.solver.problem.kinds import Kinds


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Members of one kind that are in the same scopes of rules.

    :ivar of: path of each member still to be placed, to its part
    :ivar kind: kind of each part
    :ivar numbers: number of members of each part
    :ivar within: scope number to the parts in the scope
    :ivar slot: for each part of a kind with several parts, its number among
        such parts; else -1
    """

    of: dict[str, int]
    kind: np.ndarray
    numbers: np.ndarray
    within: dict[int, list[int]]
    slot: np.ndarray

    @property
    def slots(self) -> int:
        """Number of parts of kinds with several parts."""
        return int(self.slot.max(initial=-1)) + 1


def parts(kinds: Kinds, scopes: Mapping[int, Scope]) -> Parts:
    """Return the fewest parts that can count the members of each scope.

    :param scopes: number of each scope to the scope
    """
    inside: dict[str, list[int]] = {}
    for number, scope in scopes.items():
        for member in scope.members:
            inside.setdefault(member.path, []).append(number)
    known: dict[tuple[int, ...], int] = {}
    of: dict[str, int] = {}
    for k, kind in enumerate(kinds.kinds):
        for member in kind.members:
            key = (k, *inside.get(member.path, ()))
            of[member.path] = known.setdefault(key, len(known))
    kind_of = np.array([key[0] for key in known], dtype=np.int64)
    several = np.bincount(kind_of, minlength=len(kinds.kinds)) > 1
    split = several[kind_of]
    return Parts(
        of, kind_of,
        np.bincount(list(of.values()), minlength=len(known)),
        {number: [part for key, part in known.items() if number in key[1:]]
         for number in scopes},
        np.where(split, np.cumsum(split) - 1, -1))


def countable_scopes(kinds: Kinds, scopes: Sequence[Scope],
                     numbers: Collection[int], cells: int) -> dict[int, Scope]:
    """Return the scopes, largest first, whose members can be counted with a
    limited number of variables.

    :param numbers: numbers of the scopes to choose from
    :param cells: number of cells
    """
    found: dict[int, Scope] = {}
    for number in sorted(numbers, key=lambda n: (-len(scopes[n].members), n)):
        more = {**found, number: scopes[number]}
        if parts(kinds, more).slots * cells <= limits().part_variables:
            found = more
    return found

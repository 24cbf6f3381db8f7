# SPDX-License-Identifier: Apache-2.0
"""Cohesive sets: members that rules keep together, with few on each host.

Enough hosts have to be in use wherever these members are. The program states
this for each bin, because no rule on domains implies it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.group import Scope
from nova_holistic.solver.decomposition.parts import Parts
from nova_holistic.solver.limits.current import decomposition as limits
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.problem.kinds import (
    Kinds, limits_per_host, most_on_a_host)


@dataclass(frozen=True, slots=True)
class CohesiveSet:
    """Members that rules keep together.

    :ivar parts: numbers of the cells' parts; each belongs to a kind of several
        parts
    :ivar most: maximum number of their members on one host
    :ivar others: maximum number of all other members on one host
    """

    parts: tuple[int, ...]
    most: int
    others: int


def cohesive_sets(kinds: Kinds, split: Parts,
                  scopes: Iterable[Scope]) -> tuple[CohesiveSet, ...]:
    """Return the cohesive sets that do not fit on one host.

    :param scopes: scopes whose members some rule keeps in few domains
    """
    found, limits = {}, limits_per_host(kinds.group)
    for scope in scopes:
        members = [m for m in scope.members if m.path in split.of]
        parts = tuple(sorted({split.of[m.path] for m in members}))
        if parts not in found and all(split.slot[part] >= 0 for part in parts):
            paths = {m.path for m in members}
            found[parts] = CohesiveSet(
                parts, most_on_a_host(limits, paths),
                most_on_a_host(limits, [
                    m.path for kind in kinds.kinds for m in kind.members
                    if m.path not in paths]))
    return tuple(each for parts, each in found.items()
                 if each.most < split.numbers[list(parts)].sum())


@dataclass(frozen=True, slots=True, eq=False)
class BinVariables:
    """Bins, and the numbers of their variables.

    :ivar of_x: [kind, bin]: members of the kind
    :ivar of_y: [bin]: hosts in use
    :ivar of_z: [slot, cell]: members of the part
    :ivar cell: [bin]
    :ivar weight_ratio: [bin]: number of hosts whose limits on members one host
        in use represents
    """

    of_x: np.ndarray
    of_y: np.ndarray
    of_z: np.ndarray
    cell: np.ndarray
    weight_ratio: np.ndarray


class CohesiveSetRows:
    """Rows of cohesive sets over the variables v[part, bin], the members of
    each of their parts.

    :ivar parts: sorted numbers of the parts of all cohesive sets
    :ivar size: number of these variables; 0 if there would be too many
    """

    def __init__(self, every: tuple[CohesiveSet, ...], bins: int):
        self.parts = sorted({part for each in every for part in each.parts})
        if len(self.parts) * bins > limits().part_variables:
            every, self.parts = (), []
        self._every, self._bins = every, bins
        self.size = len(self.parts) * bins

    def upper(self, split: Parts) -> np.ndarray:
        """Upper limits of the variables v."""
        return np.repeat(split.numbers[self.parts], self._bins).astype(float)

    def add_rows(self, program: Linear, split: Parts, bins: BinVariables,
                 first: int) -> None:
        """Add the rows to the program.

        :param first: number of the first variable v
        """
        of_v = first + np.arange(self.size).reshape(-1, self._bins)
        self._count_parts(program, split, bins, of_v)
        for each in self._every:
            own = of_v[[self.parts.index(part) for part in each.parts]]
            self._limit(program, each, own, bins)

    def _count_parts(self, program: Linear, split: Parts, bins: BinVariables,
                     of_v: np.ndarray) -> None:
        b = self._bins
        for part, own in zip(self.parts, of_v):
            in_cells = bins.of_z[split.slot[part]]
            # All members of the part in a cell are in its bins.
            program.add(
                np.concatenate((bins.cell, np.arange(len(in_cells)))),
                np.concatenate((own, in_cells)),
                np.concatenate((np.ones(b), -np.ones(len(in_cells)))),
                0.0, 0.0, len(in_cells))
        kind = split.kind[self.parts]
        for k in np.unique(kind):
            own = of_v[kind == k]
            # The members of the parts are among the members of their kind.
            program.add_rows([(own, 1.0), (bins.of_x[k], -1.0)], -np.inf, 0.0)

    def _limit(self, program: Linear, cohesive_set: CohesiveSet,
               own: np.ndarray, bins: BinVariables) -> None:
        """Limit the members of the set, and all others, on the hosts in use.

        :param own: [part, bin]: variables of the set's members
        """
        # A host in use holds a limited number of members of a cohesive set.
        program.add_rows(
            [(own, 1.0), (bins.of_y, -cohesive_set.most * bins.weight_ratio)],
            -np.inf, 0.0)
        # It holds a limited number of all other members.
        program.add_rows(
            [(bins.of_x, 1.0), (own, -1.0),
             (bins.of_y, -cohesive_set.others * bins.weight_ratio)],
            -np.inf, 0.0)

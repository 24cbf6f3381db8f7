# SPDX-License-Identifier: Apache-2.0
"""A lower bound of the cost of sets of members that hard policies keep in one
domain each.

A relaxation without policies on domains places the members of such a set on
the best hosts of all domains. Here, each set has the cheapest places of one
domain. If the cost of a host is convex, members cost at least as much together
as alone. Therefore, this bound and the bound of all other members add up.
"""

from collections.abc import Iterator, Mapping
from collections import Counter
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.group import Group, Scope
from nova_holistic.model.objective import HostCost
from nova_holistic.objectives.utilisation import requested_classes
from nova_holistic.solver.confined.confined_sets import most_of_scope
from nova_holistic.solver.evaluation.marginal_cost import (
    MarginalCost, Places)
from nova_holistic.solver.numerics.tolerances import SUM_ROUNDING
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.kinds import Kinds


def is_convex(host_cost: HostCost) -> bool:
    """Whether members of different sets never reduce each other's costs."""
    free = np.linspace(0.0, 1.0, 11)
    return bool((np.diff(host_cost.slopes) >= 0).all()) and not np.any(
        host_cost.opening(free))


def separate_sets(kinds: Kinds, host_cost: HostCost, prices: np.ndarray,
                  deadline: Deadline) -> tuple[frozenset[str], float]:
    """The paths of the members of sets whose own bound exceeds their share of
    the cost of the relaxation, and a lower bound of the cost of these sets.

    :param prices: [kind]: cost of a member in the relaxation of all members
    :raises OutOfTime: if the time ends before the bound is computed
    """
    if kinds.is_coarse or not is_convex(host_cost):
        return frozenset(), 0.0
    kind_of = kinds.kind_of
    bounds = _SetBounds(kinds, MarginalCost(
        kinds.table, kinds.members, host_cost, ()))
    known: dict[tuple, float] = {}
    gains = []
    for level, scope in _sets(kinds.group, kind_of):
        paths = [m.path for m in scope.members]
        numbers, most = Counter(map(kind_of.get, paths)), most_of_scope(scope)
        key = level, most, frozenset(numbers.items())
        if key not in known:
            deadline.check()
            known[key] = bounds.least(level, numbers, most)
        share = sum(float(prices[kind_of[path]]) for path in paths)
        gains.append((known[key] - share, known[key], paths))
    total, gone = 0.0, set[str]()
    for gain, least, paths in sorted(gains, key=lambda each: -each[0]):
        if gain > 0 and gone.isdisjoint(paths):
            gone.update(paths)
            total += least
    rest = [m for m in kinds.members if m.path not in gone]
    # The utilisation of a host depends on all requested resource classes.
    if rest and requested_classes(rest) != requested_classes(kinds.members):
        return frozenset(), 0.0
    return frozenset(gone), total - SUM_ROUNDING * total


def _sets(group: Group, waiting: Mapping[str, int]
          ) -> Iterator[tuple[str, Scope]]:
    """The level and the scope of each set of members without a host. Sets may
    contain other sets.

    :param waiting: the members without a host
    """
    for scope in group.scopes():
        if len(scope.members) > 1 and all(
                m.path in waiting for m in scope.members):
            for level in {policy.confines for policy in scope.group.rules
                          if policy.confines}:
                yield level, scope


@dataclass(frozen=True, slots=True)
class _SetBounds:
    """Bounds of the cost of sets of members in one domain.

    :ivar costs: the costs of hosts without any member of the group
    """

    kinds: Kinds
    costs: MarginalCost

    def least(self, level: str, numbers: Mapping[int, int],
              most: int) -> float:
        """A lower bound of the cost of a set in one domain of the level; 0 if
        no domain has room.

        :param numbers: kind to its number of members in the set
        :param most: maximum number of members of the set on one host
        """
        division = self.kinds.table.division(level)
        total = np.zeros(len(division.domains))
        for kind, number in numbers.items():
            room = np.minimum(self.kinds.room[kind], most)
            total += self.costs.in_domains(
                tuple(zip(self.kinds.names,
                          self.kinds.amounts[kind].tolist())), number,
                Places.of(np.arange(len(room)), room, division))
        least = float(total.min(initial=np.inf))
        return least if least < np.inf else 0.0

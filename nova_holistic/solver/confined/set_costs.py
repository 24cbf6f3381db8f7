# SPDX-License-Identifier: Apache-2.0
"""The minimum cost of each number of sets of each type in each domain."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.column_generation.enumeration import (
    every_pattern)
from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.confined.confined_sets import ConfinedSets
from nova_holistic.solver.confined.domain_classes import DomainClass
from nova_holistic.solver.confined.domain_costs import (
    cheapest_patterns, domain_costs)
from nova_holistic.solver.confined.host_patterns import HostPatterns
from nova_holistic.solver.confined.set_limits import SetLimits
from nova_holistic.solver.limits.current import confined as limits
from nova_holistic.solver.numerics.tolerances import ARITHMETIC
from nova_holistic.solver.problem.deadline import InTime


@dataclass(frozen=True, slots=True, eq=False)
class SetCosts:
    """Choices of sets for one domain, and their costs.

    :ivar choices: [choice, type]: number of sets; the first choice has none
    :ivar costs: [class, choice]: lower bound of the cost of the domain;
        infinite if no plan has these sets in the domain
    :ivar amounts: [limit, choice]: the part of each limit that the sets use
    """

    patterns: HostPatterns
    sets: ConfinedSets
    classes: Sequence[DomainClass]
    choices: np.ndarray
    costs: np.ndarray
    amounts: np.ndarray

    @classmethod
    def of(cls, sets: ConfinedSets, host_types: HostTypes,
           classes: Sequence[DomainClass], set_limits: SetLimits,
           in_time: InTime) -> 'SetCosts | None':
        """Compute the costs; None if there are too many choices."""
        choices = _choices(sets, host_types, classes, in_time)
        patterns = HostPatterns.of(host_types, in_time)
        if choices is None or patterns is None:
            return None
        members = choices @ sets.counts
        # A host takes a limited number of members of each set.
        most = choices @ sets.most
        largest = int(patterns.sizes.max())
        caps = np.minimum(most, largest) if (
            sets.most < sets.counts.sum(axis=1)).any() else np.full(
                len(choices), largest)
        states = sum(int(np.prod(members[caps == cap].max(axis=0) + 1))
                     for cap in np.unique(caps))
        if states * len(patterns.members) * sum(
                len(each.types) for each in classes) > limits().work:
            return None
        costs = np.full((len(classes), len(choices)), np.inf)
        for cap in np.unique(caps).tolist():
            those = np.flatnonzero(caps == cap)
            found = domain_costs(
                patterns.up_to(cap), [each.types for each in classes],
                members[those].max(axis=0).tolist(), in_time)
            costs[:, those] = found[(slice(None), *members[those].T)]
        amounts = set_limits.weights @ (sets.inside.T @ choices.T)
        result = cls(patterns, sets, classes, choices, costs, amounts)
        result._exclude(set_limits)
        return result

    def patterns_of(self, domain: DomainClass, choice: int,
                    in_time: InTime) -> np.ndarray:
        """[host, kind]: members on the hosts of a domain with minimum cost."""
        sets = self.choices[choice]
        patterns = self.patterns.up_to(int(sets @ self.sets.most))
        return patterns.members[cheapest_patterns(
            patterns, domain.types, (sets @ self.sets.counts).tolist(),
            in_time)]

    def _exclude(self, set_limits: SetLimits) -> None:
        """Exclude the choices that one domain cannot have."""
        confined = (self.choices[:, self.sets.confined] > 0).any(axis=1)
        most = set_limits.most + ARITHMETIC * np.abs(set_limits.most)
        for costs, each in zip(self.costs, self.classes):
            if each.outside:
                costs[confined] = np.inf
            for number in each.limits:
                costs[self.amounts[number] > most[number]] = np.inf


def _choices(sets: ConfinedSets, host_types: HostTypes,
             classes: Sequence[DomainClass],
             in_time: InTime) -> np.ndarray | None:
    """[choice, type]: the numbers of sets that the free amounts of some domain
    may allow; None if they are too many."""
    free, room = (np.array([values[each.types].sum(axis=0)
                            for each in classes]).max(axis=0)
                  for values in (host_types.free, host_types.room))
    amounts = sets.counts @ host_types.amounts

    def largest() -> Iterator[int]:
        for number, sets_of_type in enumerate(sets.numbers.tolist()):
            in_time()
            alone = min(
                (int(here // each) for here, each in (
                    *zip(free, amounts[number]),
                    *zip(room, sets.counts[number])) if each),
                default=sets_of_type)
            yield min(sets_of_type, alone)

    return every_pattern(largest(), lambda found: (
        (found @ amounts[:found.shape[1]] <= free).all(axis=1)
        & (found @ sets.counts[:found.shape[1]] <= room).all(axis=1)),
        limits().choices // len(classes))

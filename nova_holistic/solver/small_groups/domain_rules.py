# SPDX-License-Identifier: Apache-2.0
"""The conditions of policies on the states of single domains, and the costs of
violated preferences, by level.

Only conditions that follow from the rows of the policies are recorded, and
only costs that every plan with these states has. Therefore, the result is a
relaxation of the policies.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.relationship import Relationship
from nova_holistic.solver.evaluation.row_shapes import (
    CountCap, Disjoint, MaxDomains, MaxSkew, MinDomains, Shape, shapes)
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.problem.rows import ScopedPolicy
from nova_holistic.solver.small_groups.domain_children import DomainChildren
from nova_holistic.solver.small_groups.member_states import MemberStates


@dataclass(frozen=True, slots=True, eq=False)
class EvenSpread:
    """Counts of domains that differ by a limited number.

    :ivar counts: [state]: members of the scope
    :ivar domains: indexes of the domains
    :ivar lowest: maximum of the smallest count
    :ivar skew: permitted difference of the counts
    :ivar cost: cost of 1 more than this difference; None if it is forbidden
    """

    level: str
    counts: np.ndarray
    domains: np.ndarray
    lowest: int
    skew: int
    cost: float | None = None

    def ranges(self) -> list[tuple[int, int, float]]:
        """Smallest count, largest count, and cost. Each plan is within one of
        the ranges, and violates the preference at this cost at least."""
        most = int(self.counts[-1])
        further = range(1 if self.cost is None else max(
            1, most - self.skew + 1))
        return [(low, low + self.skew + more, more * (self.cost or 0.0))
                for more in further for low in range(self.lowest + 1)]


@dataclass(slots=True, eq=False)
class DomainRules:
    """Conditions and costs of the states of domains.

    :ivar tree: levels of the topology, of which each domain is in one domain
        of the level before; the last one is the level of hosts
    :ivar blocked: level to [domain, state]: whether no plan has this state
    :ivar penalty: level to [domain, state]: cost of violated preferences
    :ivar constant: cost of violated preferences of every plan; it can be
        negative if costs of states are too high by this amount
    :ivar spreads: even spreads over domains of the tree
    """

    case: Case
    states: MemberStates
    tree: Sequence[str]
    blocked: dict[str, np.ndarray] = field(default_factory=dict)
    penalty: dict[str, np.ndarray] = field(default_factory=dict)
    constant: float = 0.0
    spreads: list[EvenSpread] = field(default_factory=list)
    _children: dict[int, DomainChildren] = field(default_factory=dict)
    _leaves: np.ndarray | None = None

    @classmethod
    def of(cls, case: Case, states: MemberStates, tree: Sequence[str],
           in_time: InTime) -> 'DomainRules':
        """The conditions of all hard policies."""
        rules = cls(case, states, tree)
        found = shapes(case.rules, in_time)
        for shape in found:
            in_time()
            rules._add(shape, sum(
                isinstance(each, MaxSkew) and each.carried is shape.carried
                for each in found))
        for each in case.policies:
            rules._add_traffic(each)
        return rules

    @property
    def has_costs(self) -> bool:
        """Whether violated preferences have costs."""
        return bool(self.penalty) or any(
            each.cost is not None for each in self.spreads)

    @property
    def has_whole_costs(self) -> bool:
        """Whether all costs of violated preferences are whole numbers."""
        return all(np.array_equal(costs, np.floor(costs)) for costs in (
            *self.penalty.values(), np.array(self.constant), np.array([
                each.cost or 0.0 for each in self.spreads])))

    def applies(self, level: str) -> bool:
        """Whether a condition or a cost belongs to domains of the level."""
        return level in self.blocked or level in self.penalty or any(
            each.level == level for each in self.spreads)

    @property
    def leaves(self) -> np.ndarray:
        """[leaf]: the host of each domain of the level of hosts."""
        if self._leaves is None:
            self._leaves = np.argsort(self.case.table.division(HOST).of_host)
        return self._leaves

    def only(self, kept: np.ndarray) -> 'DomainRules':
        """The complete rules, with only some of the leaves; with all of them
        if an even spread counts the members on each host.

        :param kept: [leaf]: whether it remains
        """
        if any(each.level == HOST for each in self.spreads):
            return self

        def part(costs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
            return {level: each[kept] if level == HOST else each
                    for level, each in costs.items()}

        return replace(
            self, blocked=part(self.blocked), penalty=part(self.penalty),
            _children={1: self.children(1).renumbered(kept)},
            _leaves=self.leaves[kept])

    def children(self, height: int) -> DomainChildren:
        """The domains in each domain at one height of the tree, which is
        complete."""
        if height not in self._children:
            self._children[height] = DomainChildren.of(
                self.case.table, self.tree, height)
        return self._children[height]

    def counts(self, scope: int) -> np.ndarray:
        """[state]: members of the scope."""
        return self.states.counts[:, self.case.classes_in(scope)].sum(axis=1)

    def covers(self, scope: int, level: str,
               domains: frozenset[int]) -> bool:
        """Whether each member of the scope must be in one of the domains."""
        hosts = (self.case.room[self.case.classes_in(scope)] > 0).any(axis=0)
        return domains.issuperset(
            self.case.table.division(level).of_host[hosts].tolist())

    def block(self, level: str, domains: np.ndarray,
              states: np.ndarray) -> None:
        """Record that no plan has any of these states in the domains.

        The hosts of a domain outside of the tree do not have these states
        either. Therefore, a state is given together with all larger states,
        unless the level is one of the tree.

        :param domains: indexes of domains; -1 for the hosts in no domain
        :param states: mask of states, or [domain, state] of this form
        """
        level, numbers, source = self.place(level, domains)
        if level not in self.blocked:
            self.blocked[level] = np.zeros(
                (self.size(level), len(self.states)), dtype=bool)
        self.blocked[level][numbers] |= (
            states if states.ndim == 1 else states[source])

    def penalise(self, level: str, domains: np.ndarray,
                 costs: np.ndarray) -> None:
        """Add a cost to the states of different domains of the tree.

        :param costs: [state]
        """
        if level not in self.penalty:
            self.penalty[level] = np.zeros(
                (self.size(level), len(self.states)))
        self.penalty[level][domains] += costs

    def size(self, level: str) -> int:
        """The number of the level's domains."""
        return len(self.case.table.division(level).domains)

    def place(self, level: str, domains: np.ndarray
              ) -> tuple[str, np.ndarray, np.ndarray]:
        """A level of the tree, indexes of its domains that are within the
        given domains, and the index of the given domain of each of them."""
        if level in self.tree:
            source = np.flatnonzero(domains >= 0)
            return level, domains[source], source
        # Each host is within a domain of any level.
        of_host = self.case.table.division(level).of_host
        position = np.full(self.size(level) + 1, -1)
        position[domains] = np.arange(len(domains))
        source = position[of_host]
        hosts = np.flatnonzero(source >= 0)
        return (HOST, self.case.table.division(HOST).of_host[hosts],
                source[hosts])

    def _add(self, shape: Shape, alternatives: int) -> None:
        """Record a shape.

        :param alternatives: number of even spreads of the same policy
        """
        counts = self.counts(shape.scope) if shape.scope >= 0 else None
        match shape:
            case CountCap():
                domains = np.array([*shape.limits], dtype=np.int64)
                most = np.array([*shape.limits.values()])
                self.block(shape.level, domains, counts > most[:, None])
            case MaxDomains(most=1) if shape.level in self.tree and (
                    self.covers(shape.scope, shape.level, shape.domains)):
                self.block(shape.level, _array(shape.domains),
                           (counts > 0) & (counts < counts[-1]))
            case MinDomains():
                # Each of the other domains holds one member at least.
                self.block(shape.level, _array(shape.domains),
                           counts > counts[-1] - shape.least + 1)
            case Disjoint():
                self.block(shape.level, _array(shape.domains), (counts > 0) & (
                    self.counts(shape.other) > 0))
            case MaxSkew():
                spread = EvenSpread(
                    shape.level, counts, _array(shape.domains),
                    int(counts[-1]) // len(shape.domains), shape.skew)
                # The smallest count is not larger than the mean.
                self.block(shape.level, spread.domains,
                           counts > spread.lowest + spread.skew)
                if alternatives == 1 and shape.level in self.tree and (
                        spread.lowest):
                    self.spreads.append(spread)

    def _add_traffic(self, each: ScopedPolicy) -> None:
        """Record the states whose traffic exceeds the free capacity of the
        uplinks. The traffic of other relationships is ignored."""
        rule = each.policy
        if not isinstance(rule, Relationship) or not rule.hard or (
                not rule.limits_links or not rule.traffic_mbps):
            return
        first, second = (self._side({m.path for m in side})
                         for side in rule.sides(each.scope))
        if first is None or second is None:
            return
        pairs = (first * (second[-1] - second) + second * (first[-1] - first))
        for level in rule.levels:
            if level in self.tree:
                free = np.maximum(0, self.case.table.free_uplinks(level)[:-1])
                self.block(level, np.arange(len(free)), (
                    rule.traffic_mbps * pairs > free[:, None]))
            elif (self.case.table.division(level).of_host < 0).any():
                # Every member is in some domain.
                self.block(level, np.array([-1]), first + second > 0)

    def _side(self, paths: Collection[str]) -> np.ndarray | None:
        """[state]: members of the side; None if a class has members of the
        side and other members."""
        inside = np.zeros(len(self.case.classes), dtype=np.int64)
        for c, each in enumerate(self.case.classes):
            number = sum(m.path in paths for m in each.members)
            if number not in (0, len(each.members)):
                return None
            inside[c] = number > 0
        return self.states.counts @ inside


def _array(domains: Collection[int]) -> np.ndarray:
    return np.sort(np.fromiter(domains, np.int64, len(domains)))

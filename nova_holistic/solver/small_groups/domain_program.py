# SPDX-License-Identifier: Apache-2.0
"""The minimum cost of a group over the tree of domains, by dynamic
programming.

For each domain, the program computes the minimum cost of each state: of each
number of members of each class inside the domain. A state of a domain consists
of states of its hosts or smaller domains. The state of the whole cloud that
contains all members has the minimum cost of all plans.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
import itertools

import numpy as np

from nova_holistic.solver.limits.current import small_groups as limits
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.small_groups.domain_children import DomainChildren
from nova_holistic.solver.small_groups.domain_rules import (
    DomainRules, EvenSpread)

Range = tuple[int, int, float]
"""Smallest count and largest count of a spread's domains, and its cost."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """The minimum cost of all plans.

    :ivar cost: without the constant of the preferences
    :ivar hosts: host index to its state
    """

    cost: float
    hosts: dict[int, int]


@dataclass(slots=True, eq=False)
class DomainProgram:
    """The dynamic program of one group.

    :ivar costs: [leaf, state]: cost of the objective on each host of
        ``rules.leaves``
    :ivar factor: cost of one unit of violated preferences
    :ivar changing: [leaf]: whether ``needed_leaves`` considers the host's
        costs as unknown; None if all are known
    :ivar spare: number of other hosts whose costs may rise as well
    :ivar chosen: ranges of the even spreads
    """

    rules: DomainRules
    costs: np.ndarray
    factor: float
    in_time: InTime
    changing: np.ndarray | None = None
    spare: int = 0
    chosen: tuple[tuple[EvenSpread, Range], ...] = ()
    _known: dict[int, tuple] = field(default_factory=dict)

    def optimum(self) -> Optimum | None:
        """The minimum over all ranges of the even spreads; None if no plan
        exists."""
        best, ranges = np.inf, ()
        for chosen in self._choices():
            more = self.factor * sum(cost for _, (_, _, cost) in chosen)
            # Choices are in the order of their costs.
            if more >= best:
                break
            self.chosen = chosen
            cost = more + self._costs(len(self.rules.tree))[0, -1]
            if cost < best:
                best, ranges = cost, chosen
        if best == np.inf:
            return None
        self.chosen, hosts = ranges, {}
        self._trace(len(self.rules.tree), 0, len(self.rules.states) - 1,
                    hosts)
        return Optimum(float(best), hosts)

    def with_factor(self, factor: float) -> 'DomainProgram':
        """The same program with another factor."""
        return replace(self, factor=factor, chosen=(), _known={})

    def needed_leaves(self) -> np.ndarray:
        """[leaf]: whether a plan of minimum cost may need the host.

        The result remains valid after the costs rise on any of the changing
        hosts, and on up to ``spare`` others.
        """
        needed = np.zeros(len(self.costs), dtype=bool)
        for self.chosen in self._choices():
            domains = np.zeros(1, dtype=np.int64)
            for height in range(len(self.rules.tree), 0, -1):
                children = self._level(height)[1]
                domains = children.numbers[np.isin(children.parents, domains)]
            needed[domains] = True
        return needed

    def _choices(self) -> list[tuple[tuple[EvenSpread, Range], ...]]:
        """Combinations of ranges of the spreads, the cheapest first. Spreads
        with too many ranges are ignored."""
        kept, number = [], 1
        for spread in sorted(self.rules.spreads,
                             key=lambda each: len(each.ranges())):
            number *= len(spread.ranges())
            if number <= limits().ranges:
                kept.append(spread)
        return sorted(
            (tuple(zip(kept, ranges)) for ranges in itertools.product(
                *(each.ranges() for each in kept))),
            key=lambda chosen: sum(cost for _, (_, _, cost) in chosen))

    def _costs(self, height: int) -> np.ndarray:
        """[domain, state]: minimum cost inside each domain.

        :param height: number of levels below; 0 for hosts. Above the tree is
            one domain of all hosts
        """
        return self._level(height)[0]

    def _level(self, height: int) -> tuple[np.ndarray, DomainChildren | None]:
        """The costs of the domains, and the children of each of them that a
        plan of minimum cost may need; no children of hosts."""
        tree = self.rules.tree
        below = tree[max(0, len(tree) - 1 - height):]
        key = tuple(span[:2] for spread, span in self.chosen
                    if spread.level in below)
        # Only the last result of each height is kept, because arrays of all
        # hosts are large.
        if height not in self._known or self._known[height][0] != key:
            self.in_time()
            costs, children = (self._combined(height) if height else (
                self.costs.copy(), None))
            if height < len(tree):
                costs = self._with_rules(costs, tree[-1 - height])
            self._known[height] = key, costs, children
        return self._known[height][1:]

    def _with_rules(self, costs: np.ndarray, level: str) -> np.ndarray:
        rules = self.rules
        if level in rules.penalty and self.factor:
            costs += self.factor * rules.penalty[level]
        if level in rules.blocked:
            costs[rules.blocked[level]] = np.inf
        for spread, (least, most, _) in self.chosen:
            if spread.level == level:
                costs[np.ix_(spread.domains, np.flatnonzero(
                    (spread.counts < least) | (spread.counts > most)))] = (
                        np.inf)
        return costs

    def _combined(self, height: int) -> tuple[np.ndarray, DomainChildren]:
        """The costs of the domains without their own rules."""
        below = self._costs(height - 1)
        possible = np.isfinite(below)
        states = self.rules.states.with_second(possible.any(axis=0))
        children = self._needed(self.rules.children(height).only(
            (below[:, 0] != 0.0) | possible[:, 1:].any(axis=1)), below,
            self._is_known(height - 1))
        costs = np.full((len(children), len(states)), np.inf)
        costs[:, 0] = 0.0
        order = np.argsort(-children.lengths, kind='stable')
        lengths = children.lengths[order]
        for position in range(int(lengths.max(initial=0))):
            self.in_time()
            # The domains with more children than this number come first.
            those = order[:np.searchsorted(-lengths, -position)]
            costs[those] = states.combined(costs[those], below[
                children.numbers[children.start[those] + position]])
        return costs, children

    def _is_known(self, height: int) -> np.ndarray | None:
        """[domain]: whether it holds no changing host; None if no host is
        changing."""
        if self.changing is None:
            return None
        changing = self.changing
        for level in range(1, height + 1):
            children = self.rules.children(level)
            changing = np.bincount(
                children.parents, changing[children.numbers],
                minlength=len(children)) > 0
        return ~changing

    def _needed(self, children: DomainChildren, costs: np.ndarray,
                known: np.ndarray | None) -> DomainChildren:
        """The children that a plan of minimum cost may need.

        A plan uses at most as many domains as it has members. For each state,
        only this number of the cheapest domains is necessary: if a plan uses
        another domain for the state, one of these is free. If the costs of
        ``spare`` further hosts rise, these are in as many further domains.

        :param costs: [child, state]
        :param known: [child]: whether its costs are known; None for all
        """
        states = self.rules.states
        members = int(states.counts[-1].sum()) + self.spare
        kept = np.ones(len(costs), dtype=bool)
        for domain in np.flatnonzero(
                children.lengths > members * len(states)).tolist():
            numbers = children[domain]
            # The children that can be empty without a cost.
            optional = numbers[costs[numbers, 0] == 0.0]
            if known is not None:
                optional = optional[known[optional]]
            if len(optional) > members * len(states):
                some = costs[optional, 1:]
                cheapest = np.argpartition(
                    some, members - 1, axis=0)[:members]
                kept[optional] = False
                kept[optional[cheapest[np.isfinite(np.take_along_axis(
                    some, cheapest, axis=0))]]] = True
        return children if kept.all() else children.only(kept)

    def _trace(self, height: int, domain: int, state: int,
               hosts: dict[int, int]) -> None:
        """Find the states of hosts that have the minimum cost together.

        :param hosts: host index to its state; is extended
        """
        if not state:
            return
        if not height:
            hosts[int(self.rules.leaves[domain])] = state
            return
        _, children = self._level(height)
        below = self._costs(height - 1)
        states = self.rules.states.with_second(
            np.isfinite(below).any(axis=0))
        empty = np.full(len(states), np.inf)
        empty[0] = 0.0
        before = [empty]
        for child in children[domain]:
            before.append(states.combined(
                before[-1][None], below[child][None])[0])
        for child, rest in zip(children[domain][::-1], before[-2::-1]):
            state, own = states.separated(state, rest, below[child])
            self._trace(height - 1, child, own, hosts)


def is_tree(of_host: Sequence[np.ndarray]) -> bool:
    """Whether each domain is in one domain of the level before.

    :param of_host: for each level, [host]: its domain; -1 for none
    """
    if any((each < 0).any() for each in of_host):
        return False
    for outer, inner in zip(of_host, of_host[1:]):
        # Any of the outer domains that hosts of an inner domain are in.
        outer_of = np.zeros(inner.max(initial=0) + 1, dtype=np.int64)
        outer_of[inner] = outer
        if (outer_of[inner] != outer).any():
            return False
    return True

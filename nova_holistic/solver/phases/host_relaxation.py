# SPDX-License-Identifier: Apache-2.0
"""A lower bound of the objective that ignores most policies on domains.

A relaxation with the policies of hundreds of small groups takes seconds, and
often proves a weak bound or nothing. Without these policies, the program is
small, and column generation usually converges.

Members that close their hosts to all others are counted separately: no other
member shares the cost of their hosts. Therefore, the sum of the bounds is a
bound.
"""

import contextlib
from dataclasses import dataclass, replace

import numpy as np

from nova_holistic.model.group import Group
from nova_holistic.model.objective import HostCost
from nova_holistic.solver.column_generation.generation import ColumnGeneration
from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.column_generation.limited_kinds import (
    limited_kinds)
from nova_holistic.solver.column_generation.pattern_placement import (
    is_applicable, places_of_dive)
from nova_holistic.solver.column_generation.priced_members import (
    member_prices)
from nova_holistic.solver.column_generation.undominated_hosts import (
    undominated_hosts)
from nova_holistic.solver.confined.separate_sets import separate_sets
from nova_holistic.solver.decomposition.aggregation import HostAggregation
from nova_holistic.solver.decomposition.cells import cell_without_rules
from nova_holistic.solver.host_counts.count_hosts import (
    count_hosts, Counted)
from nova_holistic.solver.limits.current import phases as limits
from nova_holistic.solver.phases.closed_hosts import (
    only_monotone, without_closed_hosts)
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.hard_forms import with_hard_forms
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.kinds import Kinds


def is_diverse(incumbent: Incumbent) -> bool:
    """Whether the group has many policies, and few members per policy."""
    policies = len(incumbent.policies)
    return (policies >= limits().diverse_policies and len(
        incumbent.members) <= limits().members_per_policy * policies)


def suits_all_hosts(incumbent: Incumbent) -> bool:
    """Whether the policies and hosts are so few that a program of all policies
    on all hosts comes before relaxations without policies."""
    return (len(incumbent.policies) < limits().many_policies
            and len(incumbent.snapshot.hosts) <= limits().diverse_hosts)


def late_bound(incumbent: Incumbent, deadline: Deadline) -> None:
    """Prove a lower bound of the objective, for any cost of the preferences,
    if a plan is known and no phase has proved a bound in time. Nothing is
    proved if the objective is not a sum over hosts.

    The first plan of thousands of members may take all the time of the search.

    :param deadline: the deadline of the whole call
    """
    host_cost = incumbent.objective.host_cost()
    if host_cost is None or incumbent.where is None or (
            incumbent.is_good_enough or incumbent.bound):
        return
    with contextlib.suppress(OutOfTime):
        kinds = incumbent.kinds(deadline.check, limits().relaxed_kinds)
        if kinds is None or kinds.lacks_room:
            return
        aggregation = HostAggregation(kinds, cell_without_rules(
            kinds, deadline.check, counts=False), host_cost,
            deadline.part(limits().main_share))
        aggregation.run()
        incumbent.prove(aggregation.within(float('inf')), float('inf'))


def relax_policies(incumbent: Incumbent,
                   deadline: Deadline) -> np.ndarray | None:
    """Prove lower bounds of the objective, and store them in the incumbent:
    for any cost of the preferences, and for plans that violate none. Return
    the indexes of hosts that may lead to a better plan with the preference
    cost of the incumbent; None if nothing is known about them.

    Nothing is proved if the objective is not a sum over hosts, or if no plan
    exists.

    :raises OutOfTime: if the time ends before the relaxations are solved
    """
    def relaxed(group: Group, limit: float,
                counts: bool = True) -> np.ndarray | None:
        return _Relaxation(incumbent, group, limit, deadline).run(counts)

    if not incumbent.has_preferences:
        return relaxed(incumbent.group, float('inf'))
    hard = with_hard_forms(incumbent.group)
    if not incumbent.plan_cost[0]:
        # A better plan violates no preference, either.
        return relaxed(hard, 0.0)
    # Only the count that is valid for the cost of the plan is useful.
    violates = bool(incumbent.where is not None or incumbent.least)
    found = relaxed(incumbent.group, float('inf'), violates)
    if incumbent.least:
        # Every plan violates a preference.
        return found
    with contextlib.suppress(OutOfTime):
        preferred = relaxed(hard, 0.0, not violates)
        found = found if violates else preferred
    return found


@dataclass(slots=True)
class _Relaxation:
    """A relaxation, which proves bounds for plans of a group.

    :ivar group: the group of the incumbent, whose policies may be different
    :ivar limit: cost of the preferences up to which plans of the incumbent
        are plans of the group
    :ivar more: lower bound of the cost of the members that the relaxation does
        not contain, because they close their hosts
    """

    incumbent: Incumbent
    group: Group
    limit: float
    deadline: Deadline
    more: float = 0.0

    def run(self, counts: bool) -> np.ndarray | None:
        """Prove the bounds, and return hosts as ``relax_policies`` does.

        :param counts: whether to count the hosts of all policies together
        """
        incumbent, deadline = self.incumbent, self.deadline
        host_cost = incumbent.objective.host_cost()
        if host_cost is None:
            return None
        rest, self.more = without_closed_hosts(
            incumbent, self.group, host_cost, deadline)
        kinds = incumbent.kinds(deadline.check, limits().relaxed_kinds, rest)
        if kinds is None:
            self._prove(0.0)
            return None
        if kinds.lacks_room:
            # No plan exists.
            return None
        if not (kinds.is_coarse or host_cost.slopes):
            # Otherwise, plans use many hosts anyway.
            kinds = limited_kinds(kinds, limits().relaxed_kinds)
        aggregation, patterns = self._aggregated(kinds, host_cost)
        if aggregation.bound is None:
            return None
        incumbent.host_duals = aggregation.host_duals()
        aggregation.bound_members()
        self._prove(aggregation.within(float('inf')))
        if kinds.is_coarse:
            return None
        hosts = None
        with contextlib.suppress(OutOfTime):
            self._separate_sets(aggregation)
            generation = self._generate(aggregation) if patterns else None
            if counts and self._counts and not incumbent.is_good_enough:
                hosts = self._count(aggregation, generation)
        return hosts

    @property
    def _counts(self) -> bool:
        """Whether all hosts of a plan count equally."""
        return self.incumbent.counts_hosts and not self.incumbent.placed

    def _prove(self, bound: float) -> None:
        """Prove a bound of the cost of the members in the relaxation."""
        self.incumbent.prove(bound + self.more, self.limit)

    def _aggregated(self, kinds: Kinds,
                    host_cost: HostCost) -> tuple[HostAggregation, bool]:
        """The relaxation on merged hosts after its last round, and whether
        patterns can follow."""
        # A number of hosts does not improve the bound of costs of utilisation.
        rules = cell_without_rules(kinds, self.deadline.check,
                                   counts=not host_cost.slopes)
        # No plan follows: the relaxation may use its share of the time left
        # now.
        aggregation = HostAggregation(
            kinds, rules, host_cost, self.deadline.part(1.0))
        # Patterns improve the bound faster than further rounds do if hosts in
        # use have different costs, or if enough time is left.
        many = not host_cost.slopes and (
            self.incumbent.seeks_places or not self.incumbent.counts_hosts)
        most = limits().relaxed_kinds if many else None
        patterns = not kinds.is_coarse and is_applicable(
            kinds, host_cost, rules, aggregation.columns, most)
        aggregation.run(limits().rounds_before_patterns
                        if patterns and most else None)
        return aggregation, patterns

    def _generate(self, aggregation: HostAggregation) -> ColumnGeneration:
        """Generate patterns, and prove their bound. If the objective is the
        number of hosts, hosts that no better plan needs have no patterns, and
        a dive stores places for members in the incumbent.

        :param aggregation: the solved relaxation of all members
        """
        incumbent = self.incumbent
        kinds, host_cost = aggregation.kinds, aggregation.host_cost
        if self._counts and incumbent.where is not None:
            aggregation.pattern_columns = aggregation.columns.part(
                undominated_hosts(aggregation.columns,
                                  incumbent.plan_cost[1]))
        generation = ColumnGeneration(
            kinds, aggregation.cells, host_cost, aggregation, self.deadline)
        # No plan follows if hosts in use have different costs.
        generation.only_bounds = not (
            host_cost.slopes or incumbent.counts_hosts)
        if generation.only_bounds:
            generation.time_share = 1.0
        elif self._counts:
            generation.time_share = limits().main_share
        # More hosts are a whole number of hosts.
        generation.run(incumbent.objective.integral and (
            self._counts or not self.more))
        if self._counts and incumbent.seeks_places and (
                not incumbent.is_good_enough):
            generation.time_share = 1.0
            # A second relaxation may find none in time.
            incumbent.kind_places = places_of_dive(
                generation, kinds, aggregation.pattern_columns
            ) or incumbent.kind_places
        self._prove_patterns(generation, aggregation)
        return generation

    def _prove_patterns(self, generation: ColumnGeneration,
                        aggregation: HostAggregation) -> None:
        incumbent = self.incumbent
        limit = min(self.limit, generation.limit)
        bound = generation.bound + self.more
        if incumbent.counts_hosts:
            # Plans with more hosts may use hosts without patterns.
            bound = min(bound, incumbent.plan_cost[1])
        incumbent.prove(bound, limit)
        if aggregation.host_cost.slopes and incumbent.plan_cost[0] <= limit:
            incumbent.member_prices = member_prices(
                generation, aggregation.kinds, aggregation.columns, limit)

    def _count(self, aggregation: HostAggregation,
               generation: ColumnGeneration | None) -> np.ndarray | None:
        """Prove a bound by the count of hosts of all policies together, and
        return the hosts that it leads to.

        :param generation: the patterns, if there are any
        """
        kinds, columns = aggregation.kinds, aggregation.columns
        counted = Counted(kinds, self.group, columns,
                          known=self.incumbent.plan_cost[1])
        if generation is not None:
            counted = replace(
                counted, prices=generation.bound_prices,
                host_types=HostTypes.of(
                    kinds, columns, aggregation.host_cost))
        found = count_hosts(counted, self.deadline.part(limits().bound_share))
        if found is None:
            return None
        if found.bound is not None:
            self._prove(found.bound)
        return found.hosts

    def _separate_sets(self, aggregation: HostAggregation) -> None:
        """Prove a bound in which each set of members that a policy keeps in
        one domain has its own bound.

        :param aggregation: the solved relaxation of all members
        """
        kinds, deadline = aggregation.kinds, self.deadline
        gone, least = separate_sets(kinds, aggregation.host_cost,
                                    aggregation.duals, deadline)
        if not gone:
            return
        rest = only_monotone(kinds.group.only(
            {m.path for m in kinds.members} - gone))
        others = self.incumbent.kinds(
            deadline.check, limits().relaxed_kinds, rest)
        if others is None:
            self._prove(least)
            return
        relaxation = HostAggregation(
            others, cell_without_rules(others, deadline.check, counts=False),
            aggregation.host_cost, deadline.part(1.0))
        relaxation.run()
        if relaxation.bound is not None:
            self._prove(relaxation.within(float('inf')) + least)

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
from dataclasses import replace

import numpy as np

from nova_holistic.model.group import Group
from nova_holistic.solver.column_generation.dive_places import places_of_dive
from nova_holistic.solver.column_generation.generation import ColumnGeneration
from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.column_generation.limited_kinds import (
    limited_kinds)
from nova_holistic.solver.column_generation.pattern_placement import (
    is_applicable)
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
    if not incumbent.has_preferences:
        return _relax(incumbent, incumbent.group, float('inf'), deadline)
    hard = with_hard_forms(incumbent.group)
    if not incumbent.plan_cost[0]:
        # A better plan violates no preference, either.
        return _relax(incumbent, hard, 0.0, deadline)
    # Only the count that is valid for the cost of the plan is useful.
    violates = bool(incumbent.where is not None or incumbent.least)
    found = _relax(incumbent, incumbent.group, float('inf'), deadline,
                   counts=violates)
    if incumbent.least:
        # Every plan violates a preference.
        return found
    with contextlib.suppress(OutOfTime):
        preferred = _relax(incumbent, hard, 0.0, deadline,
                           counts=not violates)
        found = found if violates else preferred
    return found


def _relax(incumbent: Incumbent, group: Group, limit: float,
           deadline: Deadline, counts: bool = True) -> np.ndarray | None:
    """Prove lower bounds for plans of the group, and return hosts as
    ``relax_policies`` does.

    :param group: the group of the incumbent, whose policies may be different
    :param limit: cost of the preferences up to which plans of the incumbent
        are plans of the group
    :param counts: whether to count the hosts of all policies together
    """
    host_cost = incumbent.objective.host_cost()
    if host_cost is None:
        return None
    whole = group
    group, more = without_closed_hosts(incumbent, group, host_cost, deadline)
    kinds = incumbent.kinds(deadline.check, limits().relaxed_kinds, group)
    if kinds is None:
        incumbent.prove(more, limit)
        return None
    if kinds.lacks_room:
        # No plan exists.
        return None
    if not (kinds.is_coarse or host_cost.slopes):
        # Otherwise, plans use many hosts anyway.
        kinds = limited_kinds(kinds, limits().relaxed_kinds)
    # A number of hosts does not improve the bound of costs of utilisation.
    rules = cell_without_rules(kinds, deadline.check,
                               counts=not host_cost.slopes)
    # No plan follows: the relaxation may use its share of the time left now.
    aggregation = HostAggregation(kinds, rules, host_cost, deadline.part(1.0))
    # Patterns improve the bound faster than further rounds do if hosts in use
    # have different costs, or if enough time is left.
    many = not host_cost.slopes and (
        incumbent.seeks_places or not incumbent.counts_hosts)
    most = limits().relaxed_kinds if many else None
    patterns = not kinds.is_coarse and is_applicable(
        kinds, host_cost, rules, aggregation.columns, most)
    aggregation.run(limits().rounds_before_patterns
                    if patterns and most else None)
    if aggregation.bound is None:
        return None
    incumbent.host_duals = aggregation.host_duals()
    aggregation.bound_members()
    incumbent.prove(aggregation.within(float('inf')) + more, limit)
    if kinds.is_coarse:
        return None
    counts = counts and incumbent.counts_hosts and not incumbent.placed
    hosts = None
    with contextlib.suppress(OutOfTime):
        _separate_sets(incumbent, aggregation, limit, more, deadline)
        counted = Counted(kinds, whole, aggregation.columns,
                          known=incumbent.plan_cost[1])
        if patterns:
            generation = _patterns(incumbent, aggregation, more, deadline)
            limit_of_bound = min(limit, generation.limit)
            # Plans with more hosts may use hosts without patterns.
            incumbent.prove(
                min(generation.bound + more, incumbent.plan_cost[1])
                if incumbent.counts_hosts else generation.bound + more,
                limit_of_bound)
            if host_cost.slopes and incumbent.plan_cost[0] <= limit_of_bound:
                incumbent.member_prices = member_prices(
                    generation, kinds, aggregation.columns, limit_of_bound)
            if counts:
                counted = replace(
                    counted, prices=generation.bound_prices,
                    host_types=HostTypes.of(
                        kinds, aggregation.columns, host_cost))
        if counts and not incumbent.is_good_enough:
            hosts = _counted(incumbent, counted, limit, more,
                             deadline.part(limits().bound_share))
    return hosts


def _patterns(incumbent: Incumbent, aggregation: HostAggregation, more: float,
              deadline: Deadline) -> ColumnGeneration:
    """Generate patterns. If the objective is the number of hosts, hosts that
    no better plan needs have none, and a dive stores places for members in
    the incumbent.

    :param aggregation: the solved relaxation of all members
    :param more: bound of the cost of further members
    """
    kinds, host_cost = aggregation.kinds, aggregation.host_cost
    counts = incumbent.counts_hosts and not incumbent.placed
    if counts and incumbent.where is not None:
        aggregation.pattern_columns = aggregation.columns.part(
            undominated_hosts(aggregation.columns, incumbent.plan_cost[1]))
    generation = ColumnGeneration(
        kinds, aggregation.cells, host_cost, aggregation, deadline)
    # No plan follows if hosts in use have different costs.
    generation.only_bounds = not (host_cost.slopes or incumbent.counts_hosts)
    if generation.only_bounds:
        generation.time_share = 1.0
    elif counts:
        generation.time_share = limits().main_share
    # More hosts are a whole number of hosts.
    generation.run(incumbent.objective.integral and (counts or not more))
    if counts and incumbent.seeks_places and not incumbent.is_good_enough:
        generation.time_share = 1.0
        # A second relaxation may find none in time.
        incumbent.kind_places = places_of_dive(
            generation, kinds, aggregation.pattern_columns
        ) or incumbent.kind_places
    return generation


def _counted(incumbent: Incumbent, counted: Counted, limit: float, more: float,
             deadline: Deadline) -> np.ndarray | None:
    """Prove a bound by the count of hosts of all policies together, and return
    the hosts that it leads to.

    :param limit: cost of the preferences up to which the bound is valid
    :param more: bound of the cost of further members
    """
    found = count_hosts(counted, deadline)
    if found is None:
        return None
    if found.bound is not None:
        incumbent.prove(found.bound + more, limit)
    return found.hosts


def _separate_sets(incumbent: Incumbent, aggregation: HostAggregation,
                   limit: float, more: float, deadline: Deadline) -> None:
    """Prove a bound in which each set of members that a policy keeps in one
    domain has its own bound.

    :param aggregation: the solved relaxation of all members
    :param more: bound of the cost of further members
    """
    kinds = aggregation.kinds
    gone, least = separate_sets(kinds, aggregation.host_cost,
                                aggregation.duals, deadline)
    if not gone:
        return
    rest = only_monotone(kinds.group.only(
        {m.path for m in kinds.members} - gone))
    others = incumbent.kinds(deadline.check, limits().relaxed_kinds, rest)
    if others is None:
        incumbent.prove(least + more, limit)
        return
    relaxation = HostAggregation(
        others, cell_without_rules(others, deadline.check, counts=False),
        aggregation.host_cost, deadline.part(1.0))
    relaxation.run()
    if relaxation.bound is not None:
        incumbent.prove(relaxation.within(float('inf')) + least + more, limit)

# SPDX-License-Identifier: Apache-2.0
"""The best plan so far and the bounds that are proved for all plans.

Every phase of the solver receives the same incumbent and improves it. Only a
better plan replaces a plan, and a dual bound keeps the limit on preferences
for which it is valid.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import Member
from nova_holistic.model.objective import Objective
from nova_holistic.solver.check import check_bound
from nova_holistic.solver.numerics import bound as bounds
from nova_holistic.solver.numerics.dual_bounds import DualBounds
from nova_holistic.solver.numerics.host_duals import HostDuals
from nova_holistic.solver.numerics.kind_places import KindPlaces
from nova_holistic.solver.numerics.member_prices import MemberPrices
from nova_holistic.solver.problem.case import Case, Counts, is_costly
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.problem.hard_forms import with_hard_forms
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.preference_cost import preference_cost
from nova_holistic.solver.problem.rules import scoped_policies
from nova_holistic.solver.problem.search_status import SearchStatus
from nova_holistic.solver.problem.subproblem import EVERYTHING, Subproblem
from nova_holistic.solver.problem.utilisation_curve import (
    is_number_of_hosts)

PlanCost = tuple[Fraction | float, float]
"""The cost of the preferences and the value of the objective, compared in this
order."""

Bound = Callable[[Fraction | float], float | None]
"""Returns the dual bound for plans whose preferences cost at most the
argument; None if nothing is proved."""


class Incumbent:
    """One problem, its best plan so far, and the dual bounds.

    :ivar group: the group, bound to the snapshot
    :ivar snapshot: all hosts; their server counts exclude the group's members
    :ivar placed: path to host name of the members that stay
    :ivar gap: acceptable relative gap
    :ivar where: member path to host, of every member in document order; None
        until a plan is found
    :ivar plan_cost: cost of this plan; infinite until a plan is found
    :ivar least: lower bound of the cost of preferences of all plans
    :ivar host_duals: dual values of the hosts in a relaxation; None until one
        with convex costs is solved
    :ivar member_prices: prices of members in such a relaxation
    :ivar seeks_places: whether relaxations may have patterns of many
        kinds, because enough time is left for a plan from its places
    :ivar kind_places: places for members in a relaxation of the number of
        hosts; None until one is solved with patterns
    :ivar solving: seconds spent in solvers
    """

    def __init__(self, group: Group, snapshot: Snapshot,
                 placed: Mapping[str, str], objective: Objective,
                 gap: float):
        self.group, self.snapshot, self.placed = group, snapshot, placed
        self.objective, self.gap = objective, gap
        self.members = group.all_members()
        self.policies = tuple(scoped_policies(group))
        self.where: Mapping[str, Host] | None = None
        self.plan_cost: PlanCost = (float('inf'), float('inf'))
        self.least: Fraction | float = 0.0
        self.host_duals: HostDuals | None = None
        self.member_prices: MemberPrices | None = None
        self.seeks_places = True
        self.kind_places: KindPlaces | None = None
        self.solving = 0.0
        self._bounds = DualBounds()
        self._sources: list[Bound] = []
        self._within: dict[Fraction | float, float] = {}
        self._case: Case | None = None
        self._optimum: PlanCost | None = None

    def with_group(self, group: Group) -> 'Incumbent':
        """The same problem without a plan, for a group of the same members
        with other policies."""
        return Incumbent(group, self.snapshot, self.placed, self.objective,
                         self.gap)

    @property
    def has_preferences(self) -> bool:
        """Whether the group has preferences."""
        return not all(each.policy.hard for each in self.policies)

    @property
    def counts_hosts(self) -> bool:
        """Whether the objective is the number of hosts in use."""
        return is_number_of_hosts(self.objective.host_cost())

    def kinds(self, in_time: InTime, most: int | None = None,
              group: Group | None = None) -> Kinds | None:
        """The members without a host, by kind; None if every member has a
        host, or if ``Kinds.of`` returns None.

        :param most: as for ``Kinds.of``
        :param group: a group in place of that of the incumbent
        """
        found = Kinds.of(group or self.group, self.snapshot, self.placed,
                         in_time, most)
        return found if found is not None and found.kinds else None

    def offer(self, where: Mapping[str, Host]) -> bool:
        """Replace the best plan if this one is better and passes the check.

        :param where: member path to host, of every member
        :returns: whether the plan was accepted
        """
        where = {m.path: where[m.path] for m in self.members}
        plan_cost = self.plan_cost_of(where)
        if not plan_cost < self.plan_cost or check_bound(
                self.group, self.snapshot,
                {path: host.name for path, host in where.items()},
                self.placed):
            return False
        self.where, self.plan_cost = where, plan_cost
        return True

    def case(self, in_time: InTime, part: Subproblem,
             group: Group | None = None) -> Case:
        """The case of a part of the problem.

        :param group: a group in place of that of the incumbent
        """
        return Case.of(group or self.group, self.snapshot, self.placed,
                       in_time, part)

    def with_satisfied_hard(self) -> 'Incumbent':
        """This incumbent, which has a plan, with a hard policy in place of
        each preference that the plan does not violate. No plan of it violates
        further preferences, and hard policies of members of other parts can
        close hosts."""
        kept = self.with_group(with_hard_forms(
            self.group, lambda policy, scope: not policy.check(
                scope, self.where, self.snapshot).count))
        kept.offer(self.where)
        return self if kept.where is None else kept

    def case_without_traffic(self, in_time: InTime) -> Case:
        """The case of all members and all hosts, in which relationships with
        traffic may have no rows.

        :raises OutOfTime: if the time ends before the case is complete
        :raises TooLarge: if the case would need too much memory
        """
        if self._case is None and any(
                is_costly(each, self.snapshot) for each in self.policies):
            return self.case(in_time, Subproblem(constructs=True))
        return self.whole_case(in_time)

    def whole_case(self, in_time: InTime) -> Case:
        """The case of all members and all hosts, built once.

        :raises OutOfTime: if the time ends before the case is complete
        :raises TooLarge: if the case would need too much memory
        """
        if self._case is None:
            self._case = self.case(in_time, EVERYTHING)
        return self._case

    def plan_cost_of(self, where: Mapping[str, Host]) -> PlanCost:
        """The exact cost of the preferences, and the objective value."""
        return (preference_cost(self.policies, where, self.snapshot),
                float(self.objective.value(
                    self.members, where, self.placed, self.snapshot)))

    def increase(self, members: Sequence[Member], beside: Sequence[Member],
                 where: Mapping[str, Host]) -> float:
        """The increase of the objective by these members.

        :param beside: the other members on their hosts
        :param where: path to host of all of them
        """
        def value(some: Sequence[Member]) -> float:
            return self.objective.value(
                some, {m.path: where[m.path] for m in some}, self.placed,
                self.snapshot)

        return value([*members, *beside]) - (value(beside) if beside else 0.0)

    def counts(self, case: Case) -> Counts | None:
        """The counts of the plan in a case; None if no plan is known or the
        plan uses other hosts."""
        if self.where is None:
            return None
        found = []
        for each in case.classes:
            names = Counter(self.where[m.path].name for m in each.members)
            if not names.keys() <= case.table.index.keys():
                return None
            found.append({case.table.index[name]: number
                          for name, number in names.items()})
        return tuple(found)

    def prove(self, bound: float | None, limit: Fraction | float) -> None:
        """Add a lower bound for the plans whose preferences cost at most the
        limit."""
        if bound is not None:
            self._bounds.add(bound, limit)

    def prove_within(self, source: Bound) -> None:
        """Add a source of dual bounds."""
        self._sources.append(source)
        self._within.clear()

    def prove_least(self, cost: Fraction | float) -> None:
        """Add a lower bound of the cost of preferences of all plans."""
        self.least = max(self.least, cost)

    def prove_optimal(self, plan_cost: PlanCost) -> None:
        """Record that no plan is better than a known plan of this cost."""
        self._optimum = plan_cost

    @property
    def bound(self) -> float:
        """The lower bound for plans whose preferences cost no more than those
        of the best plan."""
        limit = self.plan_cost[0]
        if limit not in self._within:
            # A source may solve a linear program to compute its bound.
            self._within[limit] = max(
                (source(limit) or 0.0 for source in self._sources),
                default=0.0)
        return max(self._bounds.at(limit), self._within[limit])

    @property
    def status(self) -> SearchStatus:
        """The status of the best plan."""
        if self.where is None:
            return SearchStatus.NO_RESULT
        return (SearchStatus.OPTIMAL if self.plan_cost == self._optimum
                else SearchStatus.FEASIBLE)

    @property
    def is_preferred(self) -> bool:
        """Whether the cost of preferences is optimal, or within the gap."""
        return self.where is not None and bounds.is_preferred(
            self.plan_cost[0], self.least, self.gap)

    @property
    def is_close(self) -> bool:
        """Whether the objective is within the gap of its bound."""
        if self.where is None:
            return False
        return bounds.is_close(self.objective, self.plan_cost[1], self.bound,
                               self.gap)

    @property
    def is_good_enough(self) -> bool:
        """Whether the plan is optimal, or both of its costs are within the
        gap."""
        return self.status is SearchStatus.OPTIMAL or (
            self.is_preferred and self.is_close)

# SPDX-License-Identifier: Apache-2.0
"""Better plans of groups of many small independent parts.

Dynamic programming finds the best hosts of one part after another, while the
members of all other parts stay. It moves a whole part to another domain, which
searches that move a few members rarely do.
"""

from collections.abc import Collection, Mapping, Sequence
import contextlib
from dataclasses import replace
from fractions import Fraction

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.objectives.utilisation import requested_classes
from nova_holistic.solver.confined.separate_sets import is_convex
from nova_holistic.solver.construct.batches import batches, open_hosts
from nova_holistic.solver.limits.current import improve as limits, phases
from nova_holistic.solver.phases.domain_plan import plan_by_domains
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.hard_forms import with_hard_forms
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent, PlanCost
from nova_holistic.solver.problem.member_usage import MemberUsage
from nova_holistic.solver.problem.preference_cost import preference_cost
from nova_holistic.solver.problem.rows import ScopedPolicy
from nova_holistic.solver.ruin_recreate.part_hosts import PartHosts
from nova_holistic.solver.shared_hosts.price_hosts import price_hosts


def replan_parts(known: Incumbent, deadline: Deadline) -> None:
    """Improve an incumbent that has a plan: find better hosts for one part
    after another, until no part has any or the time ends.

    Nothing is done if members stay on their hosts, if the objective is not a
    sum of convex costs of hosts, or if the group has too many members.
    """
    host_cost = known.objective.host_cost()
    if known.where is None or known.placed or known.is_good_enough or (
            host_cost is None or not is_convex(host_cost)
            or len(known.members) > phases().replanned_members):
        return
    parts = batches(known, 1)
    if len(parts) < 2:
        return
    hosts = PartHosts(HostTable.of(known.snapshot), known.members, host_cost)
    with contextlib.suppress(OutOfTime):
        search = _PartPlans(known, hosts, deadline)
        with contextlib.suppress(OutOfTime):
            search.construct(deadline.part(phases().main_share))
        where = price_hosts(known, parts, deadline)
        search = _PartPlans(known, hosts, deadline)
        if search.complete(where):
            search.run()
            if search.has_best:
                return
            search = _PartPlans(known, hosts, deadline)
        search.run()


class _PartPlans:
    """Better hosts for one part after another. All methods raise OutOfTime if
    the time ends before."""

    def __init__(self, whole: Incumbent, hosts: PartHosts,
                 deadline: Deadline):
        """:param whole: the incumbent that is improved"""
        self._whole, self._deadline = whole, deadline
        self._table, self._hosts = hosts.table, hosts
        known = self._known = whole.with_satisfied_hard()
        parts = batches(known, 1)
        part_of = {m.path: number for number, part in enumerate(parts)
                   for m in part.members}
        self._policies: list[list[ScopedPolicy]] = [[] for _ in parts]
        for each in known.policies:
            if each.scope.members:
                self._policies[part_of[each.scope.members[0].path]].append(
                    each)
        classes = requested_classes(known.members)
        self._parts = [
            number for number, part in enumerate(parts)
            if requested_classes(part.members) == classes]
        self._batches = parts

    def construct(self, deadline: Deadline) -> None:
        """Place the parts again, each on the best hosts that the parts before
        leave. Parts that close hosts to others come first, then the parts
        with the highest costs."""
        known = self._known
        costs = {number: self._cost(number, known.where)
                 for number in self._parts}
        order = sorted(costs, key=lambda each: (
            bool(self._batches[each].closes), costs[each][1]), reverse=True)
        fixed = {*range(len(self._batches))} - costs.keys()
        where: dict[str, Host] = {}
        try:
            while failed := self._place(order, fixed, where, deadline):
                # These parts keep their hosts, and all others avoid them.
                fixed |= failed
                where.clear()
        finally:
            self._offer({**known.where, **where})

    def complete(self, where: Mapping[str, Host]) -> bool:
        """Place the parts without hosts, and continue from this plan, although
        it may be worse than the incumbent. Return whether it is a plan.

        :param where: path to host of the members of some parts
        """
        known = self._known
        parts = {number for number, part in enumerate(self._batches)
                 if part.members[0].path in where}
        if not parts:
            return False
        start = known.with_group(known.group)
        placed = dict(where)
        if self._place([number for number in self._parts
                        if number not in parts], (), placed, self._deadline
                       ) or len(placed) < len(known.members):
            return False
        if not start.offer(placed):
            return False
        self._known = start
        self._whole.offer(placed)
        return True

    def _place(self, order: Sequence[int], fixed: Collection[int],
               where: dict[str, Host], deadline: Deadline) -> set[int]:
        """Place one part after another. Return the numbers of the parts that
        were not placed: no hosts were found, or the part's preferences would
        cost more on them than in the known plan.

        :param fixed: parts that keep their hosts
        :param where: path to host of the placed members; is extended
        """
        known, failed = self._known, set()
        for number in fixed:
            where.update(self._own(number, known.where))
        usage = MemberUsage(self._table, known.members)
        usage.add(where)
        for number in order:
            if number in fixed:
                continue
            deadline.check()
            found = self._best(number, where, usage)
            if found is None or self._unmet(number, {
                    **where, **found}) > self._unmet(number, known.where):
                failed.add(number)
            else:
                where.update(found)
                usage.add(found)
        return failed

    @property
    def has_best(self) -> bool:
        """Whether the plan from which ``run`` continues is at least as good
        as the incumbent."""
        return self._known.plan_cost <= self._whole.plan_cost

    def run(self) -> None:
        """Move single parts to better hosts, until no part has any."""
        while not self._whole.is_good_enough and self._step():
            pass

    def _step(self) -> bool:
        """Take one step for each part; return whether a further step for each
        is useful."""
        known = self._known
        where, before = dict(known.where), known.plan_cost
        usage = MemberUsage(self._table, known.members)
        usage.add(where)
        try:
            for number in self._parts:
                self._deadline.check()
                own = self._own(number, where)
                usage.add(own, -1)
                found = self._best(number, where, usage)
                if found is None or self._cost(number, {
                        **where, **found}) >= self._cost(number, where):
                    found = own
                where.update(found)
                usage.add(found)
        finally:
            self._offer(where)
        cost, value = known.plan_cost
        return (cost, value + limits().least_gain * abs(value)) < before

    def _offer(self, where: Mapping[str, Host]) -> None:
        """Offer a plan to the incumbents with and without hard policies in
        place of preferences."""
        for each in (self._known, self._whole):
            each.offer(where)

    def _own(self, number: int, where: Mapping[str, Host]) -> dict[str, Host]:
        """The hosts of the members of one part."""
        return {m.path: where[m.path] for m in self._batches[number].members}

    def _best(self, number: int, where: Mapping[str, Host],
              usage: MemberUsage) -> Mapping[str, Host] | None:
        """The best hosts of the part; None if none are found that satisfy its
        policies.

        :param where: path to host of the placed members
        :param usage: the use of the placed members of all other parts
        """
        known, part = self._known, self._batches[number]
        table = self._table.part(None)
        table.occupy(usage.taken)
        chosen = self._hosts.choose(
            table, part.members, self._policies[number],
            table.enabled & open_hosts(part, known, self._table, where))
        if not len(chosen):
            return None
        snapshot = replace(known.snapshot, hosts=tuple(
            map(usage.host, chosen.tolist())), lineage={})
        group = part.within(known.group)
        groups = [group]
        if any(not each.policy.hard for each in self._policies[number]):
            # A plan without violated preferences is the best one.
            groups.insert(0, with_hard_forms(group))
        for each in groups:
            alone = Incumbent(each, snapshot, {}, known.objective, known.gap)
            plan_by_domains(alone, self._deadline)
            if alone.where is not None:
                found = {path: self._table.hosts[self._table.index[host.name]]
                         for path, host in alone.where.items()}
                if self._is_valid(number, {**where, **found}):
                    return found
        return None

    def _is_valid(self, number: int, where: Mapping[str, Host]) -> bool:
        """Whether the part satisfies its hard policies."""
        return not any(each.policy.hard and each.policy.check(
            each.scope, where, self._known.snapshot).count
            for each in self._policies[number])

    def _cost(self, number: int, where: Mapping[str, Host]) -> PlanCost:
        """The cost of the preferences of the part, and the increase of the
        objective by its members, rounded.

        :param where: path to host of the members of all parts
        """
        known = self._known
        own = self._own(number, where)
        names = {host.name for host in own.values()}
        beside = [m for m in known.members if m.path not in own
                  and where[m.path].name in names]
        value = known.increase(self._batches[number].members, beside, where)
        return self._unmet(number, where), round(value, 9)

    def _unmet(self, number: int, where: Mapping[str, Host]) -> Fraction:
        """The cost of the preferences of the part.

        :param where: path to host of its members at least
        """
        return preference_cost(self._policies[number], where,
                               self._known.snapshot)

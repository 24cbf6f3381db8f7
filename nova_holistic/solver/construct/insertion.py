# SPDX-License-Identifier: Apache-2.0
"""Insertion of a few members into a group whose other members stay.

Each new member is placed on the best of all hosts. This needs no program.
Policies are checked for hosts in the order of cost, and only once for hosts
that they do not distinguish. For one member, the result is optimal. For
several members, a bound may prove that it is optimal.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import Member
from nova_holistic.model.objective import HostCost
from nova_holistic.solver.evaluation.marginal_cost import MarginalCost
from nova_holistic.solver.evaluation.policy_evaluation import (
    Best, PolicyEvaluation)
from nova_holistic.solver.limits.current import construct as limits
from nova_holistic.solver.numerics import bound as bounds
from nova_holistic.solver.numerics.tolerances import ARITHMETIC
from nova_holistic.solver.problem.case import placed_at
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.eligibility import demands, Eligibility
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.rows import ScopedPolicy
from nova_holistic.solver.problem.rules import scoped_policies
from nova_holistic.solver.problem.search_status import SearchStatus


@dataclass(frozen=True, slots=True)
class InsertedPlan:
    """A plan that insertion found.

    :ivar where: path to host of every member, in document order
    :ivar policies: policies of the group
    :ivar bound: lower bound of the objective
    :ivar status: OPTIMAL if the plan is proved optimal, else FEASIBLE
    :ivar is_enough: whether other phases are unlikely to find a better plan
    """

    where: Mapping[str, Host]
    policies: tuple[ScopedPolicy, ...]
    bound: float
    status: SearchStatus
    is_enough: bool


def insert_members(known: Incumbent, deadline: Deadline,
                   always: bool = False) -> InsertedPlan | None:
    """Insert the new members. Return None if their number is too large or 0,
    the objective is not a sum over hosts, a program would be small, or no
    sufficiently good plan was found.

    :param known: the group, the hosts and the members that stay
    :param always: whether to insert members even if a program would be small
    :raises OutOfTime: if the time ends before a plan was found
    :raises InvalidDocument: if a placed member or its host is unknown
    """
    objective, snapshot, placed = known.objective, known.snapshot, known.placed
    host_cost = objective.host_cost()
    members = known.members
    waiting = len(members) - len(placed)
    if host_cost is None or not 0 < waiting <= limits().inserted_members or (
            not always and waiting * len(snapshot.hosts)
            <= limits().insertion_places):
        return None
    insertion = _Insertion(known.group, snapshot, placed, host_cost, deadline)
    costs = insertion.run()
    if costs is None:
        return None
    where = {m.path: insertion.where[m.path] for m in members}
    value = objective.value(members, where, placed, snapshot)
    status, bound, enough = SearchStatus.OPTIMAL, value, True
    if len(costs) > 1:
        bound = bounds.safe(
            objective, value - sum(costs) + insertion.least)
        if value - bound > ARITHMETIC * max(1.0, value):
            status = SearchStatus.FEASIBLE
            # Only an integer program could find a better plan.
            within_gap = bounds.gap(value, bound) <= known.gap or (
                objective.integral and value - bound <= 1)
            enough = within_gap and not insertion.small
    return InsertedPlan(where, insertion.policies, bound, status, enough)


class _Insertion:
    """The insertion of all members without a host.

    :ivar where: path to host of all members that have a host
    :ivar least: lower bound of the cost of inserting all new members
    :ivar small: whether the problem is small enough for an exact program
    """

    def __init__(self, group: Group, snapshot: Snapshot,
                 placed: Mapping[str, str], host_cost: HostCost,
                 deadline: Deadline):
        members = group.all_members()
        self._table = HostTable.of(snapshot)
        at = placed_at(members, self._table, placed)
        hosts = self._table.hosts
        self.where = {path: hosts[h] for path, h in at.items()}
        self.policies = tuple(scoped_policies(group))
        self.least, self.small = 0.0, True
        self._used = set(at.values())
        self._waiting = [m for m in members if m.path not in at]
        self._evaluation = PolicyEvaluation(
            self._table, snapshot, self.policies, self.where, self._used)
        self._deadline = deadline
        self._marginal_cost = MarginalCost(
            self._table, members, host_cost, [*self._used])
        self._eligibility = Eligibility(self._table)

    def run(self) -> list[float] | None:
        """Insert the members, the largest first. Return the cost of each; None
        if no plan was found or the plan may be far from optimal."""
        several = len(self._waiting) > 1
        if several and not all(map(self._evaluation.is_described,
                                   self._waiting)):
            # Undeclared properties of a policy can depend on all members.
            return None
        if not self._compute_bounds(several):
            return None
        found = []
        for member in sorted(self._waiting, key=lambda m: self._table.size(
                demands(m.requirements)), reverse=True):
            best = self._best(member)
            if best is None or (several and best.preference_cost):
                # Other places of the other new members could avoid this cost.
                return None
            self.where[member.path] = self._table.hosts[best.host]
            self._used.add(best.host)
            self._marginal_cost.put(demands(member.requirements), best.host)
            found.append(best.cost)
        return found

    def _compute_bounds(self, several: bool) -> bool:
        """Compute bounds before any member is inserted; return whether each
        member has a possible host."""
        kinds: dict[tuple, list] = {}
        for member in self._waiting:
            amounts = tuple(demands(member.requirements))
            suits = self._eligibility.taking(member.requirements)
            kinds.setdefault((amounts, id(suits)), [amounts, suits, 0])[2] += 1
        if not all(suits.any() for _, suits, _ in kinds.values()):
            return False
        self.small = sum(number * int(suits.sum()) for _, suits, number
                         in kinds.values()) <= limits().exact_insertion_places
        if several:
            # Policies treat all members of one description in the same way.
            alone = [self._best(each) for each in {
                m.description: m for m in self._waiting}.values()]
            if None in alone:
                return False
            self.least = max(self._marginal_cost.least([*kinds.values()]),
                             *(best.cost for best in alone))
        return True

    def _best(self, member: Member) -> Best | None:
        """The best host for the member, with all others on their current
        hosts."""
        amounts = demands(member.requirements)
        hosts = self._evaluation.admitted(member, np.flatnonzero(
            self._eligibility.taking(member.requirements)
            & self._marginal_cost.fits(amounts)))
        costs = self._marginal_cost.of(amounts)[hosts]
        preference_costs = self._evaluation.preference_costs(member, hosts)
        # Among equally good hosts, the fullest comes first.
        order = np.lexsort((-self._marginal_cost.utilisation[hosts], costs,
                            preference_costs))
        return self._evaluation.first(
            member, hosts[order], costs[order], preference_costs[order],
            self._deadline)

# SPDX-License-Identifier: Apache-2.0
"""Plans and bounds of small groups, by dynamic programming over domains.

The dynamic program combines exact costs of hosts with the conditions of
policies on single domains, for example affinity and anti-affinity. If all
policies have such conditions, its optimum is the best plan. Otherwise, its
optimum is a bound. Violated preferences have a cost per unit in the program.
By weak duality, the cost of the program less the cost of the permitted
violations is a bound of the objective.
"""

from collections.abc import Sequence
import contextlib
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.solver.limits.current import small_groups as limits
from nova_holistic.solver.numerics.tolerances import (
    EXACT_FLOATS, SUM_ROUNDING)
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.small_groups.domain_program import (
    DomainProgram, is_tree, Optimum)
from nova_holistic.solver.small_groups.domain_rules import DomainRules
from nova_holistic.solver.small_groups.host_costs import host_costs, NO_COST
from nova_holistic.solver.small_groups.member_states import (
    MemberStates, number_of_pairs)
from nova_holistic.solver.small_groups.preference_terms import (
    PreferenceTerms, units)


def has_costs_of_domains(known: Incumbent) -> bool:
    """Whether the objective or preferences can have costs of hosts or domains.
    """
    return known.objective.host_cost() is not None or not all(
        each.policy.hard for each in known.policies)


def plan_by_domains(known: Incumbent, deadline: Deadline) -> bool:
    """Offer the optimum of the dynamic program, and prove its bounds. Return
    False if the program proves that no plan exists.

    Nothing is proved if members stay on their hosts, or if the group has too
    many classes of members.
    """
    if known.placed or not known.members:
        return True
    with contextlib.suppress(OutOfTime):
        case = known.whole_case(deadline.check)
        sizes = [len(each.members) for each in case.classes]
        if number_of_pairs(sizes) <= limits().pairs:
            states = MemberStates.of(sizes)
            if len(states) * len(case.table) <= limits().places:
                return _solve(known, case, states, deadline)
    return True


def _solve(known: Incumbent, case: Case, states: MemberStates,
           deadline: Deadline) -> bool:
    tree = _tree(known)
    if not is_tree([case.table.division(level).of_host for level in tree]):
        return True
    rules = DomainRules.of(case, states, tree, deadline.check)
    # A policy may record its costs under another policy of the same weight.
    weights, unit = units(each.policy.weight
                          for each, _, _ in case.rules.penalties)
    PreferenceTerms(rules, deadline.check).add(weights)
    rules.tree = [level for level in tree
                  if level == HOST or rules.applies(level)]
    host_cost = known.objective.host_cost()
    costs = host_costs(case, states, host_cost or NO_COST, deadline.check)
    program, factor = _Program(known, rules, unit, deadline), 0.0
    if rules.has_costs:
        found = program.solve(np.where(np.isfinite(costs), 0.0, costs), 1.0)
        if found is None:
            return False
        known.prove_least(program.least(found))
        # A violation of any preference costs more than the objective.
        largest = float(costs[np.isfinite(costs)].max())
        factor = len(known.members) * largest / min(weights.values())
    found = program.solve(costs, factor)
    if found is None:
        return False
    if host_cost is not None and known.where is not None:
        cost = known.plan_cost[0] if factor else Fraction(0)
        known.prove(program.bound(found, factor, cost),
                    cost if factor else float('inf'))
    return True


def _tree(known: Incumbent) -> Sequence[str]:
    """The levels of the topology; or a label and the level of hosts, if the
    policies refer to no other level."""
    topology = known.snapshot.levels
    levels = {level for each in known.policies
              for level in each.policy.levels if level != HOST}
    if len(levels) == 1 and levels.isdisjoint(topology):
        return *levels, HOST
    return topology


@dataclass(frozen=True, slots=True)
class _Program:
    """A group's dynamic program with different costs.

    :ivar unit: cost of preferences that is one unit of the program
    """

    known: Incumbent
    rules: DomainRules
    unit: Fraction
    deadline: Deadline

    def solve(self, hosts: np.ndarray, factor: float) -> Optimum | None:
        """Return the optimum, and offer its plan; None if no plan exists.

        :param hosts: [host, state]: cost
        :param factor: cost of one unit of violated preferences
        """
        found = DomainProgram(
            self.rules, hosts, factor, self.deadline.check).optimum()
        if found is None:
            return None
        objective = self.known.objective
        if objective.host_cost() is None and objective.traffic():
            # Other phases find plans with less traffic.
            return found
        case, counts = self.rules.case, self.rules.states.counts
        self.known.offer(case.placement(tuple(
            {host: int(counts[state, c])
             for host, state in found.hosts.items() if counts[state, c]}
            for c in range(len(case.classes)))))
        return found

    def least(self, found: Optimum) -> Fraction:
        """The lower bound of the cost of preferences.

        :param found: optimum of the units of violated preferences
        """
        cost = found.cost + self.rules.constant
        largest = found.cost + abs(self.rules.constant)
        if not self.rules.has_whole_costs or largest >= EXACT_FLOATS:
            cost -= SUM_ROUNDING * largest
        return max(Fraction(0), self.unit * Fraction(cost))

    def bound(self, found: Optimum, factor: float,
              limit: Fraction | float) -> float:
        """The lower bound of the objective for plans whose preferences cost at
        most the limit.

        :param factor: cost of one unit of violated preferences
        """
        if not factor:
            return found.cost - SUM_ROUNDING * found.cost
        permitted = factor * float(Fraction(limit) / self.unit)
        constant = factor * self.rules.constant
        largest = found.cost + abs(constant) + permitted
        return found.cost + constant - permitted - SUM_ROUNDING * largest

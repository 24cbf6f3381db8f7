# SPDX-License-Identifier: Apache-2.0
"""Plans and bounds of small groups, by dynamic programming over domains.

The dynamic program combines exact costs of hosts with the conditions of
policies on single domains, for example affinity and anti-affinity. If all
policies have such conditions, its optimum is the best plan. Otherwise, its
optimum is a bound. Violated preferences have a cost per unit in the program.
By weak duality, the cost of the program less the cost of the permitted
violations is a bound of the objective.
"""

import contextlib
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.small_groups.domain_problem import DomainProblem
from nova_holistic.solver.small_groups.domain_program import (
    DomainProgram, Optimum)


def has_costs_of_domains(known: Incumbent) -> bool:
    """Whether the objective or preferences can have costs of hosts or domains.
    """
    return known.objective.host_cost() is not None or known.has_preferences


def plan_by_domains(known: Incumbent, deadline: Deadline) -> bool:
    """Offer the optimum of the dynamic program, and prove its bounds. Return
    False if the program proves that no plan exists.

    Nothing is proved if members stay on their hosts, or if the group has too
    many classes of members.
    """
    if known.placed or not known.members:
        return True
    with contextlib.suppress(OutOfTime):
        problem = DomainProblem.of(known, deadline.check)
        if problem is not None:
            return _solve(known, problem, deadline)
    return True


def _solve(known: Incumbent, problem: DomainProblem,
           deadline: Deadline) -> bool:
    costs, factor = problem.costs, problem.factor
    program = _Program(known, problem, deadline)
    if problem.rules.has_costs:
        found = program.solve(np.where(np.isfinite(costs), 0.0, costs), 1.0)
        if found is None:
            return False
        known.prove_least(problem.least(found))
    found = program.solve(costs, factor)
    if found is None:
        return False
    if known.objective.host_cost() is not None and known.where is not None:
        cost = known.plan_cost[0] if factor else Fraction(0)
        known.prove(problem.bound(found, factor, cost),
                    cost if factor else float('inf'))
    return True


@dataclass(frozen=True, slots=True)
class _Program:
    """A group's dynamic program with different costs."""

    known: Incumbent
    problem: DomainProblem
    deadline: Deadline

    def solve(self, hosts: np.ndarray, factor: float) -> Optimum | None:
        """Return the optimum, and offer its plan; None if no plan exists.

        :param hosts: [host, state]: cost
        :param factor: cost of one unit of violated preferences
        """
        rules = self.problem.rules
        found = DomainProgram(rules, hosts[rules.leaves], factor,
                              self.deadline.check).optimum()
        if found is None:
            return None
        objective = self.known.objective
        if objective.host_cost() is None and objective.traffic():
            # Other phases find plans with less traffic.
            return found
        self.known.offer(self.problem.placement(found.hosts))
        return found

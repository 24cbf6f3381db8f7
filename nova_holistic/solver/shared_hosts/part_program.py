# SPDX-License-Identifier: Apache-2.0
"""The cheapest hosts of one independent part, by dynamic programming."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.solver.numerics.tolerances import EQUAL_COSTS
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.small_groups.domain_problem import DomainProblem
from nova_holistic.solver.small_groups.domain_program import DomainProgram


@dataclass(frozen=True, slots=True, eq=False)
class PartPlan:
    """Hosts of a part that are the cheapest for some prices.

    :ivar bound: lower bound of the prices that the part pays, for plans whose
        preferences cost at most ``PartProgram.permitted``
    :ivar states: host index to its state
    :ivar cost: the cost of the objective without the other parts
    :ivar is_permitted: whether the preferences of this plan cost at most
        ``PartProgram.permitted``
    """

    bound: float
    states: Mapping[int, int]
    cost: float
    is_permitted: bool


@dataclass(frozen=True, slots=True, eq=False)
class PartProgram:
    """The dynamic program of one part.

    :ivar amounts: [state, class]: requested amounts
    :ivar values: [state]: sum of the prices of its members
    :ivar permitted: maximum cost of the part's preferences in plans of the
        group whose preferences cost at most as much as those of the known plan
    :ivar closes: whether hard policies close its hosts to other parts
    """

    problem: DomainProblem
    amounts: np.ndarray
    values: np.ndarray
    permitted: Fraction
    closes: bool

    @classmethod
    def of(cls, alone: Incumbent, classes: Sequence[str],
           prices: Mapping[str, float], permitted: Fraction,
           in_time: InTime) -> 'PartProgram | None':
        """The program; None if the part has too many states.

        :param alone: the part as a group, without a plan
        :param prices: member path to price; 0 for other members
        """
        problem = DomainProblem.of(alone, in_time)
        if problem is None:
            return None
        # Lower prices are valid, too.
        price = np.array([min(prices.get(m.path, 0.0) for m in each.members)
                          for each in problem.case.classes])
        counts = problem.states.counts
        return cls(
            problem, counts @ problem.case.requested(classes), counts @ price,
            permitted, any(each.policy.hard and each.policy.closes == HOST
                           for each in alone.policies))

    def solve(self, program: DomainProgram) -> PartPlan | None:
        """The cheapest hosts; None if no plan exists.

        :param program: the program of the part with its factor, and with
            prices as costs
        """
        problem, factor = self.problem, self.problem.factor
        found = program.optimum()
        if found is None:
            return None
        own = sum(float(problem.costs[each]) for each in found.hosts.items())
        bound = problem.bound(found, factor, self.permitted)
        if not factor:
            return PartPlan(bound, found.hosts, own, True)
        leaf_of = {host: leaf for leaf, host in enumerate(
            program.rules.leaves.tolist()) if host in found.hosts}
        paid = sum(float(program.costs[leaf, found.hosts[host]])
                   for host, leaf in leaf_of.items())
        violated = (found.cost - paid) / factor + problem.rules.constant
        spare = float(self.permitted / problem.unit) - violated
        if spare > EQUAL_COSTS:
            # Plans may violate more. Then the factor makes the bound weak.
            least = program.with_factor(0.0).optimum()
            if least is not None:
                bound = max(bound, problem.bound(least, 0.0, self.permitted))
        return PartPlan(bound, found.hosts, own, spare >= -EQUAL_COSTS)

    def least(self, in_time: InTime) -> Fraction:
        """A lower bound of the cost of its preferences."""
        problem = self.problem
        if not problem.rules.has_costs:
            return Fraction(0)
        rules = problem.rules
        costs = problem.costs[rules.leaves]
        found = DomainProgram(rules, np.where(
            np.isfinite(costs), 0.0, costs), 1.0, in_time).optimum()
        return Fraction(0) if found is None else problem.least(found)

    def states_of(self, where: Mapping[str, str]) -> Mapping[int, int]:
        """Host index to its state in a plan, for each host with members of the
        part.

        :param where: member path to host name
        """
        case, counts = self.problem.case, self.problem.states.counts
        here: dict[int, np.ndarray] = {}
        for c, each in enumerate(case.classes):
            for member in each.members:
                host = case.table.index[where[member.path]]
                here.setdefault(host, np.zeros(
                    len(case.classes), dtype=np.int64))[c] += 1
        return {host: int(np.flatnonzero((counts == number).all(axis=1))[0])
                for host, number in here.items()}

# SPDX-License-Identifier: Apache-2.0
"""The dynamic program of a group: its states, conditions and costs."""

from collections.abc import Mapping, Sequence
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.objective import HostCost
from nova_holistic.solver.evaluation.marginal_cost import MarginalCost
from nova_holistic.solver.limits.current import small_groups as limits
from nova_holistic.solver.numerics.tolerances import (
    EXACT_FLOATS, SUM_ROUNDING)
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.small_groups.domain_program import (
    is_tree, Optimum)
from nova_holistic.solver.small_groups.domain_rules import DomainRules
from nova_holistic.solver.small_groups.member_states import (
    MemberStates, number_of_pairs)
from nova_holistic.solver.small_groups.preference_terms import (
    PreferenceTerms, units)

_NO_COST = HostCost(lambda free: free * 0.0)
"""The cost of hosts for an objective that is not a sum over hosts."""


@dataclass(frozen=True, slots=True, eq=False)
class DomainProblem:
    """The states and costs of a group in which no member stays.

    :ivar costs: [host, state]: cost of the objective; infinite if the host has
        no room
    :ivar unit: cost of preferences that is one unit of the rules' costs
    :ivar lightest: the smallest weight of a preference, in these units
    """

    case: Case
    states: MemberStates
    rules: DomainRules
    costs: np.ndarray
    unit: Fraction
    lightest: float

    @classmethod
    def of(cls, known: Incumbent, in_time: InTime) -> 'DomainProblem | None':
        """The problem of the incumbent; None if it has too many states, or if
        the levels of the topology form no tree."""
        case = known.case_without_traffic(in_time)
        sizes = [len(each.members) for each in case.classes]
        if number_of_pairs(sizes) > limits().pairs:
            return None
        states, tree = MemberStates.of(sizes), _tree(known)
        if len(states) * len(case.table) > limits().places or not is_tree(
                [case.table.division(level).of_host for level in tree]):
            return None
        rules = DomainRules.of(case, states, tree, in_time)
        # A policy may record its costs under another policy of the same
        # weight.
        weights, unit = units(each.policy.weight
                              for each, _, _ in case.rules.penalties)
        PreferenceTerms(rules, in_time).add(weights)
        rules.tree = [level for level in tree
                      if level == HOST or rules.applies(level)]
        host_cost = known.objective.host_cost()
        return cls(case, states, rules, _host_costs(
            case, states, host_cost or _NO_COST, in_time), unit,
            min(weights.values(), default=1.0))

    @property
    def factor(self) -> float:
        """A cost of one unit of violated preferences that exceeds the
        objective; 0 if no preference has a cost."""
        if not self.rules.has_costs:
            return 0.0
        largest = float(self.costs[np.isfinite(self.costs)].max())
        return len(self.case.members) * largest / self.lightest

    def placement(self, hosts: Mapping[int, int]) -> Mapping[str, Host]:
        """Member path to host.

        :param hosts: host index to its state
        """
        counts = self.states.counts
        return self.case.placement(tuple(
            {host: int(counts[state, c])
             for host, state in hosts.items() if counts[state, c]}
            for c in range(len(self.case.classes))))

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
        """The lower bound of the cost of hosts for plans whose preferences
        cost at most the limit.

        :param found: optimum of any costs of hosts
        :param factor: cost of one unit of violated preferences
        """
        if not factor:
            return found.cost - SUM_ROUNDING * found.cost
        permitted = factor * float(Fraction(limit) / self.unit)
        constant = factor * self.rules.constant
        largest = found.cost + abs(constant) + permitted
        return found.cost + constant - permitted - SUM_ROUNDING * largest


def _tree(known: Incumbent) -> Sequence[str]:
    """The levels of the topology; or a label and the level of hosts, if the
    policies refer to no other level."""
    topology = known.snapshot.levels
    levels = {level for each in known.policies
              for level in each.policy.levels if level != HOST}
    if len(levels) == 1 and levels.isdisjoint(topology):
        return *levels, HOST
    return topology


def _host_costs(case: Case, states: MemberStates, host_cost: HostCost,
                in_time: InTime) -> np.ndarray:
    """[host, state]: the cost; infinite if the host has no room for these
    members.

    :param case: a case in which no member stays
    """
    costs = MarginalCost(case.table, case.members, host_cost, ())
    room = case.open_room(in_time)
    found = np.full((len(case.table), len(states)), np.inf)
    found[:, 0] = 0.0
    for state in range(1, len(states)):
        in_time()
        amounts: Counter[str] = Counter()
        fits = np.ones(len(case.table), dtype=bool)
        for c, number in enumerate(states.counts[state].tolist()):
            if number:
                fits &= room[c] >= number
                for name, amount in case.classes[c].demands:
                    amounts[name] += number * amount
        demand = tuple((name, amount) for name, amount in amounts.items()
                       if amount)
        hosts = np.flatnonzero(fits & costs.fits(demand))
        found[hosts, state] = costs.at(demand, hosts)
    return found

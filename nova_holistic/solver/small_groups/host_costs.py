# SPDX-License-Identifier: Apache-2.0
"""The cost of each host for each number of members of each class."""

from collections import Counter

import numpy as np

from nova_holistic.model.objective import HostCost
from nova_holistic.solver.evaluation.marginal_cost import MarginalCost
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.small_groups.member_states import MemberStates

NO_COST = HostCost(lambda free: free * 0.0)
"""The cost of hosts for an objective that is not a sum over hosts."""


def host_costs(case: Case, states: MemberStates, host_cost: HostCost,
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

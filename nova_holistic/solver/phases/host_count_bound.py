# SPDX-License-Identifier: Apache-2.0
"""A lower bound of the number of hosts, from counting.

The bound needs no program. Most small groups on few hosts have a plan with
exactly this number of hosts. Without the bound, a program would search for a
plan with one host fewer until the time limit is reached.
"""

from nova_holistic.solver.decomposition.cells import cells
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.incumbent import Incumbent


def has_fewest_hosts(incumbent: Incumbent, deadline: Deadline) -> bool:
    """Prove a bound if the objective is the number of hosts and no member
    stays; return whether this proves that no plan is better.

    :raises OutOfTime: if the time ends before the bound is proved
    """
    if incumbent.placed or not incumbent.counts_hosts:
        return False
    kinds = incumbent.kinds(deadline.check)
    if kinds is None:
        return False
    found = cells(kinds, deadline.check).fewest_with_limits
    incumbent.prove(float(found), float('inf'))
    cost, value = incumbent.plan_cost
    return cost <= incumbent.least and value <= incumbent.bound

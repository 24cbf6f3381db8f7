# SPDX-License-Identifier: Apache-2.0
"""The greedy plan, which needs no program, satisfies policies of other
packages."""

from nova_holistic.objectives import load_objective
from nova_holistic.solver.check import check
from nova_holistic.solver.construct.greedy import greedy
from nova_holistic.solver.problem.case import Case
from tests.effort import times
from tests.unit.policies.outside_package import FOUR_RACKS, licensed
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver.test_outsiders import cost, random_case


def first(group, snapshot, placed=None):
    """Return the host names of the members, or None if no plan is found."""
    case = Case.of(group, snapshot, placed or {})
    counts = greedy(case, load_objective('spread'), in_time())
    return counts and {
        path: h.name for path, h in case.placement(counts).items()}


def test_it_keeps_the_policy_of_the_manual(types):
    wanted = licensed(types)
    assert check(wanted, FOUR_RACKS, first(wanted, FOUR_RACKS)) == ()


def test_it_keeps_policies_that_leave_things_unsaid():
    found = 0
    for seed in range(500, 500 + times(80)):
        group, snapshot, placed = random_case(seed)
        where = first(
            group, snapshot.without_servers(placed.values()), placed)
        if where is not None:
            found += 1
            assert cost(group, snapshot, where) is not None, seed
    assert found > times(80) / 3

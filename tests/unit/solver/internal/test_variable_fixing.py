# SPDX-License-Identifier: Apache-2.0
"""One program asked with fewer places, and then with all of them again."""

import pulp

from nova_holistic.model.group import Group
from nova_holistic.objectives import load_objective
from nova_holistic.solver.milp.program import Program
from nova_holistic.solver.problem.case import Case
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time

FOUR = cloud(*(host(f'h{n}') for n in range(4)))
SHOP = group(groups=[Group(f'tier{n}', (servers('node', 2, vcpus=1 + n),))
                     for n in range(3)])
KNOWN = ({0: 2}, {1: 1, 2: 1}, {3: 2})


def program():
    case = Case.of(SHOP, FOUR, {})
    return Program(case, load_objective('fewest-hosts'), in_time())


def bounds(asked):
    return [{h: (v.lowBound, v.upBound) for h, v in row.items()}
            for row in asked.x]


def test_confine_fixes_all_classes_but_the_free_ones():
    asked = program()
    before = bounds(asked)
    asked.fix_all_but({1}, KNOWN)
    for c, row in enumerate(bounds(asked)):
        for h, (lower, upper) in row.items():
            assert lower <= KNOWN[c].get(h, 0) <= upper
            assert c == 1 or lower == upper
    assert bounds(asked)[1] == before[1]
    asked.unfix()
    assert bounds(asked) == before


def test_keep_to_leaves_only_the_given_places():
    asked = program()
    before = bounds(asked)
    kept = {(0, 0), (0, 1), (1, 2), (2, 3)}
    asked.restrict_to(kept)
    assert {(c, h) for c, row in enumerate(bounds(asked))
            for h, (_, upper) in row.items() if upper} == kept
    asked.unfix()
    assert bounds(asked) == before


def test_integers_are_relaxed_only_inside_linear():
    asked = program()
    asked.minimise_cost()

    def whole():
        return [v.name for v in asked.problem.variables()
                if v.cat == pulp.LpInteger]
    before = whole()
    with asked.linear():
        assert before and not whole()
    assert whole() == before

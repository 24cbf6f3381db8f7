# SPDX-License-Identifier: Apache-2.0
"""The work for a plan grows with members plus hosts, not with their product.
"""

import pytest

from nova_holistic.model.plan import Plan
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.unit.solver.clocks import standing
from tests.unit.solver.growth import lines, mixed, product, shop


def test_the_line_counter_detects_a_loop_over_hosts_and_members():
    group, snapshot = shop(8), mixed(30)
    before = lines(lambda: None)
    assert before == 0
    described = [description for scope in group.scopes()
                 for description in scope.group.members]
    # The only lines of the project executed here name each member once.
    assert lines(lambda: [list(description.members(''))
                          for _ in snapshot.hosts
                          for description in described]) > 8 * 30


@pytest.mark.parametrize('objective', [
    'fewest-hosts', 'stack', 'spread'])
def test_solving_has_no_loop_over_hosts_times_members(objective):
    def planned(wanted, snapshot):
        answers = []
        found = lines(lambda: answers.append(solve(
            wanted, snapshot, objective=objective,
            settings=Settings('decomposed', time_limit=100, timer=standing))))
        assert isinstance(answers[0], Plan)
        return found

    # Each line of a loop over hosts and members would add 1 to the
    # coefficient.
    assert product(planned, 2000, 100) < 0.25

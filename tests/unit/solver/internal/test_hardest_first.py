# SPDX-License-Identifier: Apache-2.0
"""Members that are hard to place get their hosts first, from a small program.
All other members are placed around them."""

import pytest

from nova_holistic.model.cloud.snapshot import Link
from nova_holistic.model.group import Group
from nova_holistic.objectives import load_objective
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.solver.check import check
from nova_holistic.solver.construct.greedy import greedy, Restarts
from nova_holistic.solver.milp.backend import Outcome, Status
from nova_holistic.solver.milp.highs import HiGHS
from nova_holistic.solver.milp.search import Search
from nova_holistic.solver.problem.case import Case
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time

# The uplinks of three racks are full. All members with traffic must be in the
# last rack, which they fill.
FULL_UPLINKS = cloud(
    *(host(f'r{rack}h{number}', f'r{rack}', vcpus=2 * (rack == 2) + 2)
      for rack in range(3) for number in range(4)),
    *(host(f's{number}', 'spare', vcpus=1) for number in range(14)),
    links=[Link((f'r{rack}',), 1000, 1000) for rack in range(3)])
TIERS = [Group(f'tier{n}', (servers('node', 2),), (),
               (AntiAffinity(),)) for n in range(7)]
SHOP = group(
    groups=[*TIERS, Group('web', (servers('node', 4, vcpus=2),)),
            Group('db', (servers('node', 4, vcpus=2),))],
    relationships=[Bandwidth(level='rack', mbps=10, between=('web', 'db'))])


class Small(HiGHS):
    """A backend that solves only small programs.

    :ivar asked: largest number of variables of a solved program
    """

    asked = 0
    most = 120

    def solve(self, problem, **options):
        size = len(problem.variables())
        if size > self.most:
            return Outcome(Status.NOTHING)
        self.asked = max(self.asked, size)
        return super().solve(problem, **options)


@pytest.fixture
def case():
    return Case.of(SHOP, FULL_UPLINKS, {})


def _search(case, solver):
    search = Search(case, load_objective('spread'), solver, in_time(), 0.01)
    search.run()
    return search


def test_members_with_traffic_are_placed_first_on_full_links(case):
    assert greedy(case, load_objective('spread'), in_time()) is None
    solver = Small()
    best = _search(case, solver).best
    found = {path: each.name for path, each in case.placement(best).items()}
    assert check(SHOP, FULL_UPLINKS, found) == ()
    assert 0 < solver.asked


def test_failed_greedy_attempts_record_the_violated_policy(
        case, monkeypatch):
    """If a policy type is not monotone, greedy construction does not check it
    before all members are placed."""
    monkeypatch.setattr(Bandwidth, 'monotone', False)
    restarts = Restarts(case, in_time())
    greedy(case, load_objective('spread'), in_time(), restarts)
    assert restarts.broken is not None
    where = case.placement(restarts.broken)
    broken = [each.policy.type for each in case.policies
              if each.policy.check(each.scope, where, FULL_UPLINKS).count]
    assert broken == ['bandwidth']

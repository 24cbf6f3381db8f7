# SPDX-License-Identifier: Apache-2.0
"""Clouds with few feasible placements of a group, which simple orderings miss.
"""

from nova_holistic.model.cloud.snapshot import Link
from nova_holistic.model.group import Group
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.location import Location
from nova_holistic.solver.construct.greedy import greedy
from nova_holistic.solver.diagnosis.contradiction import propagated
from nova_holistic.solver.milp.backend import Outcome, Status
from nova_holistic.solver.milp.highs import HiGHS
from nova_holistic.solver.milp.search import Search
from nova_holistic.solver.problem.case import Case
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time

# Racks of two to four hosts, whose uplinks are full.
FULL_UPLINKS = cloud(
    *(host(f'r{rack}h{number}', f'r{rack}', vcpus=2)
      for rack in (1, 2, 3) for number in range(rack + 1)),
    links=[Link((f'r{rack}',), 1000, 1000) for rack in (1, 2, 3)])

# Six servers with traffic. The first rack has too few hosts for them.
TALKING = group(
    groups=[Group('web', (servers('node', 3),), (), (AntiAffinity(),)),
            Group('db', (servers('node', 3),))],
    policies=[Location(path=('r1',), weight=1.0)],
    relationships=[Bandwidth(level='rack', mbps=10, between=('web', 'db'))])


class OnlyAnyPlan(HiGHS):
    """A backend without time for a program that has an objective."""

    def solve(self, problem, **options):
        if problem.objective:
            return Outcome(Status.NOTHING)
        return super().solve(problem, **options)


def test_a_feasible_plan_is_sought_before_the_optimum(monkeypatch):
    # Without this, greedy construction would use the check of bandwidth.
    monkeypatch.setattr(Bandwidth, 'monotone', False)
    deadline = in_time()
    aim = load_objective('spread')
    case = Case.of(TALKING, FULL_UPLINKS, {})
    assert greedy(case, aim, deadline) is None
    search = Search(case, aim, OnlyAnyPlan(), deadline, 0.01)
    search.run()
    racks = {case.table.hosts[h].location
             for here in search.best for h in here}
    assert len(racks) == 1


def test_host_affinity_keeps_only_hosts_with_room_for_the_group():
    snapshot = cloud(*(host(f'h{n:03}', 'r1', vcpus=1 + n % 4)
                       for n in range(400)))
    case = Case.of(group(servers('node', 4), policies=[Affinity()]),
                   snapshot, {})
    contradiction, reduced = propagated(case)
    room = reduced.room
    assert contradiction is None
    assert (case.room > 0).sum() == 400
    assert (room > 0).sum() == 100
    assert set(room[room > 0].tolist()) == {4}

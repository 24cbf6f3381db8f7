# SPDX-License-Identifier: Apache-2.0
"""The incumbent remains available if the time limit ends the phase that found
it."""

import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.plan import Plan
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import SoftAffinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.construct.fallback_plan import FallbackPlan
from nova_holistic.solver.improve import search
from nova_holistic.solver.phases import large
from nova_holistic.solver.problem.deadline import OutOfTime
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.settings import Settings
from nova_holistic.solver import solve
from tests.unit.builders import cloud, group, host, servers

TEN = cloud(*(host(f'h{n}', f'r{n % 2}', vcpus=4) for n in range(10)))
SHOP = group(servers('node', 12), policies=[
    AntiAffinity(max_per_domain=3), SoftAffinity(level='rack', weight=0.1)])


class Clock:
    """A clock that is stopped until ``run_out`` is called."""

    now = 0.0

    def __call__(self):
        return self.now

    def run_out(self, *arguments):
        self.now = 1e9
        raise OutOfTime


def solved(clock, strategy, snapshot=TEN):
    return solve.solve(SHOP, snapshot, objective='fewest-hosts',
                       settings=Settings(strategy, timer=clock))


def test_a_time_out_in_a_step_keeps_the_plan(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(search, 'step', clock.run_out)
    assert isinstance(solved(clock, 'neighbourhoods'), Plan)


def test_a_time_out_after_chosen_hosts_keeps_their_plan(monkeypatch):
    clock, good = Clock(), large._plan_by_relaxations

    def late(*arguments):
        good(*arguments)
        clock.run_out()

    monkeypatch.setattr(large, '_plan_by_relaxations', late)
    monkeypatch.setattr(FallbackPlan, 'construct_after',
                        lambda *arguments: None)
    assert isinstance(solved(clock, 'decomposed'), Plan)


@pytest.mark.parametrize('hosts', [1001, 1400])
def test_a_plan_on_some_hosts_is_kept_if_time_is_too_short_for_all(
        hosts, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(solve, 'propagated', clock.run_out)
    many = cloud(*(host(f'h{n}', f'r{n % 40}', vcpus=4)
                   for n in range(hosts)))
    assert isinstance(solved(clock, 'whole', many), Plan)


def incumbent():
    bound = bind(SHOP, TEN)
    return Incumbent(bound, TEN, {}, load_objective('fewest-hosts'), 0.01)


def spread_over(known, hosts):
    """Return a placement that assigns the members to the first hosts in turn.
    """
    return {m.path: TEN.hosts[n % hosts]
            for n, m in enumerate(known.members)}


def test_only_better_plans_that_pass_the_check_enter():
    known = incumbent()
    assert not known.offer(spread_over(known, 3))
    assert known.where is None
    assert known.offer(spread_over(known, 6))
    assert not known.offer(spread_over(known, 8))
    assert known.offer(spread_over(known, 4))
    assert known.plan_cost[1] == 4


def test_a_bound_counts_as_long_as_preferences_cost_no_more_than_its_limit():
    known = incumbent()
    known.offer(spread_over(known, 6))
    cost = known.plan_cost[0]
    assert cost > 0
    known.prove(3.0, cost)
    known.prove(5.0, 0)
    assert known.bound == 3.0
    known.prove_within(lambda limit: 4.0 if limit >= cost else 5.0)
    assert known.bound == 4.0
    assert known.offer({m.path: TEN.hosts[2 * (n % 4)]
                        for n, m in enumerate(known.members)})
    assert known.plan_cost == (0, 4)
    assert known.bound == 5.0

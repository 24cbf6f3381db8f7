# SPDX-License-Identifier: Apache-2.0
"""Large-neighbourhood search never makes plans worse, and plans satisfy all
policies, whichever neighbourhood is used."""

from dataclasses import replace
import pytest

from nova_holistic.model.plan import Plan
from nova_holistic.policies.affinity import SoftAffinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.solver.construct import greedy
from nova_holistic.solver.improve.neighbourhoods import NEIGHBOURHOODS
from nova_holistic.solver.improve import search
from nova_holistic.solver.improve.settings import Improvement
from nova_holistic.solver.phases import few_places
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.agreement import is_sound
from tests.unit.solver.clocks import standing
from tests.unit.solver.strategies import OBJECTIVES, seeded
from tests.unit.solver import test_oracle_policies
from tests.unit.solver import test_oracle_relationships


def only(*names, failures=4):
    """Return settings of greedy construction with steps of these
    neighbourhoods only."""
    return Settings('neighbourhoods', Improvement(names, failures=failures))


ALL = only(failures=12)


@pytest.fixture
def worths(monkeypatch):
    """Record the cost of each plan before and after its improvement."""
    found = []

    def run(task, settings):
        before = task.known.plan_cost
        search.improve(task, settings)
        found.append((before, task.known.plan_cost))

    monkeypatch.setattr(few_places, 'improve', run)
    return found


@pytest.mark.parametrize('name', NEIGHBOURHOODS)
def test_each_neighbourhood_keeps_all_policies(name, worths):
    for seed in range(6000, 6000 + times(15)):
        is_sound(test_oracle_policies.random_case(seed),
                 OBJECTIVES[seed % 4], settings=only(name))
        is_sound(test_oracle_relationships.random_case(seed),
                 OBJECTIVES[seed % 3], settings=only(name))
    assert worths
    assert all(after <= before for before, after in worths)


def test_plans_are_true_in_the_whole_language(worths):
    for seed in range(81_000, 81_000 + times(80)):
        case = seeded(seed)
        is_sound((*case.read(), case.placed), OBJECTIVES[seed % 4],
                 settings=ALL)
    assert all(after <= before for before, after in worths)
    assert any(after < before for before, after in worths)


def wide():
    """Return hosts with room for eight members each. Greedy construction puts
    one member on each."""
    return cloud(*(host(f'h{n:02}', f'r{n % 4}', vcpus=8)
                   for n in range(24)))


def shop(*policies):
    return group(groups=[
        group(servers('node', 16), name='web', policies=policies),
        group(servers('node', 16), name='db')],
        relationships=[RelationshipAntiAffinity(
            level='host', between=('web', 'db'))])


def improved(wanted, objective, **limits):
    answer = solve(
        wanted, wide(), objective=objective,
        settings=Settings(
            'neighbourhoods', Improvement(**limits), timer=standing))
    assert isinstance(answer, Plan)
    return answer


def test_a_bad_greedy_start_is_improved_to_the_optimum(
        worths, monkeypatch):
    monkeypatch.setattr(greedy, 'ORDERINGS', greedy.ORDERINGS[:1])
    answer = improved(shop(), 'fewest-hosts', failures=15, share=1.0,
                      seconds=3.0)
    # Each side has sixteen members, a host has room for eight, and no host
    # holds both sides.
    assert answer.objective.value == 4
    (_, before), (_, after) = worths[0]
    assert before > 2 * after


def test_preferences_that_the_start_does_not_meet_are_met(worths):
    # Greedy construction starts on the emptiest host, which is alone in its
    # rack.
    snapshot = cloud(host('h0', 'r0', vcpus=8), *(
        host(f'h{n}', f'r{1 + n % 2}', vcpus=8) for n in range(1, 9)))
    answer = solve(
        group(servers('node', 16),
              policies=[SoftAffinity(level='rack', weight=2.0)]),
        snapshot, objective='fewest-hosts',
        settings=replace(ALL, timer=standing))
    assert [p.violations for p in answer.preferences] == [0]
    (before, _), (after, _) = worths[0]
    assert before > 0 == after


def test_the_same_seed_takes_the_same_steps(monkeypatch):
    steps = []
    step = search.step

    def noting(plan, part, tools):
        outcome = step(plan, part, tools)
        steps.append((sorted(part.freed), part.hosts.tolist(), outcome))
        return outcome

    monkeypatch.setattr(search, 'step', noting)
    wanted = shop(AntiAffinity(max_per_domain=3))
    known = []
    for seed in (1, 1, 2):
        steps.clear()
        # The programs are so small that none reaches a time limit.
        improved(wanted, 'fewest-hosts', seed=seed, failures=6, members=2,
                 growth=1.0, hosts=3, used_hosts=3, share=1.0, seconds=60.0,
                 neighbourhoods=(*NEIGHBOURHOODS,))
        known.append([*steps])
    assert known[0] == known[1] != known[2]


def test_a_plan_that_is_good_enough_is_not_improved(monkeypatch):
    monkeypatch.setattr(search, 'step', None)
    answer = solve(group(servers('node', 12)), wide(),
                   settings=Settings(timer=standing))
    assert answer.objective.gap == 0


@pytest.mark.parametrize('name', NEIGHBOURHOODS)
def test_members_that_stay_are_not_moved(name):
    wanted = shop(SoftAffinity(level='rack', weight=1.0))
    fixed = {m.path: f'h{n:02}' for n, m in enumerate(wanted.all_members())
             if m.path.startswith('web/')}
    answer = solve(wanted, wide(), placed=fixed, objective='fewest-hosts',
                   settings=replace(only(name), timer=standing))
    assert {path: answer.hosts()[path] for path in fixed} == fixed


def test_an_unknown_neighbourhood_is_refused_and_the_known_ones_are_named():
    with pytest.raises(ValueError, match='nearest') as raised:
        only('nearest')
    assert all(name in str(raised.value) for name in NEIGHBOURHOODS)

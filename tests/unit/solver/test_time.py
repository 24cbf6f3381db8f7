# SPDX-License-Identifier: Apache-2.0
"""The solver keeps its time limit, and its answer then claims only proved
facts."""

from fractions import Fraction
import itertools

import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.plan import Plan, Unknown
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.check import check
from nova_holistic.solver.settings import Improvement, Settings
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, servers, two_racks
from tests.unit.solver.clocks import advancing, standing, Stopping


def test_without_any_time_the_answer_is_unknown():
    answer = solve(group(servers('db', 2)), two_racks(),
                   settings=Settings(time_limit=1.0, timer=advancing(2.0)))
    assert isinstance(answer, Unknown)
    assert '1 s' in answer.message


@pytest.mark.parametrize('solver', ['highs', 'cbc'])
def test_a_plan_found_in_time_is_returned_without_a_proof(solver):
    snapshot = two_racks()
    wanted = group(servers('db', 2), policies=[AntiAffinity(level='rack')])
    # Use the smallest number of readings with which the answer is a plan.
    answer = next(answer for looks in itertools.count(1) if isinstance(
        answer := solve(
            wanted, snapshot,
            settings=Settings(
                time_limit=10.0, solver=solver, timer=Stopping(looks))), Plan))
    assert check(wanted, snapshot, answer.hosts()) == ()
    assert 0 <= answer.objective.bound <= answer.objective.value


def test_a_counting_proof_needs_no_solver():
    wanted = group(servers('db', 3), policies=[AntiAffinity(level='rack')])
    answer = solve(wanted, two_racks(),
                   settings=Settings(time_limit=1e-9, timer=standing))
    assert answer.reasons[0].message.startswith(
        'anti-affinity rack needs 3 racks')


def _loaded(hosts):
    return cloud(*(host(f'h{n:03}', f'r{n % (hosts // 20):02}', inventories={
        'VCPU': Inventory(64, allocation_ratio=4.0, used=n * 37 % 200),
        'MEMORY_MB': Inventory(524288, used=n * 7919 % 400000)})
        for n in range(hosts)))


def _tiers(kinds, count):
    return group(groups=[
        group(servers('node', count, vcpus=2 + kind), name=f'g{kind}',
              policies=[AntiAffinity(), AntiAffinity(
                  level='rack', max_per_domain=Fraction(25, 100))])
        for kind in range(kinds)])


@pytest.mark.parametrize('objective', ['spread', 'stack', 'fewest-hosts'])
def test_two_hundred_members_are_planned_on_five_hundred_hosts(objective):
    snapshot, wanted = _loaded(500), _tiers(10, 20)
    # Few steps search for better plans.
    answer = solve(wanted, snapshot, objective=objective, settings=Settings(
        time_limit=1, timer=standing, improvement=Improvement(failures=5)))
    assert isinstance(answer, Plan)
    assert len(answer.placements) == 200
    assert check(wanted, snapshot, answer.hosts()) == ()
    assert answer.objective.bound <= answer.objective.value
    # The 20 members of a tier are on different hosts.
    assert len(set(answer.hosts().values())) >= 20


def test_all_different_members_are_planned_with_a_valid_bound():
    snapshot = _loaded(120)
    wanted = group(*(servers(f'm{n}', vcpus=1 + n) for n in range(180)),
                   policies=[AntiAffinity(max_per_domain=3)])
    # The first plan needs no backend. Few steps search for better plans.
    answer = solve(
        wanted, snapshot, objective='fewest-hosts', settings=Settings(
            time_limit=0.25, timer=standing,
            improvement=Improvement(failures=5)))
    assert isinstance(answer, Plan)
    assert check(wanted, snapshot, answer.hosts()) == ()
    # With three members a host, no plan uses fewer than 60 hosts.
    assert answer.objective.value >= answer.objective.bound
    assert answer.objective.value >= 60

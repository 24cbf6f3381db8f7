# SPDX-License-Identifier: Apache-2.0
"""The bound of hosts with room for all members does not exceed the value of
any plan."""

from collections import Counter
import contextlib
import random

import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.decomposition import cells
from nova_holistic.solver.phases import better_plan, chosen_hosts
from nova_holistic.solver.phases.host_cover import cover_members
from nova_holistic.solver.problem.deadline import OutOfTime
from nova_holistic.solver.settings import Settings
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.clocks import standing
from tests.unit.solver.internal.proved_bounds import unlimited_bound
from tests.unit.solver import oracle
from tests.unit.solver.scenario import plan
from tests.unit.solver import test_oracle_policies
from tests.unit.solver import test_oracle_relationships

OBJECTIVES = ('stack', 'fewest-hosts')
UNITS = (1, 7, 10 ** 3, 10 ** 9)
WEIGHTS = (1e-6, 0.1, 1.0, 1e6)


def _bound(*problem):
    """Return the bound that ``cover_members`` proves."""
    return unlimited_bound(cover_members, *problem)


def _values(wanted, snapshot, placed, objective):
    """Return the objective values of all plans."""
    return [oracle.value(objective, wanted, snapshot, placed, where)
            for where in oracle.placements(wanted, snapshot, placed)
            if oracle.violations(wanted, snapshot, placed, where) is not None]


def _member(name, vcpus, memory):
    return MemberDescription(name, Requirements(FrozenMapping({
        'VCPU': vcpus, 'MEMORY_MB': memory})))


def _loaded_host(chance, name, unit):
    vcpus, memory = chance.randint(4, 16), chance.randint(8, 40)
    return host(name, chance.choice(('r1', 'r2')), inventories={
        'VCPU': Inventory(vcpus, used=chance.randint(0, vcpus)),
        'MEMORY_MB': Inventory(
            memory * unit, used=chance.randint(0, memory) * unit)})


def _different(seed):
    """Return members that all differ, loaded hosts of different sizes, and
    members that stay."""
    chance = random.Random(seed)
    unit = chance.choice(UNITS)
    snapshot = cloud(*(_loaded_host(chance, f'h{number}', unit)
                       for number in range(chance.randint(2, 4))))
    members = [_member(f'm{number}', chance.randint(1, 5),
                       chance.randint(1, 10) * unit)
               for number in range(chance.randint(2, 4))]
    policies = [
        AntiAffinity(max_per_domain=chance.choice((1, 2, 3))),
        AntiAffinity(level='rack', weight=chance.choice(WEIGHTS)),
        AntiAffinity(max_per_domain=2, weight=chance.choice(WEIGHTS))]
    placed = {'m0': 'h0'} if chance.random() < 0.2 else {}
    return group(*members, policies=chance.sample(
        policies, chance.randint(0, 2))), snapshot, placed


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_no_plan_of_different_members_is_below_the_bound(objective):
    found = Counter()
    for seed in range(times(1500)):
        case = _different(seed)
        values = _values(*case, objective)
        if not values:
            continue
        bound = _bound(*case, objective)
        least = min(values)
        assert bound <= least + 1e-9 * max(1.0, least), seed
        found['plans'] += 1
        found['close'] += bound >= 0.8 * least > 0
    assert found['plans'] >= times(1500) / 4
    assert found['close'] > found['plans'] / 5


@pytest.mark.parametrize('objective', OBJECTIVES)
@pytest.mark.parametrize('cases', [
    test_oracle_policies, test_oracle_relationships])
def test_no_plan_with_policies_is_below_the_bound(cases, objective):
    proved, number = 0, times(150)
    for seed in range(20_000, 20_000 + number):
        case = cases.random_case(seed)
        values = _values(*case, objective)
        bound = _bound(*case, objective)
        assert bound <= min(values, default=float('inf')) + 1e-9, seed
        proved += bound > 0
    assert proved > number / 3


def test_each_host_counts_with_its_own_cost_and_capacity():
    """Six members request 12 VCPUs together. One host has 8 of 16 VCPUs free
    and costs a half; each of the others has room for all members and costs 1.
    A third of such a host has room for the remaining four VCPUs."""
    wanted = group(servers('a', vcpus=1), servers('b', 4, vcpus=2),
                   servers('c', vcpus=3))
    snapshot = cloud(host('half', 'r', inventories={
        'VCPU': Inventory(16, used=8)}), *(
            host(f'h{number}', 'r') for number in range(5)))
    assert _bound(wanted, snapshot, {}, 'stack') == pytest.approx(
        1 / 2 + 1 / 3)


def test_the_bound_of_capacity_does_not_wait_for_the_count(monkeypatch):
    """Two hosts have room for 32 VCPUs. The time ends while the hosts are
    counted that all policies need."""
    def late(*_):
        raise OutOfTime

    def until_late(*problem):
        with contextlib.suppress(OutOfTime):
            cover_members(*problem)

    monkeypatch.setattr(cells, 'counted_hosts', late)
    wanted = group(servers('m', 8, vcpus=4))
    snapshot = cloud(*(host(f'h{number}', 'r') for number in range(5)))
    assert unlimited_bound(
        until_late, wanted, snapshot, {}, 'stack') == pytest.approx(2)


def test_a_limit_of_members_leaves_capacity_unused():
    """At most two members of at most 4 VCPUs are on a host of 16 VCPUs. Their
    limit requires three hosts for six members."""
    wanted = group(*(servers(f'm{n}', 2, vcpus=n) for n in (2, 3, 4)),
                   policies=[AntiAffinity(max_per_domain=2)])
    snapshot = cloud(*(host(f'h{number}', 'r') for number in range(5)))
    assert _bound(wanted, snapshot, {}, 'stack') == pytest.approx(3)


def test_the_host_of_a_member_that_stays_costs_the_same_in_all_plans():
    """The host with the member that stays has room for all other members."""
    wanted = group(servers('m', 3, vcpus=2))
    snapshot = cloud(host('h0', 'r', servers=1, inventories={
        'VCPU': Inventory(16, used=8)}), host('h1', 'r'))
    bound = _bound(wanted, snapshot, {'m-0': 'h0'}, 'stack')
    assert bound == pytest.approx(0.5)


def test_many_different_members_need_no_other_relaxation(monkeypatch):
    """All 160 members differ. Each host has room for one of them at most, and
    no other relaxation proves a bound in time."""
    def late(*arguments, **options):
        raise OutOfTime

    for phases in chosen_hosts, better_plan:
        monkeypatch.setattr(phases, 'relax', late)
    snapshot = cloud(*(host(f'h{number}', f'r{number % 8}', inventories={
        'VCPU': Inventory(1), 'MEMORY_MB': Inventory(1000)})
        for number in range(200)))
    wanted = group(*(_member(f'm{n}', 1, 500 + n) for n in range(160)))
    found = plan(snapshot, wanted, objective='stack',
                 settings=Settings(timer=standing)).objective
    assert found.value == pytest.approx(160)
    assert found.bound == pytest.approx(160, rel=1e-5)

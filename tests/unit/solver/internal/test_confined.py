# SPDX-License-Identifier: Apache-2.0
"""Bounds and plans of groups whose policies keep sets of members in one domain
each."""

from collections import Counter
import random

import numpy as np
import pulp
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity, SoftAffinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.confined.set_plans import plan_by_sets
from nova_holistic.solver.confined.set_program import SetProgram
from nova_holistic.solver.construct.first_plan import first_plan
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.settings import Settings
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.clocks import standing
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver.internal.limited import limited
from tests.unit.solver import oracle
from tests.unit.solver.scenario import plan
from tests.unit.solver import test_oracle_policies
from tests.unit.solver.test_shared_providers import diskless, member, storage

OBJECTIVES = ('spread', 'stack', 'fewest-hosts')


def _set(chance, number):
    """Return a set of one to three members in one rack or zone."""
    policies = [chance.choice((Affinity, Affinity, Affinity, SoftAffinity))(
        level=chance.choice(('rack', 'rack', 'rack', 'az')))]
    if chance.random() < 0.3:
        policies.append(AntiAffinity(max_per_domain=chance.choice((1, 1, 2))))
    return group(*(servers(f'm{n}', chance.choice((1, 1, 2)),
                           vcpus=chance.choice((1, 1, 2)))
                   for n in range(chance.choice((1, 1, 2)))),
                 name=f's{number}', policies=policies)


def _random_case(seed):
    """Return a group of several sets, a cloud of several racks and perhaps a
    host in no rack, and members that stay."""
    chance = random.Random(seed)
    snapshot = cloud(*(host(
        f'h{n}', f'z{n % 3 % 2}',
        *([f'r{n % 3}'] if n or chance.random() < 0.8 else []),
        inventories={'VCPU': Inventory(chance.choice((4, 5, 6, 8)),
                                       used=chance.choice((0, 1, 2, 4)))})
        for n in range(chance.choice((4, 5, 5)))),
        levels=('az', 'rack', 'host'))
    wanted = group(
        *(servers(f'o{n}') for n in range(chance.choice((0, 0, 1)))),
        groups=[_set(chance, n) for n in range(chance.choice((1, 2, 2, 3)))],
        policies=chance.choice((
            [], [], [], [AntiAffinity(level='rack', max_per_domain=3)],
            [AntiAffinity(max_per_domain=2)],
            [Spread(level='rack', max_skew=2)])))
    return wanted, snapshot, {
        m.path: chance.choice(snapshot.hosts).name
        for m in wanted.all_members() if chance.random() < 0.05}


def _solved(wanted, snapshot, placed, objective):
    """Return the incumbent after the phase."""
    reduced = snapshot.without_servers(placed.values())
    bound = bind(wanted, reduced)
    known = Incumbent(bound, reduced, placed,
                      load_objective(objective).for_group(bound), 1e-4)
    first_plan(known, in_time())
    plan_by_sets(known, in_time())
    return known


@pytest.mark.parametrize('make', [
    _random_case, test_oracle_policies.random_case])
def test_no_plan_is_below_the_bounds(make):
    """The comparison enumerates all plans. The bounds hold for few kinds of
    members as well."""
    found, number = Counter(), times(150)
    for seed in range(number):
        case = make(seed)
        if len(case[0].all_members()) > 5:
            continue
        plans = [(cost, where) for where in oracle.placements(*case)
                 if (cost := oracle.violations(*case, where)) is not None]
        for objective in OBJECTIVES if plans else ():
            values = [(cost, oracle.value(objective, *case, where))
                      for cost, where in plans]
            for kinds in (6,), (1,):
                with limited('confined', kinds=kinds):
                    known = _solved(*case, objective)
                cost, value = min(values)
                assert known.plan_cost >= (cost, value - 1e-9), seed
                for bound, limit in known._bounds._known:
                    least = min((value for cost, value in values
                                 if cost <= limit), default=float('inf'))
                    assert bound <= least + 1e-7 * max(1.0, least), seed
                    found['bounds'] += 1
                    found['close'] += bound >= 0.99 * least
    assert found['bounds'] > number / 10
    assert found['close'] > found['bounds'] / 4


RACKS, PER_RACK, TOTAL = 12, 10, 40


def _free(number):
    """Return the free VCPUs of a host; few hosts have room for two members of
    four VCPUs."""
    return (4, 3, 9, 4, 7, 3, 5, 11, 4, 6, 3)[7 * number % 11]


def _cloud():
    return cloud(*(host(f'h{n}', f'r{n % RACKS}', inventories={
        'VCPU': Inventory(TOTAL, used=TOTAL - _free(n))})
        for n in range(RACKS * PER_RACK)))


def _sets(sizes, policy):
    """Return a group of sets in one rack each.

    :param sizes: number of members of a set to the number of such sets
    """
    return group(groups=[group(
        servers('m', size, vcpus=4), name=f's{size}-{n}', policies=[policy])
        for size, number in sizes.items() for n in range(number)])


def _least_cost(sizes, cost):
    """Return the cost of the best plan, by a program of all hosts that counts
    the sets of each rack.

    :param cost: a function from the free VCPUs of a host to its cost
    """
    program = pulp.LpProblem()
    hosts, racks = range(RACKS * PER_RACK), range(RACKS)
    used = [pulp.LpVariable(f'u{n}', cat='Binary') for n in hosts]
    held = [pulp.LpVariable(f'n{n}', 0, cat='Integer') for n in hosts]
    sets = {size: [pulp.LpVariable(f's{size}-{n}', 0, cat='Integer')
                   for n in racks] for size in sizes}
    program += pulp.lpSum(cost(_free(n)) * used[n] for n in hosts)
    for n in hosts:
        program += held[n] <= _free(n) // 4 * used[n]
    for rack in racks:
        program += pulp.lpSum(
            size * sets[size][rack] for size in sizes) == pulp.lpSum(
                held[n] for n in hosts if n % RACKS == rack)
    for size, number in sizes.items():
        program += pulp.lpSum(sets[size]) == number
    program.solve(pulp.HiGHS(msg=False, threads=1))
    assert pulp.LpStatus[program.status] == 'Optimal'
    return pulp.value(program.objective)


@pytest.mark.parametrize('sizes', [
    {2: 16}, {3: 16}, {4: 16}, {1: 6, 2: 8, 3: 5}])
@pytest.mark.parametrize('objective, cost', [
    ('stack', lambda free: free / TOTAL), ('fewest-hosts', lambda free: 1)])
def test_sets_in_racks_have_the_best_plan(sizes, objective, cost):
    """Fractions of the sets would use the fullest hosts of all racks, and the
    hosts with room for two members."""
    found = plan(_cloud(), _sets(sizes, Affinity(level='rack')),
                 objective=objective,
                 settings=Settings(gap=1e-4, timer=standing)).objective
    least = _least_cost(sizes, cost)
    assert found.bound <= least * (1 + 1e-6)
    assert found.value == pytest.approx(least, rel=1e-3)
    assert found.gap <= 1e-3


def test_members_of_a_set_are_on_different_hosts():
    """Each host has room for all six members, but not for two members of one
    pair."""
    snapshot = cloud(*(host(f'h{n}', f'r{n % 3}', vcpus=8)
                       for n in range(12)))
    wanted = group(groups=[group(
        servers('m', 2), name=f's{n}',
        policies=[Affinity(level='rack'), AntiAffinity()])
        for n in range(3)])
    known = _solved(wanted, snapshot, {}, 'fewest-hosts')
    assert known.plan_cost[1] == 2
    assert known.bound == pytest.approx(2)


def test_a_pair_that_is_alone_in_its_rack_needs_two_hosts():
    """Each host has room for all six members, and each rack takes one pair."""
    snapshot = cloud(*(host(f'h{n}', f'r{n % 4}', vcpus=8)
                       for n in range(12)))
    wanted = group(
        policies=[AntiAffinity(level='rack', max_per_domain=2)],
        groups=[group(servers('m', 2), name=f's{n}',
                      policies=[Affinity(level='rack'), AntiAffinity()])
                for n in range(3)])
    known = _solved(wanted, snapshot, {}, 'fewest-hosts')
    assert known.plan_cost[1] == 6
    assert known.bound == pytest.approx(6)


def test_a_limit_of_several_racks_holds_for_the_bound():
    """Two racks of one zone have hosts that cost 0.25, with room for one
    member each. The zone takes two of three pairs. A host of the other zone
    costs 1 and has room for a pair."""
    snapshot = cloud(*(host(
        f'r{rack}h{n}', f'z{rack // 2}', f'r{rack}',
        inventories={'VCPU': Inventory(8) if rack == 2
                     else Inventory(16, used=12)})
        for rack in range(3) for n in range(4)),
        levels=('az', 'rack', 'host'))
    wanted = group(policies=[AntiAffinity(level='az', max_per_domain=4)],
                   groups=[group(servers('m', 2, vcpus=4), name=f's{n}',
                                 policies=[Affinity(level='rack')])
                           for n in range(3)])
    known = _solved(wanted, snapshot, {}, 'stack')
    assert known.plan_cost[1] == pytest.approx(2)
    assert known.bound == pytest.approx(2)


def test_equal_racks_have_their_own_limits():
    """Each rack takes one of four pairs."""
    snapshot = cloud(*(host(f'h{n}', f'r{n % 6}') for n in range(24)))
    wanted = group(policies=[AntiAffinity(level='rack', max_per_domain=2)],
                   groups=[group(servers('m', 2), name=f's{n}', policies=[
                       Affinity(level='rack')]) for n in range(4)])
    known = _solved(wanted, snapshot, {}, 'fewest-hosts')
    assert known.plan_cost[1] == 4
    assert known.bound == pytest.approx(4)


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_the_storage_of_a_rack_limits_its_sets(objective):
    """The rack with the emptiest hosts has a storage for one pair only."""
    shares = [storage(f'nfs{n}', 100, used=used)
              for n, used in enumerate((60, 20, 20, 20))]
    snapshot = cloud(*(diskless(
        f'r{rack}h{n}', shares[rack], rack=f'r{rack}',
        vcpus=64 if rack == 0 else 8) for rack in range(4)
        for n in range(6)))
    wanted = group(groups=[group(
        member('m', 20, 2), name=f's{n}', policies=[Affinity(level='rack')])
        for n in range(6)])
    found = plan(snapshot, wanted, objective=objective,
                 settings=Settings(timer=standing))
    assert max(found.racks()) <= 4
    assert found.objective.gap <= 0.01


def test_sets_that_prefer_one_rack_have_a_bound():
    """Each pair can be in one rack, so the preferences cost nothing."""
    found = plan(_cloud(), _sets({2: 8}, SoftAffinity(level='rack')),
                 objective='stack',
                 settings=Settings(gap=1e-4, timer=standing))
    assert found.answer.preference_cost.value == 0
    assert found.objective.value == pytest.approx(
        _least_cost({2: 8}, lambda free: free / TOTAL), rel=1e-3)
    assert found.objective.gap <= 1e-3


def _cost(program, division):
    """Return the cost of a division; None without a division."""
    return None if division is None else round(sum(
        number * program.costs.costs[each, choice]
        for each, choice, number in division), 9)


@pytest.mark.parametrize('price', [2, 20])
def test_prices_that_prove_nothing_exclude_no_column(price, monkeypatch):
    """The sum of the gains of all domains is larger than the value of all
    sets, so the bound of these prices is negative."""
    found = []

    def divide(program):
        types = len(program.costs.sets.numbers)
        duals = np.zeros(types + len(program.costs.classes)
                         + len(program.limits.most))
        program._price(duals)
        program._reduced = np.zeros_like(program.costs.costs)
        best = _cost(program, original(program))
        duals[:types] = price * program.value
        again = SetProgram(program.costs, program.limits, program.value,
                           program.deadline)
        again._price(duals)
        found.append((best, _cost(again, original(again))))

    original = SetProgram.divide
    monkeypatch.setattr(SetProgram, 'relax', lambda program: None)
    monkeypatch.setattr(SetProgram, 'divide', divide)
    for seed in range(30):
        _solved(*_random_case(seed), 'stack')
    assert sum(best is not None for best, _ in found) > 5
    assert [best for best, _ in found] == [cost for _, cost in found]

# SPDX-License-Identifier: Apache-2.0
"""Column generation with patterns of members on hosts: the best pattern, and
valid bounds."""

import functools
import itertools
import random

import numpy as np
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.objective import HostCost
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.column_generation.generation import ColumnGeneration
from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.column_generation.pattern_placement import (
    is_applicable, place_patterns)
from nova_holistic.solver.column_generation import pricing
from nova_holistic.solver.decomposition.aggregation import HostAggregation
from nova_holistic.solver.decomposition.cells import cells
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.kinds import Kinds
from tests.effort import times
from tests.unit import builders
from tests.unit.solver import oracle
from tests.unit.solver.test_oracle import OBJECTIVES, random_case


def _deadline():
    return Deadline(itertools.repeat(0.0).__next__, 10.0)


def _generation(group, snapshot, objective, placed=FrozenMapping()):
    """Return the column generation of a case before its first round. Return
    None if patterns are not applicable, or if the case is known to have no
    plan."""
    snapshot = snapshot.without_servers(placed.values())
    host_cost = load_objective(objective).host_cost()
    kinds = Kinds.of(bind(group, snapshot), snapshot, placed)
    if not kinds.kinds:
        return None
    rules = cells(kinds, lambda: None)
    aggregation = HostAggregation(kinds, rules, host_cost, _deadline())
    if not len(aggregation.columns.hosts) or (
            not is_applicable(kinds, host_cost, rules, aggregation.columns)):
        return None
    aggregation.run(2)
    if aggregation.impossible or aggregation.bound is None:
        return None
    return kinds, rules, aggregation, ColumnGeneration(
        kinds, rules, host_cost, aggregation, _deadline())


def test_prices_that_are_too_high_prove_a_bound():
    """Each host holds two of five members and costs 1. At four times the best
    price, all hosts have a gain, and the bound would be below 0. A part of
    these prices proves that the members need two and a half hosts."""
    _, _, _, generation = _generation(
        builders.group(builders.servers('m', 5, vcpus=2)),
        builders.cloud(*(builders.host(f'h{n}', 'r1', inventories={
            'VCPU': Inventory(4)}) for n in range(9))), 'fewest-hosts')
    generation.only_bounds = True
    generation.floor, duals = 0.0, np.zeros(generation.master.rows)
    duals[0] = 2.0
    assert generation._raises_bound(duals, *generation._gains(duals))
    assert 2.5 - 1e-6 <= generation.bound <= 2.5


def _hosts(chance, number):
    """Return hosts with capacities from a few units to 10^9, some of them in
    use."""
    def inventories():
        yield 'VCPU', Inventory(
            chance.choice((2, 4, 8)), used=chance.choice((0, 0, 1)),
            allocation_ratio=chance.choice((16.0, 0.9, 1.0)))
        yield 'MEMORY_MB', Inventory(
            chance.choice((10**9, 999_999_999, 7 * 10**8)),
            reserved=chance.choice((0, 1)),
            used=chance.choice((0, 1, 3 * 10**8)))

    return [builders.host(f'h{n}', chance.choice(('az1', 'az2')), 'r1',
                          inventories=dict(inventories()))
            for n in range(number)]


def _wide_case(seed):
    """Return a group of members with small and very large amounts, a cloud of
    such hosts, and placed members."""
    chance = random.Random(seed)
    snapshot = builders.cloud(*_hosts(chance, chance.randint(2, 4)),
                              levels=('az', 'rack', 'host'))
    asked = [(chance.randint(1, 3), chance.choice(
        (1, 10**8, 333_333_333, 5 * 10**8))) for _ in range(2)]
    rules = {0: [], 1: [AntiAffinity(max_per_domain=2)],
             2: [Spread(level='az', max_skew=1)],
             3: [Affinity(level='az')]}[chance.randrange(4)]
    group = builders.group(*(MemberDescription(
        name, Requirements(FrozenMapping(zip(('VCPU', 'MEMORY_MB'), each))),
        number) for name, each, number in zip(
            ('small', 'large'), asked, (chance.randint(1, 3), 2))),
        policies=rules)
    placed = {m.path: chance.choice(snapshot.hosts).name
              for m in group.all_members() if chance.random() < 0.15}
    return group, snapshot, placed


@functools.cache
def _best_plans(cases, seed):
    """Return the placements of a random case with the least violations. The
    tests of all objectives need them, one test after another."""
    case = cases(seed)
    least, found = None, []
    for where in oracle.placements(*case):
        cost = oracle.violations(*case, where)
        if cost is None or found and cost > least:
            continue
        if cost != least:
            least, found = cost, []
        found.append(where)
    return found


def _bounds(cases, seed, objective):
    """Return (bound of merged hosts, bound of patterns, optimum), or None if
    no plan exists."""
    case = cases(seed)
    found = _generation(*case[:2], objective, case[2])
    plans = _best_plans(cases, seed)
    if found is None or not plans:
        return None
    best = min(oracle.value(objective, *case, where) for where in plans)
    _, rules, aggregation, generation = found
    generation.run(load_objective(objective).integral)
    # The best preferences may exclude the cheapest plan. The bound holds for
    # all plans.
    return aggregation.bound, generation.bound, best


@pytest.mark.parametrize('objective', OBJECTIVES)
@pytest.mark.parametrize('cases', [random_case, _wide_case])
def test_the_bound_of_patterns_is_valid(cases, objective):
    """The bound is better than the bound of merged hosts in some cases."""
    # Fewer cases contain no better bound.
    number = max(300, times(300))
    found = [each for seed in range(9000, 9000 + number)
             if (each := _bounds(cases, seed, objective))]
    assert len(found) > number / 10
    for _, bound, best in found:
        assert bound <= best + 1e-7 * max(1.0, best)
    assert sum(bound > aggregation + 1e-6 for aggregation, bound,
               _ in found) > 0
    assert sum(best - bound < 1e-6 for _, bound, best in found) > (
        len(found) / 4)


def _room(host_types, sort, kind):
    return range(int(host_types.room[sort, kind]) + 1)


def _best(host_types, sort, prices):
    """Return the gain of the best pattern, by exhaustive search."""
    best = 0.0
    for pattern in itertools.product(
            *(_room(host_types, sort, k) for k in range(len(prices)))):
        taken = np.array(pattern) @ host_types.amounts
        if (taken > host_types.free[sort]).any() or not any(pattern):
            continue
        before = host_types.before[sort]
        added = float(np.array(pattern) @ host_types.steps[sort]) if len(
            host_types.slopes) else 0.0
        cost = host_types.opening[sort] + _curve(
            host_types.slopes, before + added) - _curve(host_types.slopes,
                                                        before)
        best = max(best, float(np.array(pattern) @ prices) - cost)
    return best


def _curve(slopes, share):
    """Return the integral of a step function from 0 to the share."""
    number = len(slopes)
    return sum(slope * min(max(share - n / number, 0.0), 1 / number)
               for n, slope in enumerate(slopes))


def _alike(chance, host_cost):
    snapshot = builders.cloud(*_hosts(chance, 12),
                              levels=('az', 'rack', 'host'))
    group = builders.group(*(MemberDescription(
        f'm{n}', Requirements(FrozenMapping(
            {'VCPU': chance.randint(0, 3), 'MEMORY_MB': chance.choice(
                (0, 1, 10**8, 2 * 10**8, 333_333_333))})),
        chance.randint(1, 4)) for n in range(3)),
        policies=[AntiAffinity(max_per_domain=chance.randint(2, 9))])
    kinds = Kinds.of(bind(group, snapshot), snapshot, {})
    rules = cells(kinds, lambda: None)
    return HostTypes.of(kinds, HostAggregation(kinds, rules, host_cost,
                                               _deadline()).columns,
                        host_cost)


HOST_COSTS = {
    'spread': load_objective('spread').host_cost(),
    'stack': load_objective('stack').host_cost(),
    'fewest-hosts': load_objective('fewest-hosts').host_cost(),
    'steep, with an opening cost': HostCost(
        lambda free: free * 3, (0.0, 0.0, 1.0, 9.0)),
}


@pytest.mark.parametrize('host_cost', HOST_COSTS.values(), ids=HOST_COSTS)
def test_the_best_pattern_of_each_host_is_found(host_cost):
    for seed in range(times(40)):
        chance = random.Random(seed)
        host_types = _alike(chance, host_cost)
        ask = pricing.Pricing(host_types)
        for _ in range(3):
            # Price vectors in sequence, in the range of the costs of the
            # hosts.
            prices = np.array([[chance.uniform(-0.2, 1.0)] * (
                int(host_types.cell.max()) + 1) for _ in host_types.amounts])
            gains = ask(prices)
            for sort in range(len(host_types)):
                best = _best(host_types, sort, prices[:, 0])
                assert gains.known[sort] == pytest.approx(best, abs=1e-9)
                assert gains.most[sort] >= best - 1e-12


@pytest.mark.parametrize('host_cost', HOST_COSTS.values(), ids=HOST_COSTS)
@pytest.mark.parametrize('readings', (0, 1, 2))
def test_pricing_ends_with_the_time_and_its_bounds_are_valid(
        host_cost, readings):
    """After the time has ended, nothing is built and no timer is read."""
    host_types = _alike(random.Random(5), host_cost)
    prices = np.array([[0.7], [0.5], [0.9]]).repeat(
        int(host_types.cell.max()) + 1, axis=1)
    left = [True] * readings + [False]
    ask = pricing.Pricing(host_types, lambda: left.pop(0))
    gains = ask(prices)
    assert not left
    most = [_best(host_types, sort, prices[:, 0])
            for sort in range(len(host_types))]
    assert (gains.most >= np.array(most) - 1e-12).all()
    assert (gains.known <= np.array(most) + 1e-12).all()
    in_time = pricing.Pricing(host_types)
    in_time(prices)
    assert ask.evaluated_patterns < in_time.evaluated_patterns


@pytest.mark.parametrize('host_cost', HOST_COSTS.values(), ids=HOST_COSTS)
def test_an_unfinished_pricing_gives_valid_upper_bounds(
        host_cost, set_limits):
    set_limits('column_generation', partial_patterns=3)
    chance = random.Random(5)
    host_types = _alike(chance, host_cost)
    prices = np.array([[0.7], [0.5], [0.9]]).repeat(
        int(host_types.cell.max()) + 1, axis=1)
    gains = pricing.Pricing(host_types)(prices)
    most = [_best(host_types, sort, prices[:, 0])
            for sort in range(len(host_types))]
    assert (gains.most >= np.array(most) - 1e-12).all()
    assert (gains.known <= np.array(most) + 1e-12).all()
    assert (gains.known < np.array(most) - 1e-6).any(), 'nothing was left'


def _fleet(number):
    """Return hosts of many degrees of usage, in racks of 40 in three zones."""
    return builders.cloud(*(builders.host(
        f'h{n}', f'az{n % 3}', f'r{n // 40}', inventories={
            'VCPU': Inventory(64, used=n % 61),
            'MEMORY_MB': Inventory(512, used=n % 13 * 30)})
        for n in range(number)), levels=('az', 'rack', 'host'))


def _shop(number):
    return builders.group(*(MemberDescription(
        f'm{n}', Requirements(FrozenMapping(
            {'VCPU': n, 'MEMORY_MB': 2 ** n})), number // 4)
        for n in range(1, 5)), policies=[Spread(level='az', max_skew=4)])


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_the_number_of_patterns_does_not_grow_with_the_hosts(objective):
    """The number depends on the members and on the number of types of hosts,
    not on the number of hosts."""
    looked_at, sizes = [], []
    for hosts in (3000, 12_000):
        kinds, rules, _, generation = _generation(
            _shop(120), _fleet(hosts), objective)
        assert generation.run(load_objective(objective).integral)
        taken, _ = place_patterns(
            kinds, rules, generation, 0.01, False, float('inf'))
        assert taken.sum() == 120
        looked_at.append(generation.pricing.evaluated_patterns)
        sizes.append(len(generation.master.types))
    assert looked_at[1] < 2 * looked_at[0] + 2000
    assert sizes[1] < 2 * sizes[0] + 50


def test_equal_hosts_are_one_row_of_the_master():
    hosts = builders.cloud(*(builders.host(f'h{n}', f'r{n // 40}')
                             for n in range(2000)))
    found = _generation(
        builders.group(builders.servers('web', 64),
                       builders.servers('db', 16, vcpus=4)),
        hosts, 'fewest-hosts')
    kinds, rules, _, generation = found
    assert generation.run(True)
    # 64 + 4 x 16 VCPUs on hosts with 16 VCPUs each.
    assert generation.bound == pytest.approx(8)
    assert len(generation.host_types) == 1
    # A row for each of the two kinds in one cell, and one row for the hosts.
    assert generation.master.size[0] == 2 + 2 + 1
    assert generation.master.size[1] <= 2 + 2 + 20
    taken, _ = place_patterns(
        kinds, rules, generation, 0.01, True, float('inf'))
    assert taken.sum(axis=1).tolist() == [64, 16] and (
        taken.any(axis=0).sum() == 8)

# SPDX-License-Identifier: Apache-2.0
"""Plans and bounds of small groups by an integer program of patterns."""

from collections import Counter
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
from nova_holistic.objectives import load_objective
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.column_generation.dominated_patterns import (
    without_dominated)
from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.column_generation.pattern_states import (
    cheapest_cover)
from nova_holistic.solver.column_generation.useful_patterns import (
    useful_patterns)
from nova_holistic.solver.decomposition.cells import cells
from nova_holistic.solver.decomposition.columns import columns
from nova_holistic.solver.phases.pattern_plan import plan_by_patterns
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.kinds import Kinds
from tests.effort import times
from tests.unit.builders import cloud, group, host
from tests.unit.solver.internal.deadlines import task
from tests.unit.solver.internal.limited import limited
from tests.unit.solver import oracle
from tests.unit.solver import test_oracle
from tests.unit.solver import test_oracle_policies
from tests.unit.solver import test_oracle_relationships
from tests.unit.solver import test_oracle_weights

OBJECTIVES = ('stack', 'fewest-hosts')


def _member(name, number, vcpus, memory):
    return MemberDescription(name, Requirements(FrozenMapping({
        'VCPU': vcpus, 'MEMORY_MB': memory})), number)


def _host(chance, number):
    vcpus, memory = chance.randint(5, 12), chance.randint(5, 12)
    return host(f'h{number}', f'az{number % 2}', f'az{number % 2}-r{number}',
                inventories={
                    'VCPU': Inventory(16, used=16 - vcpus),
                    'MEMORY_MB': Inventory(20, used=20 - memory)})


def _kinds(seed):
    """Return members of three different requirements, of which few fit on a
    host that is partly in use."""
    chance = random.Random(seed)
    policies = [AntiAffinity(max_per_domain=4), Spread(level='az', max_skew=2),
                AntiAffinity(level='rack', max_per_domain=3),
                Spread(level='az', max_skew=1, weight=1.0)]
    return group(*(_member(f'm{number}', chance.randint(1, 2),
                           chance.randint(1, 5), chance.randint(1, 5))
                   for number in range(3)), policies=chance.sample(
                       policies, chance.randint(0, 2))), cloud(
        *(_host(chance, number) for number in range(chance.randint(3, 4))),
        levels=('az', 'rack', 'host')), {}


GENERATORS = {
    'kinds': _kinds, 'small': test_oracle.random_case,
    'policies': test_oracle_policies.random_case,
    'relationships': test_oracle_relationships.random_case,
    'weights': test_oracle_weights.random_case}


@functools.lru_cache(100)
def _placements(name, seed):
    """Return (cost of preferences, placement) of all plans of a random case.
    The tests of all objectives need them, one test after another."""
    case = GENERATORS[name](seed)
    return [(cost, where) for where in oracle.placements(*case)
            if (cost := oracle.violations(*case, where)) is not None]


def _plans(name, seed, objective):
    """Return (cost of preferences, value, placement) of all plans."""
    case = GENERATORS[name](seed)
    return [(cost, oracle.value(objective, *case, where), where)
            for cost, where in _placements(name, seed)]


def _improved(case, objective, start):
    """Return the incumbent after the phase.

    :param start: the plan that is known before, as member path to host name
    """
    wanted, snapshot, placed = case
    reduced = snapshot.without_servers(placed.values())
    known = Incumbent(bind(wanted, reduced), reduced, placed,
                      load_objective(objective), 0.0)
    by_name = reduced.by_name()
    assert known.offer({path: by_name[name] for path, name in start.items()})
    plan_by_patterns(task(known))
    return known


@pytest.mark.parametrize('objective', OBJECTIVES)
@pytest.mark.parametrize('name', GENERATORS)
def test_no_plan_is_below_the_bounds(name, objective):
    """The known plan of the phase is any plan."""
    found = Counter()
    # Fewer cases contain no better plan.
    for seed in range(max(100, times(200))):
        case = GENERATORS[name](seed)
        plans = _plans(name, seed, objective)
        if not plans:
            continue
        start = random.Random(seed).choice(plans)
        known = _improved(case, objective, start[2])
        assert known.plan_cost <= (start[0], start[1] + 1e-9), seed
        for bound, limit in known._bounds._known:
            least = min((value for cost, value, _ in plans if cost <= limit),
                        default=float('inf'))
            assert bound <= least + 1e-6 * max(1.0, least), seed
        best = min(value for cost, value, _ in plans
                   if cost <= known.plan_cost[0])
        found['plans'] += 1
        found['better'] += known.plan_cost < (start[0], start[1] - 1e-9)
        found['proved'] += known.bound >= best - 1e-6
    assert found['proved'] > found['plans'] / 4
    assert found['better']


@pytest.mark.parametrize('limit', ({'patterns': 3}, {'partial_patterns': 4},
                                   {'types': 1}))
def test_bounds_of_a_part_of_the_patterns_are_valid(limit):
    """If there are too many patterns, the program contains only those of plans
    with a small cost."""
    proved = 0
    for seed in range(times(60)):
        case = _kinds(seed)
        plans = _plans('kinds', seed, 'stack')
        if not plans:
            continue
        worst = max(plans, key=lambda each: each[:2])
        with limited('small_groups', **limit):
            known = _improved(case, 'stack', worst[2])
        least = min(value for cost, value, _ in plans
                    if cost <= known.plan_cost[0])
        assert known.bound <= least + 1e-6, seed
        proved += known.bound > 0
    assert proved


def _types(case):
    wanted, snapshot, placed = case
    kinds = Kinds.of(bind(wanted, snapshot), snapshot, placed)
    rules = cells(kinds, lambda: None)
    host_cost = load_objective('stack').host_cost()
    return HostTypes.of(kinds, columns(kinds, rules.of, host_cost), host_cost)


def _fitting(types, sort):
    """Return all numbers of members of each kind that fit on a host."""
    return {each for each in itertools.product(*(
        range(int(room) + 1) for room in types.room[sort]))
        if (np.array(each) @ types.amounts <= types.free[sort]).all()}


def test_useful_patterns_are_all_maximal_patterns_with_enough_gain():
    chance, number = random.Random(1), 0
    for seed in range(times(100)):
        types = _types(_kinds(seed))
        if not len(types):
            continue
        shape = types.amounts.shape[0], int(types.cell.max()) + 1
        prices = np.array([chance.choice((0.0, 0.1, 0.2, 0.5))
                           for _ in range(shape[0] * shape[1])]).reshape(shape)
        least = np.array([chance.choice((-1.0, -0.3, 0.0, 0.2))
                          for _ in range(len(types))])
        found = useful_patterns(types, prices, least, int(types.numbers.sum()),
                                lambda: None)
        for sort in range(len(types)):
            fitting = _fitting(types, sort)
            maximal = {
                each for each in fitting if any(each) and not any(
                    tuple(np.add(each, one)) in fitting
                    for one in np.eye(shape[0], dtype=int))}
            value = {each: float(np.array(each) @ prices[:, types.cell[sort]]
                                 - types.opening[sort]) for each in maximal}
            got = {tuple(each) for each in found.members[
                found.types == sort].tolist()}
            assert got <= maximal, seed
            # Rounding decides about gains that are nearly equal.
            assert {each for each in maximal
                    if value[each] > least[sort] + 1e-9} <= got, seed
            assert not any(value[each] < least[sort] - 1e-9 for each in got)
            number += len(got)
    assert number


def test_a_plan_needs_whole_hosts():
    """A host with room for three members costs 0.625, and each of two hosts
    with room for two members costs 0.5. Four members cost 0.875 with half of
    the second host, and 1 with whole hosts."""
    snapshot = cloud(*(host(f'h{n}', f'r{n}', inventories={'VCPU': Inventory(
        16, used=used)}) for n, used in enumerate((6, 8, 8))))
    wanted = group(MemberDescription('m', Requirements(FrozenMapping(
        {'VCPU': 3})), 4))
    known = _improved((wanted, snapshot, {}), 'stack', {
        'm-0': 'h0', 'm-1': 'h0', 'm-2': 'h0', 'm-3': 'h1'})
    assert known.plan_cost == (0, 1.0)
    assert known.bound == pytest.approx(1.0)


def _with_at_most(hosts, numbers, most):
    """Return the minimum cost of a cover by at most this number of hosts."""
    best = np.inf
    for chosen in itertools.product(*(range(len(each)) for _, each in hosts)):
        used = [n for n, place in enumerate(chosen) if place]
        if len(used) <= most and (np.sum(
                [hosts[n][1][chosen[n]] for n in used] or [
                    [0] * len(numbers)], axis=0) >= numbers).all():
            best = min(best, sum(hosts[n][0] for n in used))
    return best


def _choices(types, patterns):
    """Return the cost and the patterns of each host; the first pattern has no
    members."""
    return [(types.opening[sort], [np.zeros(types.amounts.shape[0], int),
                                   *patterns.members[patterns.types == sort]])
            for sort in range(len(types)) for _ in range(types.numbers[sort])]


def _every_pattern(types, hosts):
    """Return the patterns that plans with this number of hosts need, as far as
    the limit of patterns requires it."""
    shape = types.amounts.shape[0], int(types.cell.max()) + 1
    return useful_patterns(types, np.zeros(shape), np.full(
        len(types), -np.inf), hosts, lambda: None)


def _not_dominated(types, every, most):
    return without_dominated(types, every, most, lambda: None)


def _limited(types, every, most):
    """If there are more patterns than the limit, each pattern is kept on the
    cheapest hosts only. None if these are still too many."""
    with limited('small_groups', patterns=len(every) - 1, types=1):
        return _every_pattern(types, most)


@pytest.mark.parametrize('reduced', [_not_dominated, _limited])
def test_a_cover_of_few_hosts_needs_only_some_patterns(reduced):
    fewer = finite = 0
    for seed in range(times(60)):
        types = _types(_kinds(seed))
        if not len(types):
            continue
        numbers = types.room.max(axis=0)
        every = _every_pattern(types, int(types.numbers.sum()))
        for most in range(1, 3):
            kept = reduced(types, every, most)
            if kept is None:
                continue
            best = _with_at_most(_choices(types, every), numbers, most)
            assert best == pytest.approx(_with_at_most(_choices(
                types, kept), numbers, most)), seed
            fewer += len(kept) < len(every)
            finite += best < np.inf
    assert fewer and finite


def test_the_cheapest_cover_is_that_of_exhaustive_search():
    finite = 0
    for seed in range(times(60)):
        types = _types(_kinds(seed))
        if not len(types):
            continue
        numbers = types.room.max(axis=0) + seed % 2
        every = _every_pattern(types, int(types.numbers.sum()))
        hosts = _choices(types, every)
        cost, used = cheapest_cover(types, every, numbers, len(hosts),
                                    lambda: None)
        assert cost == pytest.approx(
            _with_at_most(hosts, numbers, len(hosts))), seed
        if np.isfinite(cost):
            assert (used @ every.members >= numbers).all(), seed
            assert types.opening[every.types] @ used == pytest.approx(cost)
            finite += 1
    assert finite

# SPDX-License-Identifier: Apache-2.0
"""Bounds of the decomposition, on clouds small enough for an exact model: no
bound exceeds the best plan, and the reported gap follows from the bound."""

import random

import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.plan import Unplaceable
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.policies.spread import Spread
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.check import check
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.clocks import standing

CASES = times(8)


def _cloud(chance):
    """Return a cloud of zones and racks with hosts of two sizes and random
    usage."""
    zones, racks = chance.choice((1, 2, 3)), chance.choice((2, 3))
    return cloud(*(host(
        f'h{n}', f'z{n % zones}', f'z{n % zones}r{n // zones % racks}',
        traits=frozenset({'FAST'} if chance.random() < 0.6 else ()),
        inventories={
            'VCPU': Inventory(size, used=chance.randint(0, size // 2)),
            'MEMORY_MB': Inventory(size * 1024, used=512 * chance.randint(
                0, size // 2))})
        for n in range(chance.randint(8, 16))
        for size in [chance.choice((8, 16))]), levels=('zone', 'rack', 'host'))


def _leaf(chance, name):
    weight = chance.choice((None, None, 1.0, 3.0))
    return group(*(servers(f'm{n}', chance.randint(2, 3),
                           vcpus=chance.choice((1, 2, 4)))
                   for n in range(chance.choice((1, 2)))),
                 name=name, policies=chance.choice((
                     [AntiAffinity(max_per_domain=2)],
                     [AntiAffinity(level='rack', max_per_domain=3,
                                   weight=weight)],
                     [Affinity(level='zone', weight=weight)],
                     [Traits(has=frozenset({'FAST'}), weight=weight)], [])))


def _group(chance):
    return group(
        groups=[_leaf(chance, name) for name in ('web', 'db')],
        policies=chance.choice(([], [Spread(level='zone', max_skew=2)], [
            AntiAffinity(level='rack', max_per_domain=5)])),
        relationships=[
            Bandwidth(between=('web', 'db'), mbps=chance.choice((10, 100)),
                      weight=1.0, level='rack'),
            *([RelationshipAntiAffinity(between=('web', 'db'))]
              if chance.random() < 0.3 else [])]
        if chance.random() < 0.5 else [])


def random_case(seed, objective):
    """Return a random group and cloud."""
    chance = random.Random(f'{objective} {seed}')
    snapshot, wanted = _cloud(chance), _group(chance)
    return wanted, snapshot


def _cost(wanted, plan):
    weights = [rule.weight for scope in wanted.scopes()
               for rule in scope.group.rules if not rule.hard]
    return sum(weight * each.violations for weight, each in zip(
        weights, plan.preferences, strict=True))


@pytest.mark.parametrize('objective', [
    'fewest-hosts', 'stack', 'spread', 'network'])
def test_no_bound_is_above_the_best_plan(objective):
    compared = tight = 0
    for seed in range(CASES):
        wanted, snapshot = random_case(seed, objective)
        found, exact = (solve(
            wanted, snapshot, objective=objective,
            settings=Settings(
                strategy, gap=gap, timer=standing, time_limit=60))
            for strategy, gap in (('decomposed', 0.01), ('whole', 0.0)))
        if isinstance(exact, Unplaceable):
            assert isinstance(found, Unplaceable), seed
            continue
        assert exact.objective.gap == 0, seed
        assert check(wanted, snapshot, found.hosts()) == (), seed
        mine = found.objective
        assert mine.gap == pytest.approx(
            (mine.value - mine.bound) / mine.value if mine.value else 0)
        least, cost = _cost(wanted, exact), _cost(wanted, found)
        assert cost >= least - 1e-6, seed
        if cost == pytest.approx(least, abs=1e-6):
            compared += 1
            tight += mine.bound >= 0.6 * exact.objective.value
            assert mine.bound <= exact.objective.value + 1e-6, seed
            assert mine.value >= exact.objective.value - 1e-6, seed
    # The test is meaningful only if it compares many cases and if many bounds
    # are tight.
    assert compared > CASES / 4
    assert tight > compared / 4

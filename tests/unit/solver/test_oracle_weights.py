# SPDX-License-Identifier: Apache-2.0
"""Preferences with weights of any size, on clouds small enough for exhaustive
search.

Weights are from 1e-6 to 1e6, and the oracle adds them as fractions. The tests
verify the plan, the status, and the bound of the plan.
"""

from fractions import Fraction
import random

import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.relationship_affinity import RelationshipAffinity
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.policies.spread import Spread
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.check import check
from nova_holistic.solver.settings import Settings, Strategy
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit import builders
from tests.unit.solver.clocks import standing
from tests.unit.solver import oracle

OBJECTIVES = ('spread', 'stack', 'fewest-hosts')
CASES = times(25)
"""Number of cases for each objective. With NOVA_HOLISTIC_TEST_EFFORT=100 there
are thousands."""

EXACT = (Strategy.AUTO, Strategy.WHOLE)
"""Strategies that solve small cases to optimality."""


def _weight(chance):
    """Return a decimal number of up to three digits, of any magnitude."""
    if chance.random() < 0.3:
        return chance.choice((1e6, 1e-6, 0.1, 0.2, 0.3, 0.7, 1.0))
    digits = chance.choice((1, 1, 2, 3))
    size = chance.randint(-6, 6 - digits)
    return float(f'{chance.randint(1, 10 ** digits - 1)}e{size}')


def _policy(chance):
    weight = _weight(chance) if chance.random() < 0.85 else None
    level = chance.choice(('rack', 'host'))
    return chance.choice((
        lambda: Affinity(level=level, weight=weight),
        lambda: AntiAffinity(level=level, weight=weight,
                             max_per_domain=chance.choice((1, 1, 2))),
        lambda: Spread(level=level, max_skew=chance.choice((0, 1)),
                       weight=weight),
        lambda: Traits(has=frozenset({chance.choice('AB')}), weight=weight),
    ))()


def _relationship(chance):
    return chance.choice((RelationshipAffinity, RelationshipAntiAffinity))(
        between=('web', 'db'), level=chance.choice(('rack', 'host')),
        weight=_weight(chance))


def random_case(seed):
    """Return a random group with preferences, a cloud, and placed members."""
    chance = random.Random(seed)
    snapshot = builders.cloud(*(builders.host(
        f'h{n}', chance.choice(('r1', 'r2')),
        traits=frozenset(t for t in 'AB' if chance.random() < 0.5),
        inventories={'VCPU': Inventory(
            chance.choice((3, 4, 6, 8)), used=chance.choice((0, 0, 1)))})
        for n in range(chance.choice((2, 3, 3, 4)))))
    first = chance.randint(1, 3)
    numbers = {'web': first, 'db': chance.randint(1, 4 - first)}
    group = builders.group(
        groups=[builders.group(
            builders.servers('m', number, vcpus=chance.choice((1, 1, 2))),
            name=name, policies=[
                _policy(chance) for _ in range(chance.choice((0, 1, 1)))])
                for name, number in numbers.items()],
        policies=[_policy(chance) for _ in range(chance.choice((1, 2, 2)))],
        relationships=[_relationship(chance)]
        if chance.random() < 0.4 else [])
    return group, snapshot, {
        m.path: chance.choice(snapshot.hosts).name
        for m in group.all_members() if chance.random() < 0.08}


def _all_worths(group, snapshot, placed, objective):
    """Return (cost of the preferences, objective value) of every valid plan.
    """
    return [(cost, oracle.value(objective, group, snapshot, placed, where))
            for where in oracle.placements(group, snapshot, placed)
            if (cost := oracle.violations(
                group, snapshot, placed, where)) is not None]


def check_answer(seed, objective, strategy, **options):
    """Compare an answer with all plans; return whether any plan exists."""
    group, snapshot, placed = random_case(seed)
    worths = _all_worths(group, snapshot, placed, objective)
    answer = solve(group, snapshot, placed=placed, objective=objective,
                   settings=Settings(strategy, timer=standing, **options))
    where = f'{seed} {objective} {strategy}'
    if not worths:
        assert isinstance(answer, Unplaceable), where
        return False
    assert isinstance(answer, Plan), where
    assert check(group, snapshot, answer.hosts(), placed) == (), where
    cost = oracle.evaluate(group, snapshot, placed, {
        p.member: p.host for p in answer.placements})
    weights = [Fraction(str(rule.weight)) for scope in group.scopes()
               for rule in scope.group.rules if not rule.hard]
    assert cost == sum(weight * each.violations for weight, each in zip(
        weights, answer.preferences, strict=True)), where
    found = answer.objective
    # The bound holds for all plans whose preferences cost at most as much.
    least = min(value for other, value in worths if other <= cost)
    assert found.bound <= least + 1e-7, where
    assert found.bound <= found.value + 1e-9, where
    if found.gap <= 1e-7:
        assert found.value <= least + 1e-6, where
    if strategy in EXACT:
        assert cost == min(worths)[0], where
        assert found.value == pytest.approx(least, abs=1e-6), where
        assert found.gap == pytest.approx(0, abs=1e-6), where
    return True


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_weights_of_any_size_are_exact(objective):
    chance = random.Random(objective)
    planned = sum(
        check_answer(seed, objective, chance.choice((*EXACT, *Strategy)))
        for seed in range(CASES))
    assert planned > CASES / 2

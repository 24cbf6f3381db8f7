# SPDX-License-Identifier: Apache-2.0
"""The objectives ``stack`` and ``spread`` for members that request devices of
nested providers, on clouds small enough for exhaustive search.

Each request group requests one unit of one class. Therefore the utilisation of
a class on a host is that of all its providers together. The oracle computes it
from a host that has the inventories of its devices itself.
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
import random

import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.model.request_group import RequestGroup
from nova_holistic.solver.check import check
from nova_holistic.solver.settings import Settings, Strategy
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit.solver.clocks import standing, Stopping
from tests.unit.solver import oracle, oracle_providers, test_oracle_weights

CASES = times(30)
"""Number of cases for each objective. With NOVA_HOLISTIC_TEST_EFFORT=100 there
are thousands."""

CLASSES = ('VGPU', 'CUSTOM_NIC')
EXACT = (Strategy.AUTO, Strategy.WHOLE)


def _with_cards(chance, host):
    return replace(host, providers=tuple(NestedProvider(
        f'{host.name}-{number}', f'{host.name}-{number}', '',
        FrozenMapping({name: Inventory(
            chance.choice((1, 2, 3)), used=chance.choice((0, 0, 0, 1)))
            for name in CLASSES if chance.random() < 0.8}))
        for number in range(chance.choice((1, 2, 2, 3)))))


def _with_devices(chance, description):
    return replace(description, requirements=replace(
        description.requirements, request_groups=tuple(
            RequestGroup(f'_{number}', FrozenMapping(
                {chance.choice(CLASSES): 1}))
            for number in range(chance.choice((0, 1, 1, 2))))))


def random_case(seed):
    """Return a random group with preferences of any weight, a cloud of hosts
    with cards, and placed members."""
    chance = random.Random(f'devices {seed}')
    wanted, snapshot, placed = test_oracle_weights.random_case(seed)
    return replace(wanted, groups=tuple(replace(nested, members=tuple(
        _with_devices(chance, each) for each in nested.members))
        for nested in wanted.groups)), replace(snapshot, hosts=tuple(
            _with_cards(chance, host) for host in snapshot.hosts)), placed


def _merged(group, snapshot):
    """Return the group and the snapshot with the devices among the resources
    of the members and of the hosts."""
    def inventories(host):
        found = dict(host.inventories)
        for name in CLASSES:
            cards = [each.inventories[name] for each in host.providers
                     if name in each.inventories]
            if cards:
                found[name] = Inventory(
                    sum(each.total for each in cards),
                    used=sum(min(each.used, each.total) for each in cards))
        return FrozenMapping(found)

    def resources(wanted):
        found = Counter(wanted.resources)
        for each in wanted.request_groups:
            found.update(each.resources)
        return replace(wanted, resources=FrozenMapping(found),
                       request_groups=())

    return replace(group, groups=tuple(replace(nested, members=tuple(
        replace(each, requirements=resources(each.requirements))
        for each in nested.members)) for nested in group.groups)), replace(
            snapshot, hosts=tuple(
                replace(each, inventories=inventories(each), providers=())
                for each in snapshot.hosts))


def check_answer(seed, objective, strategy, **options):
    """Compare an answer with all plans; return whether a plan was found, or
    None if none exists."""
    where = f'{seed} {objective} {strategy} {options}'
    group, snapshot, placed = random_case(seed)
    merged = _merged(group, snapshot)
    every = [(cost, oracle.value(objective, *merged, placed, hosts), hosts)
             for cost, hosts in oracle_providers.plans(
                 group, snapshot, placed)]
    answer = solve(group, snapshot, placed=placed, objective=objective,
                   settings=Settings(strategy, **options))
    if not isinstance(answer, Plan):
        assert isinstance(answer, Unknown | Unplaceable), where
        assert isinstance(answer, Unknown) or not every, where
        return False if every else None
    assert check(group, snapshot, answer.hosts(), placed) == (), where
    ((cost, value),) = [(cost, value) for cost, value, hosts in every
                        if hosts == answer.hosts()]
    assert answer.objective.value == pytest.approx(value, abs=1e-7), where
    weights = [Fraction(str(rule.weight)) for scope in group.scopes()
               for rule in scope.group.rules if not rule.hard]
    assert cost == sum(weight * each.violations for weight, each in zip(
        weights, answer.preferences, strict=True)), where
    lowest = min(cost for cost, *_ in every)
    least = min(value for other, value, _ in every if other <= cost)
    assert answer.objective.bound <= least + 1e-7, where
    if weights:
        assert answer.preference_cost.bound <= lowest * (1 + 1e-9), where
    if strategy in EXACT and options['timer'] is standing:
        assert cost == lowest, where
        assert value == pytest.approx(least, abs=1e-6), where
    return True


@pytest.mark.parametrize('solver', ['highs', 'cbc'])
@pytest.mark.parametrize('objective', ['stack', 'spread'])
def test_values_and_bounds_agree_with_exhaustive_search(objective, solver):
    chance, found = random.Random(f'{objective} {solver}'), Counter()
    first, cases = {'highs': (151_000, CASES), 'cbc': (151_500, times(5))}[
        solver]
    for seed in range(first, first + cases):
        strategy = chance.choice((*EXACT, *Strategy))
        found[check_answer(seed, objective, strategy, solver=solver,
                           timer=standing)] += 1
    assert found[True] > cases / 2
    assert not found[False]


@pytest.mark.parametrize('objective', ['stack', 'spread'])
def test_answers_at_any_deadline_agree_with_exhaustive_search(objective):
    chance, found = random.Random(objective), Counter()
    for seed in range(151_700, 151_700 + 2 * CASES):
        readings = round(10 ** chance.uniform(0, 3.5))
        found[check_answer(seed, objective, chance.choice([*Strategy]),
                           timer=Stopping(readings))] += 1
    assert found[True] > CASES / 2

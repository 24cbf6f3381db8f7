# SPDX-License-Identifier: Apache-2.0
"""On small random clouds the solver agrees with exhaustive search."""

from fractions import Fraction
import random

import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.settings import Settings
from tests.effort import times
from tests.unit import builders
from tests.unit.solver.agreement import agrees

OBJECTIVES = ('spread', 'stack', 'fewest-hosts')


def _inventory(chance):
    total = chance.choice((4, 6, 8, 10))
    return Inventory(
        total, reserved=chance.choice((0, 0, 0, 1)),
        allocation_ratio=chance.choice((1.0, 1.0, 0.9, 1.5)),
        used=chance.choice((0, 0, 0, 1, 3)),
        min_unit=chance.choice((1, 1, 1, 1, 2)),
        max_unit=chance.choice((10, 10, 10, 3)),
        step_size=chance.choice((1, 1, 1, 1, 2)))


def _host(chance, number):
    inventories = {'VCPU': _inventory(chance)}
    if chance.random() < 0.9:
        inventories['MEMORY_MB'] = _inventory(chance)
    labels = {'feed': chance.choice('AB')} if chance.random() < 0.8 else {}
    return builders.host(
        f'h{number}', chance.choice(('az1', 'az2')),
        *([chance.choice(('r1', 'r2'))] if chance.random() < 0.9 else []),
        inventories=inventories, labels=labels,
        traits=frozenset({'T'} if chance.random() < 0.8 else ()),
        aggregates=frozenset({'ssd'} if chance.random() < 0.8 else ()),
        enabled=chance.random() < 0.95)


def _requirements(chance):
    resources = {'VCPU': chance.choice((1, 1, 2, 3))}
    if chance.random() < 0.6:
        resources['MEMORY_MB'] = chance.choice((1, 2, 4))
    facet = chance.choice(({}, {}, {}, {}, {
        'required_traits': frozenset({'T'})}, {
        'forbidden_traits': frozenset({'T'})}, {
        'aggregates': frozenset({'ssd'})}, {'location': ('az1',)}))
    return Requirements(FrozenMapping(resources), **facet)


def _policies(chance, label):
    levels = ('az', 'rack', 'host') + (('feed',) if label else ())
    for _ in range(chance.choice((0, 1, 1, 2))):
        weight = chance.choice((None, None, 1.0, 2.5))
        level = chance.choice(levels)
        if chance.random() < 0.4:
            yield Affinity(level=level, weight=weight)
        else:
            most = chance.choice((1, 1, 2, Fraction(50, 100)))
            yield AntiAffinity(level=level, max_per_domain=most,
                               weight=weight)


def random_case(seed):
    """Return a random group with a nested group, a cloud, and placed members.
    """
    chance = random.Random(seed)
    snapshot = builders.cloud(
        *(_host(chance, n) for n in range(chance.choice((1, 2, 3, 3, 4, 4)))),
        levels=('az', 'rack', 'host'))
    label = 'feed' in snapshot.all_levels()
    inner = chance.randint(0, 2)
    groups = [Group('db', (MemberDescription(
        'node', _requirements(chance), inner),), (),
        tuple(_policies(chance, label)))] if inner else []
    outer = chance.randint(1, 4 - inner)
    group = builders.group(
        MemberDescription('web', _requirements(chance), outer),
        groups=groups, policies=_policies(chance, label))
    placed = {m.path: chance.choice(snapshot.hosts).name
              for m in group.all_members() if chance.random() < 0.1}
    return group, snapshot, placed


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_highs_agrees_with_exhaustive_search(objective):
    cases = times(300)
    planned = sum(agrees(random_case(seed), objective,
                         settings=Settings(solver='highs'))
                  for seed in range(cases))
    assert 0.2 < planned / cases < 0.93, 'the cases are lopsided'


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_cbc_agrees_with_exhaustive_search(objective):
    for seed in range(1000, 1000 + times(25)):
        agrees(random_case(seed), objective, settings=Settings(solver='cbc'))

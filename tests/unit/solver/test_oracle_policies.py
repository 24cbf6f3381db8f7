# SPDX-License-Identifier: Apache-2.0
"""With every type of policy the solver agrees with exhaustive search."""

from fractions import Fraction
import random

import pytest

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.aggregates import Aggregates
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.availability_zone import AvailabilityZone
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.location import Location
from nova_holistic.policies.spread import Spread
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.check import check
from nova_holistic.solver.settings import Settings
from tests.effort import times
from tests.unit import builders
from tests.unit.solver.agreement import agrees
from tests.unit.solver import oracle

LEVELS = ('az', 'rack', HOST, 'feed', 'power')
OBJECTIVES = ('spread', 'stack', 'fewest-hosts')
CASES = times(400)


def _host(chance, number):
    labels = {name: chance.choice(values) for name, values in (
        ('feed', 'AB'), ('power', 'PQ')) if chance.random() < 0.9}
    return builders.host(
        f'h{number}', chance.choice(('az1', 'az1', 'az2')),
        *([chance.choice(('r1', 'r2'))] if chance.random() < 0.95 else []),
        inventories={'VCPU': Inventory(
            chance.choice((2, 4, 6)), used=chance.choice((0, 0, 1, 6)))},
        labels=labels, servers=chance.choice((0, 0, 0, 1)),
        availability_zone=chance.choice(('z1', 'z1', 'z2', None)),
        traits=frozenset(t for t in 'TU' if chance.random() < 0.7),
        aggregates=frozenset(a for a in ('ssd', 'fast')
                             if chance.random() < 0.8),
        enabled=chance.random() < 0.9)


def _requirements(chance):
    facet = chance.choice(({}, {}, {}, {}, {
        'required_traits': frozenset('T')}, {
        'forbidden_traits': frozenset('U')}, {
        'availability_zone': 'z1'}, {
        'aggregates': frozenset({'ssd'})}, {'location': ('az1',)}))
    return Requirements(
        FrozenMapping({'VCPU': chance.choice((1, 1, 1, 2))}), **facet)


def _spread(chance, levels, **keys):
    which = chance.choice(('skew', 'skew', 'domains', 'both'))
    return Spread(
        level=chance.choice(levels), **keys,
        max_skew=None if which == 'domains' else chance.choice((0, 1, 1, 2)),
        min_domains=None if which == 'skew' else chance.choice((1, 2, 3)))


MAKERS = (
    _spread, _spread, _spread,
    lambda chance, levels, **keys: Exclusive(
        level=chance.choice(levels), **keys),
    lambda chance, levels, **keys: Location(path=chance.choice(
        (('az1',), ('az2',), ('az1', 'r1'), ('az1', 'r1', 'h0'))), **keys),
    lambda chance, levels, **keys: Traits(
        has=frozenset(chance.choice(('', 'T'))), lacks=frozenset('U'),
        **keys),
    lambda chance, levels, **keys: Traits(has=frozenset('T'), **keys),
    lambda chance, levels, **keys: Aggregates(
        names=frozenset(chance.choice((('ssd',), ('ssd', 'fast')))), **keys),
    lambda chance, levels, **keys: AvailabilityZone(
        zone=chance.choice(('z1', 'z2')), **keys),
    lambda chance, levels, **keys: Affinity(
        level=chance.choice(('az', 'az', 'feed', *levels)), **keys),
    lambda chance, levels, **keys: AntiAffinity(
        level=chance.choice(levels), max_per_domain=chance.choice(
            (1, 2, Fraction(1, 2))), **keys),
)


def _policies(chance, levels):
    return tuple(
        chance.choice(MAKERS)(
            chance, levels, weight=chance.choice((None, None, 1.0, 2.5)))
        for _ in range(chance.choice((0, 1, 1, 2))))


def random_case(seed):
    """Return a random group with up to two levels of nested groups, a cloud,
    and placed members."""
    chance = random.Random(seed)
    snapshot = builders.cloud(
        *(_host(chance, n) for n in range(chance.choice((2, 3, 4, 4)))),
        levels=('az', 'rack', HOST))
    levels = [level for level in LEVELS if level in snapshot.all_levels()]

    def members(name, most):
        number = chance.randint(0, most)
        return (MemberDescription(name, _requirements(chance), number),) if (
            number) else ()

    innermost = Group('log', members('file', 1) or (MemberDescription(
        'file', _requirements(chance)),), (), _policies(chance, levels))
    inner = Group('db', members('node', 2),
                  (innermost,) if chance.random() < 0.5 else (),
                  _policies(chance, levels))
    group = builders.group(
        *members('web', 2 if inner.groups else 3),
        groups=[inner] if inner.all_members() else [innermost],
        policies=_policies(chance, levels))
    placed = {m.path: chance.choice(snapshot.hosts).name
              for m in group.all_members() if chance.random() < 0.1}
    return group, snapshot, placed


def test_check_and_oracle_agree_on_any_placement():
    good = 0
    for seed in range(10_000, 10_000 + CASES):
        group, snapshot, placed = random_case(seed)
        chance = random.Random(seed)
        for _ in range(10):
            where = {m.path: placed.get(
                m.path, chance.choice(snapshot.hosts).name)
                for m in group.all_members()}
            expected = oracle.evaluate(group, snapshot, placed, where)
            assert (check(group, snapshot, where, placed) == ()) == (
                expected is not None), seed
            good += expected is not None
    assert good > CASES, 'the cases are lopsided'


@pytest.mark.parametrize('part', range(3))
def test_highs_agrees_with_exhaustive_search(part):
    seeds = range(part * CASES, (part + 1) * CASES)
    planned = sum(
        agrees(random_case(seed), OBJECTIVES[seed % 3],
               settings=Settings(solver='highs'))
        for seed in seeds)
    assert CASES / 5 < planned < CASES * 4 / 5, 'the cases are lopsided'


def test_cbc_agrees_with_exhaustive_search():
    for seed in range(5000, 5000 + times(40)):
        agrees(random_case(seed), OBJECTIVES[seed % 3],
               settings=Settings(solver='cbc'))

# SPDX-License-Identifier: Apache-2.0
"""The check and the encoding of every relationship agree."""

import itertools

import pytest

from nova_holistic.model.cloud.snapshot import Link
from nova_holistic.policies import load_policy_types
from tests.unit.builders import cloud, group, host, on, servers
from tests.unit.policies.encoding import cost_of

TYPES = load_policy_types().relationships
KEYS = {'bandwidth': {'mbps': 10}}

SMALL = cloud(
    host('a', 'r1', labels={'feed': 'A'}), host('b', 'r1'),
    host('c', 'r2', labels={'feed': 'A'}),
    links=[Link(('r1',), 20), Link(('r1', 'a'), 100, 80),
           Link(('r1', 'b'), 10)])


def made(name, level, weight, between=('web', 'db')):
    return TYPES[name].from_document(
        {'level': level, 'between': between, **KEYS.get(name, {})},
        weight=weight, place='')


def cases(web=2, db=2):
    for name in ('affinity', 'anti-affinity', 'bandwidth'):
        for level in ('rack', 'host', 'feed'):
            hard, soft = (made(name, level, weight) for weight in (None, 1.0))
            yield pytest.param(hard, soft, next(group(
                servers('web', web), servers('db', db),
                relationships=[hard]).scopes()), id=f'{name}-{level}')


def placements(scope):
    for names in itertools.product('abc', repeat=len(scope.members)):
        yield on(SMALL, **{
            m.path.replace('-', '_'): name
            for m, name in zip(scope.members, names)})


def test_relationship_types_are_loaded_under_document_names():
    assert {'affinity', 'anti-affinity', 'bandwidth'} <= set(TYPES)
    assert all(cls.type == name for name, cls in TYPES.items())


@pytest.mark.parametrize('hard, soft, scope', list(cases()))
def test_check_and_encoding_agree_on_every_placement(hard, soft, scope):
    for placed in placements(scope):
        assert cost_of(soft, scope, SMALL, placed) == soft.check(
            scope, placed, SMALL).count
        assert (cost_of(hard, scope, SMALL, placed) is None) == (
            hard.check(scope, placed, SMALL).count > 0)


@pytest.mark.parametrize('hard, soft, scope', list(cases(web=3, db=2)))
def test_the_encoding_finds_the_best_remaining_placement(hard, soft, scope):
    for first in 'abc':
        placed = on(SMALL, web_0=first)
        ways = [each for each in placements(scope)
                if each['web-0'].name == first]
        assert cost_of(soft, scope, SMALL, placed) == min(
            soft.check(scope, each, SMALL).count for each in ways)
        assert (cost_of(hard, scope, SMALL, placed) is None) == all(
            hard.check(scope, each, SMALL).count for each in ways)


@pytest.mark.parametrize('name', ['affinity', 'anti-affinity', 'bandwidth'])
def test_the_order_of_the_sides_does_not_matter(name):
    scope = next(group(servers('web', 2), servers('db')).scopes())
    one, other = (made(name, 'rack', 1.0, between)
                  for between in (('web', 'db'), ('db', 'web')))
    for placed in placements(scope):
        assert one.check(scope, placed, SMALL).count == other.check(
            scope, placed, SMALL).count


@pytest.mark.parametrize('name', ['affinity', 'anti-affinity'])
def test_hard_and_weighted_checks_agree(name):
    scope = next(group(servers('web', 2), servers('db', 2)).scopes())
    for level in ('rack', 'host', 'feed'):
        hard, soft = (made(name, level, weight) for weight in (None, 1.0))
        for placed in placements(scope):
            assert hard.check(scope, placed, SMALL) == soft.check(
                scope, placed, SMALL)


def test_one_server_of_a_counted_member_can_be_a_side():
    scope = next(group(servers('web', 3)).scopes())
    pair = made('anti-affinity', 'host', None, ('web-0', 'web-2'))
    assert [[m.path for m in side] for side in pair.sides(scope)] == [
        ['web-0'], ['web-2']]
    assert pair.check(scope, on(
        SMALL, web_0='a', web_1='a', web_2='b'), SMALL).count == 0

# SPDX-License-Identifier: Apache-2.0
"""The check and the encoding of the policy exclusive."""

import itertools

import pytest

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.solver.alternates.alternates import alternates
from nova_holistic.solver.check import check
from nova_holistic.solver.planned_group import PlannedGroup
from tests.unit.builders import cloud, group, host, on, servers, two_racks
from tests.unit.policies.encoding import cost_of
from tests.unit.solver.scenario import plan, reasons

USED = cloud(host('a', 'r1', labels={'feed': 'A'}, servers=2),
             host('b', 'r1', labels={'feed': 'A'}),
             host('c', 'r2'), host('d', 'r3', labels={'feed': 'B'}))


def shop(policy, web=1, db=2):
    return group(servers('web', web), groups=[
        group(servers('node', db), name='db', policies=[policy])])


@pytest.mark.parametrize('level', ['host', 'rack', 'feed'])
def test_check_and_encoding_agree_on_every_placement(level):
    hard, soft = Exclusive(level=level), Exclusive(level=level, weight=1.0)
    top, scope = shop(hard).scopes()
    paths = [m.path for m in top.members]
    for names in itertools.product('abcd', repeat=3):
        hosts = {h.name: h for h in USED.hosts}
        placed = {path: hosts[n] for path, n in zip(paths, names)}
        violations = soft.check(scope, placed, USED).count
        assert cost_of(soft, scope, USED, placed, top) == violations
        assert (cost_of(hard, scope, USED, placed, top) is None) == (
            violations > 0)


# (hosts of web-0, db/node-0 and db/node-1, level, violations)
@pytest.mark.parametrize('names, level, violations', [
    ('ddb', 'host', 1),     # web is on d
    ('dbc', 'host', 0),
    ('dac', 'host', 1),     # other servers are on a
    ('daa', 'host', 1),     # one host with any number of members
    ('aad', 'host', 1),     # other servers and web on a
    ('dbc', 'rack', 1),     # other servers are in r1, on a
    ('dcc', 'rack', 0),
    ('dbd', 'feed', 2),
    ('bdc', 'feed', 1),     # c has no feed
])
def test_each_shared_domain_is_a_violation(names, level, violations):
    _, scope = shop(Exclusive()).scopes()
    placed = dict(zip(
        ('web-0', 'db/node-0', 'db/node-1'),
        on(USED, **{f'm{i}': n for i, n in enumerate(names)}).values()))
    found = Exclusive(level=level).check(scope, placed, USED)
    assert (found.count, len(found.messages)) == (violations, violations)


def test_the_message_names_the_other_servers():
    _, scope = shop(Exclusive(), db=1).scopes()
    placed = {'web-0': USED.hosts[1], 'db/node-0': USED.hosts[0]}
    assert Exclusive(level='rack').check(scope, placed, USED).messages == (
        'rack r1 holds db/node-0 and others: host a has 2 servers; '
        'member web-0',)


def test_an_exclusive_group_uses_empty_racks():
    plan(USED, group(servers('node', 3),
                     policies=[Exclusive(level='rack')])).uses('c', 'd')


def test_two_exclusive_groups_use_different_racks():
    shops = group(groups=[
        group(servers('node', 2), name=name,
              policies=[Exclusive(level='rack')]) for name in ('db', 'web')])
    found = plan(two_racks(), shops).hosts
    assert {found['db/node-0'][:2], found['web/node-0'][:2]} == {'r1', 'r2'}


def test_outside_servers_in_all_domains_make_the_group_unplaceable():
    assert reasons(two_racks(servers=1), group(
        servers('node', 2), policies=[Exclusive()]))
    # Two racks, and other servers on one host of each.
    half = cloud(*(host(h.name, *h.location, servers=h.name.endswith('1'))
                   for h in two_racks().hosts))
    assert reasons(half, group(servers('node', 2), policies=[
        Exclusive(level='rack')]))
    plan(half, group(servers('node', 2), policies=[
        Exclusive()])).uses('r1h2', 'r2h2')


def test_a_preference_uses_few_domains_with_outside_servers():
    busy = two_racks(servers=1)
    answer = plan(busy, group(servers('node', 4), policies=[
        Exclusive(weight=3)])).answer
    assert answer.preferences[0].violations == 1


def test_placed_members_are_not_outside_servers():
    # Of the two servers on a, one is the member that stays there.
    shared = cloud(host('a', servers=2), host('b', servers=1))
    one = group(servers('node', 2), policies=[Exclusive()])
    assert reasons(shared, one, placed={'node-0': 'a'})
    alone = cloud(host('a', servers=1), host('b', servers=1))
    plan(alone, one, placed={'node-0': 'a'}).uses('a')
    assert check(one, alone, {'node-0': 'a', 'node-1': 'a'},
                 {'node-0': 'a'}) == ()
    assert check(one, shared, {'node-0': 'a', 'node-1': 'a'},
                 {'node-0': 'a'})


def test_alternates_have_no_outside_servers():
    one = group(servers('node', 1), policies=[Exclusive()])
    answer = plan(USED, one).answer
    assert set(alternates(PlannedGroup(one, USED, answer), 9)['node-0']) == (
        {'b', 'c', 'd'} - set(answer.hosts().values()))


def test_only_a_hard_exclusive_policy_reserves_its_domains():
    top, scope = shop(Exclusive()).scopes()
    placed = {'web-0': USED.hosts[0], 'db/node-0': USED.hosts[1],
              'db/node-1': USED.hosts[2]}
    feeds = Exclusive(level='feed')
    assert feeds.reserves(scope, placed, USED) == {Domain('feed', ('A',))}
    assert Exclusive(level='rack').reserves(scope, placed, USED) == {
        Domain('rack', ('r1',)), Domain('rack', ('r2',))}
    assert Exclusive(weight=1).reserves(scope, placed, USED) == frozenset()
    assert feeds.reserves(scope, {}, USED) == frozenset()


@pytest.mark.parametrize('level', ['host', 'rack', 'feed'])
def test_every_member_in_an_excluded_domain_violates_the_policy(level):
    policy = Exclusive(level=level)
    _, scope = shop(policy).scopes()
    excluded = policy.excluded(USED)
    refused = {host.name for host in USED.hosts if policy.check(
        scope, {'db/node-0': host}, USED).count}
    assert refused == {host.name for host in USED.hosts if USED.domain(
        host, level) in {*excluded, None}}
    assert any(USED.domain(host, level) in excluded for host in USED.hosts)

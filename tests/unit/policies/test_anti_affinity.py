# SPDX-License-Identifier: Apache-2.0
"""The check and the encoding of the policy anti-affinity."""

from fractions import Fraction

import pytest

from nova_holistic.policies.anti_affinity import (
    AntiAffinity, SoftAntiAffinity)
from tests.unit.builders import cloud, group, host, on, servers, two_racks
from tests.unit.policies.encoding import cost_of


def scope_of(*members):
    return next(group(*members).scopes())


RACKS = two_racks()
TRIO = scope_of(servers('node', 3))
TWO_AND_ONE = on(RACKS, node_0='r1h1', node_1='r1h2', node_2='r2h1')


def test_servers_on_three_hosts_satisfy_anti_affinity():
    assert AntiAffinity().check(TRIO, TWO_AND_ONE, RACKS).count == 0


def test_two_members_in_a_rack_are_one_violation():
    found = AntiAffinity(level='rack').check(TRIO, TWO_AND_ONE, RACKS)
    assert found.count == 1
    assert found.messages == (
        'rack r1 holds 2 members, and the limit is 1: node-0, node-1',)


def test_two_members_in_a_rack_satisfy_a_limit_of_two():
    policy = AntiAffinity(level='rack', max_per_domain=2)
    assert policy.check(TRIO, TWO_AND_ONE, RACKS).count == 0


def test_racks_with_one_name_in_two_zones_are_separate():
    zones = cloud(host('a', 'az1', 'rack1'), host('b', 'az2', 'rack1'),
                  levels=('az', 'rack', 'host'))
    placement = on(zones, node_0='a', node_1='b')
    assert AntiAffinity(level='rack').check(TRIO, placement, zones).count == 0


# (members, share, most in a domain): rounded down, at least one.
SHARES = [(8, '25%', 2), (7, '25%', 1), (3, '25%', 1), (1, '1%', 1),
          (3, '67%', 2), (3, '66%', 1), (5, '100%', 5)]


@pytest.mark.parametrize('members, share, most', SHARES)
def test_a_share_of_the_members_is_rounded_down(members, share, most):
    nodes = scope_of(servers('node', members))
    single = cloud(host('a', 'r1'))
    policy = AntiAffinity.from_document(
        {'max_per_domain': share}, weight=None, place='')
    placed = on(single, **{f'node_{n}': 'a' for n in range(members)})
    assert policy.check(nodes, placed, single).count == members - most


@pytest.mark.parametrize('members, share, most', SHARES)
def test_the_encoding_rounds_a_share_like_the_check(members, share, most):
    nodes = scope_of(servers('node', members))
    single = cloud(host('a', 'r1'))
    soft = AntiAffinity.from_document(
        {'max_per_domain': share}, weight=1, place='')
    assert cost_of(soft, nodes, single) == members - most
    hard = AntiAffinity.from_document(
        {'max_per_domain': share}, weight=None, place='')
    expected = 0 if members == most else None
    assert cost_of(hard, nodes, single) == expected


def test_a_share_includes_unplaced_members():
    nodes = scope_of(servers('node', 4))
    policy = AntiAffinity(level='rack', max_per_domain=Fraction(1, 2))
    placement = on(RACKS, node_0='r1h1', node_1='r1h2')
    assert policy.check(nodes, placement, RACKS).count == 0


def test_each_member_over_the_limit_is_a_violation():
    placement = on(RACKS, node_0='r1h1', node_1='r1h1', node_2='r1h1')
    assert AntiAffinity().check(TRIO, placement, RACKS).count == 2


def test_a_host_without_the_label_is_a_violation():
    feeds = cloud(host('a', labels={'feed': 'A'}), host('b'),
                  levels=('host',))
    placement = on(feeds, node_0='a', node_1='b')
    found = AntiAffinity(level='feed').check(TRIO, placement, feeds)
    assert found.count == 1
    assert found.messages == (
        'node-1 is on host b, which is in no domain of level feed',)


def test_a_hard_encoding_forbids_members_over_the_limit():
    rack = AntiAffinity(level='rack')
    assert cost_of(rack, TRIO, RACKS) is None
    assert cost_of(rack, TRIO, RACKS, TWO_AND_ONE) is None
    assert cost_of(
        AntiAffinity(level='rack', max_per_domain=2), TRIO, RACKS) == 0
    assert cost_of(AntiAffinity(), TRIO, RACKS, TWO_AND_ONE) == 0


def test_a_hard_encoding_forbids_hosts_without_a_domain():
    bare = cloud(host('a'), host('b'), host('c'), levels=('host',))
    assert cost_of(AntiAffinity(level='feed'), TRIO, bare) is None
    # This also holds where the limit alone is not reached.
    assert cost_of(AntiAffinity(level='feed', max_per_domain=3), TRIO,
                   bare) is None


def test_a_weighted_encoding_costs_weight_for_each_excess_member():
    placed = on(RACKS, node_0='r1h1', node_1='r1h1', node_2='r1h1')
    assert cost_of(AntiAffinity(weight=10), TRIO, RACKS, placed) == 20
    assert cost_of(AntiAffinity(level='rack', weight=3), TRIO, RACKS) == 3


def test_encoding_and_check_agree_on_hosts_without_a_domain():
    feeds = cloud(host('a', labels={'feed': 'A'}), host('b'),
                  levels=('host',))
    policy = AntiAffinity(level='feed', weight=1)
    for names, expected in (('aaa', 2), ('aab', 2), ('abb', 2), ('bbb', 3)):
        placed = on(feeds, **{f'node_{n}': h for n, h in enumerate(names)})
        assert cost_of(policy, TRIO, feeds, placed) == expected
        assert policy.check(TRIO, placed, feeds).count == expected


def test_soft_anti_affinity_is_anti_affinity_with_weight_1():
    policy = SoftAntiAffinity.from_document(
        {'max_per_domain': 2}, weight=None, place='policies[0]')
    assert (policy.weight, policy.max_per_domain) == (1, 2)
    assert (policy.level, policy.hard) == ('host', False)


def test_soft_anti_affinity_accepts_a_share():
    policy = SoftAntiAffinity.from_document(
        {'level': 'rack', 'max_per_domain': '50%'}, weight=None, place='')
    four = scope_of(servers('node', 4))
    # Three of four members are in one rack, and half of them may be.
    where = on(RACKS, node_0='r1h1', node_1='r1h1', node_2='r1h2',
               node_3='r2h1')
    assert policy.check(four, where, RACKS).count == 1
    assert cost_of(policy, four, RACKS, where) == 1

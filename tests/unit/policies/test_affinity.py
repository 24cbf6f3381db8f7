# SPDX-License-Identifier: Apache-2.0
"""The check and the encoding of the policy affinity."""

from nova_holistic.policies.affinity import Affinity, SoftAffinity
from tests.unit.builders import cloud, group, host, on, servers, two_racks
from tests.unit.policies.encoding import cost_of


def scope_of(*members):
    return next(group(*members).scopes())


PAIR = scope_of(servers('node', 2))
TRIO = scope_of(servers('node', 3))
RACKS = two_racks()


def test_two_servers_in_one_rack_satisfy_affinity():
    placement = on(RACKS, node_0='r1h1', node_1='r1h2')
    assert Affinity(level='rack').check(PAIR, placement, RACKS).count == 0


def test_the_default_level_is_the_host():
    placement = on(RACKS, node_0='r1h1', node_1='r1h2')
    found = Affinity().check(PAIR, placement, RACKS)
    assert found.count == 1
    assert found.messages == (
        'members are in 2 domains of level host instead of one: '
        'r1/r1h1 has node-0; r1/r1h2 has node-1',)


def test_racks_with_one_name_in_two_zones_are_separate():
    zones = cloud(host('a', 'az1', 'rack1'), host('b', 'az2', 'rack1'),
                  levels=('az', 'rack', 'host'))
    placement = on(zones, node_0='a', node_1='b')
    assert Affinity(level='rack').check(PAIR, placement, zones).count == 1


def test_each_further_domain_is_a_violation():
    placement = on(RACKS, node_0='r1h1', node_1='r1h2', node_2='r2h1')
    assert Affinity(level='host').check(TRIO, placement, RACKS).count == 2
    assert Affinity(level='rack').check(TRIO, placement, RACKS).count == 1


def test_a_host_without_the_label_is_a_violation():
    feeds = cloud(host('a', 'r1', labels={'power_feed': 'A'}),
                  host('b', 'r1'))
    placement = on(feeds, node_0='a', node_1='b')
    found = Affinity(level='power_feed').check(PAIR, placement, feeds)
    assert found.count == 1
    assert found.messages == (
        'node-1 is on host b, which is in no domain of level power_feed',)


def test_unplaced_members_violate_nothing():
    placement = on(RACKS, node_1='r2h1')
    assert Affinity().check(PAIR, placement, RACKS).count == 0
    assert Affinity().check(PAIR, {}, RACKS).count == 0


def test_a_hard_encoding_forbids_two_domains():
    apart = on(RACKS, node_0='r1h1', node_1='r2h1')
    together = on(RACKS, node_0='r1h1', node_1='r1h2')
    assert cost_of(Affinity(level='rack'), PAIR, RACKS, apart) is None
    assert cost_of(Affinity(level='rack'), PAIR, RACKS, together) == 0


def test_a_hard_encoding_allows_the_remaining_members():
    placed = on(RACKS, node_0='r1h1')
    assert cost_of(Affinity(level='rack'), PAIR, RACKS, placed) == 0
    assert cost_of(Affinity(level='rack'), PAIR, RACKS) == 0


def test_a_hard_encoding_forbids_hosts_without_a_domain():
    feeds = cloud(host('a', 'r1'), host('b', 'r1'))
    assert cost_of(Affinity(level='power_feed'), PAIR, feeds) is None


def test_a_weighted_encoding_costs_weight_for_each_further_domain():
    placed = on(RACKS, node_0='r1h1', node_1='r1h2', node_2='r2h1')
    assert cost_of(Affinity(weight=10), TRIO, RACKS, placed) == 20
    assert cost_of(
        Affinity(level='rack', weight=10), TRIO, RACKS, placed) == 10


def test_encoding_and_check_agree_on_hosts_without_a_domain():
    feeds = cloud(host('a', 'r1'), host('b', 'r1', labels={'feed': 'A'}))
    policy = Affinity(level='feed', weight=1)
    for names in ({'node_0': 'a', 'node_1': 'a'},
                  {'node_0': 'a', 'node_1': 'b'},
                  {'node_0': 'b', 'node_1': 'b'}):
        expected = list(names.values()).count('a')
        placed = on(feeds, **names)
        assert cost_of(policy, PAIR, feeds, placed) == expected
        assert policy.check(PAIR, placed, feeds).count == expected


def test_a_group_without_members_costs_nothing():
    empty = scope_of()
    assert cost_of(Affinity(), empty, RACKS) == 0
    assert cost_of(Affinity(weight=1), empty, RACKS) == 0


def test_soft_affinity_is_affinity_with_weight_1():
    policy = SoftAffinity.from_document({}, weight=None, place='policies[0]')
    assert (policy.weight, policy.level, policy.hard) == (1, 'host', False)
    heavier = SoftAffinity.from_document(
        {'level': 'rack'}, weight=5, place='policies[0]')
    assert (heavier.weight, heavier.levels) == (5, ('rack',))

# SPDX-License-Identifier: Apache-2.0
"""Relationships in plans, in the check, and in reasons."""

from dataclasses import replace

import pytest

from nova_holistic.model.cloud.snapshot import Link
from nova_holistic.model.group import Group
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.relationship_affinity import RelationshipAffinity
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.check import check
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, servers, two_racks
from tests.unit.solver.scenario import plan


def linked(r1, r2, vcpus=4):
    """Return two racks of two hosts, with uplinks of ``r1`` and ``r2`` Mbit/s.
    """
    return cloud(*(host(f'{rack}h{n}', rack, vcpus=vcpus)
                   for rack in ('r1', 'r2') for n in (1, 2)),
                 links=[Link(('r1',), r1), Link(('r2',), r2)])


def rack_of(planned, member):
    return planned.hosts[member][:2]


def test_a_relationship_affinity_puts_each_pair_on_one_host():
    shop = group(
        servers('proxy', 2), servers('db', 2), relationships=[
            RelationshipAffinity(between=(f'proxy-{n}', f'db-{n}'))
            for n in (0, 1)],
        policies=[AntiAffinity(level='rack', max_per_domain=2)])
    found = plan(two_racks(), shop)
    assert found.hosts['proxy-0'] == found.hosts['db-0']
    assert found.hosts['proxy-1'] == found.hosts['db-1']
    assert found.racks() == [2, 2]


def test_a_relationship_affinity_does_not_confine_other_members():
    """The spread counts the hosts of both racks, and members of neither side
    are in the other rack."""
    shop = group(
        servers('proxy'), servers('db'), servers('other', 2),
        policies=[Spread(level='host', max_skew=0)],
        relationships=[RelationshipAffinity(
            between=('proxy', 'db'), level='rack')])
    planned = plan(two_racks(), shop)
    assert len({*planned.hosts.values()}) == 4
    assert rack_of(planned, 'proxy') == rack_of(planned, 'db')
    one_rack = {'proxy': 'r1h1', 'db': 'r1h2', 'other-0': 'r1h1',
                'other-1': 'r1h2'}
    assert len(check(shop, two_racks(), one_rack)) == 1


def test_a_relationship_anti_affinity_separates_two_tiers():
    shop = group(servers('web', 3, vcpus=8), servers('db', 4, vcpus=4),
                 relationships=[
                     RelationshipAntiAffinity(between=('web', 'db'))])
    found = plan(two_racks(), shop, objective='fewest-hosts')
    web = {found.hosts[f'web-{n}'] for n in range(3)}
    db = {found.hosts[f'db-{n}'] for n in range(4)}
    assert (len(web), len(db), web & db) == (2, 1, set())


def test_heavy_traffic_stays_in_one_rack_if_uplinks_are_too_small():
    # Each rack has room for all four servers. The traffic has 2 x 2 pairs of
    # 100 Mbit/s.
    pipe = Bandwidth(between=('web', 'db'), mbps=100, level='rack')
    shop = group(servers('web', 2), servers('db', 2), relationships=[pipe])
    found = plan(linked(99, 99), shop, objective='spread')
    assert len({rack_of(found, m) for m in found.hosts}) == 1


def test_servers_are_spread_if_uplinks_are_large_enough():
    pipe = Bandwidth(between=('web', 'db'), mbps=100, level='rack')
    shop = group(servers('web', 2), servers('db', 2), relationships=[pipe])
    found = plan(linked(400, 400), shop, objective='spread')
    assert found.racks() == [2, 2]


def test_traffic_of_placed_members_counts_on_the_uplink():
    pipe = Bandwidth(between=('web', 'db'), mbps=100, level='rack')
    shop = group(servers('web', 2), servers('db'), relationships=[pipe])
    placed = {'web-0': 'r1h1', 'db': 'r2h1'}
    found = plan(linked(100, 400), shop, placed=placed)
    assert rack_of(found, 'web-1') == 'r2'


def test_a_preference_for_less_traffic_outweighs_the_objective():
    pipe = Bandwidth(between=('web', 'db'), mbps=100, level='rack',
                     weight=0.01)
    shop = group(servers('web', 2), servers('db', 2), relationships=[pipe])
    found = plan(linked(400, 400), shop, objective='spread')
    assert len({rack_of(found, m) for m in found.hosts}) == 1
    (preference,) = found.answer.preferences
    assert (preference.policy, preference.at, preference.violations) == (
        'bandwidth between web and db', '', 0)


def test_the_objective_network_puts_the_busiest_pair_on_one_host():
    shop = group(
        servers('a', vcpus=2), servers('b', vcpus=2), servers('c', vcpus=2),
        relationships=[
            Bandwidth(between=('a', 'b'), mbps=10, weight=1e-6),
            Bandwidth(between=('b', 'c'), mbps=30, weight=1e-6)])
    found = plan(linked(0, 0, vcpus=4), shop, objective='network')
    assert found.hosts['b'] == found.hosts['c']
    assert rack_of(found, 'a') == rack_of(found, 'b')
    # The path from a to b has two uplinks, one of each host.
    assert found.objective.value == 20


def test_the_objective_network_costs_nothing_without_traffic():
    found = plan(two_racks(), group(servers('web', 3)), objective='network')
    assert (found.objective.value, found.objective.gap) == (0, 0)


def test_the_check_names_both_sides_and_the_declaring_group():
    apart = RelationshipAntiAffinity(between=('web', 'db'), level='rack')
    tiers = Group('tiers', (servers('web'), servers('db')),
                  relationships=(apart,))
    found = check(group(groups=[tiers]), two_racks(),
                  {'tiers/web': 'r1h1', 'tiers/db': 'r1h2'})
    assert [(r.at, r.message) for r in found] == [(
        'tiers: anti-affinity between web and db',
        'rack r1 holds tiers/web together with tiers/db')]


def test_the_check_refuses_an_overloaded_uplink():
    pipe = Bandwidth(between=('web', 'db'), mbps=100, level='rack')
    shop = group(servers('web'), servers('db'), relationships=[pipe])
    found = check(shop, linked(99, 100), {'web': 'r1h1', 'db': 'r2h1'})
    assert [(r.at, r.message) for r in found] == [(
        'bandwidth between web and db',
        'the uplink of rack r1 would carry 100 Mbit/s; 0 of its 99 are used '
        'by others')]


def test_only_conflicting_policies_are_named():
    shop = group(
        servers('web', 2), servers('db'), servers('other'),
        policies=[Affinity(level='rack')], relationships=[
            RelationshipAntiAffinity(between=('web', 'db'), level='rack'),
            RelationshipAntiAffinity(between=('web', 'other'))])
    shown = str(solve(shop, two_racks()).reasons)
    assert 'between web and db' in shown
    assert 'between web and other' not in shown


def test_only_the_bandwidth_that_does_not_fit_is_named():
    # A rack has room for web with small, or for small with big, but not for
    # web with big. One of the bandwidths crosses the uplinks of 500 Mbit/s.
    small = Bandwidth(between=('web', 'small'), mbps=10, level='rack')
    big = Bandwidth(between=('web', 'big'), mbps=1000, level='rack')
    shop = group(
        servers('web', vcpus=4), servers('small'), servers('big', vcpus=4),
        relationships=[small, big])
    one = cloud(host('a', 'r1', vcpus=5), host('b', 'r2', vcpus=5),
                links=[Link(('r1',), 500), Link(('r2',), 500)])
    shown = str(solve(shop, one).reasons)
    assert 'between web and big' in shown
    assert 'between web and small' not in shown


def _left(name, number=2):
    """A description whose servers have all left the group."""
    return replace(servers(name, number), absent=frozenset(
        f'{name}-{n}' for n in range(number)))


@pytest.mark.parametrize('strategy', ['auto', 'whole'])
def test_a_side_without_servers_needs_no_rack(strategy):
    """Its servers have all left the group. The cloud has a single rack."""
    wanted = group(servers('web', 2), _left('db'), relationships=[
        RelationshipAntiAffinity(between=('web', 'db'), level='rack')])
    plan(cloud(host('h1', 'r1')), wanted,
         settings=Settings(strategy)).uses('h1')


@pytest.mark.parametrize('strategy', ['auto', 'whole'])
def test_an_exclusive_group_without_servers_needs_no_rack(strategy):
    wanted = group(servers('web', 2), groups=[
        group(_left('db'), name='alone', policies=[Exclusive(level='rack')])])
    plan(cloud(host('h1', 'r1')), wanted,
         settings=Settings(strategy)).uses('h1')

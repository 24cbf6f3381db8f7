# SPDX-License-Identifier: Apache-2.0
"""The changes that make an unplaceable group fit."""

from dataclasses import replace
import itertools

import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.members.volume import Volume
from nova_holistic.model.plan import Unplaceable
from nova_holistic.model.relaxations import (
    AddedHosts, AsPreferences, LowerCount, MoreHosts, Rule)
from nova_holistic.model.request_group import RequestGroup
from nova_holistic.model.storage_pools import (
    pool_traits, snapshot_for, VOLUME_GB)
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.aggregates import Aggregates
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.availability_zone import AvailabilityZone
from nova_holistic.policies.location import Location
from nova_holistic.policies.relationship_affinity import (
    RelationshipAffinity)
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.relaxations.relax import relax
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, servers, two_racks
from tests.unit.solver.clocks import standing


def relaxed(snapshot, wanted, **options):
    """Return the relaxations of a group, which must be unplaceable."""
    answer = solve(wanted, snapshot)
    assert isinstance(answer, Unplaceable), answer
    return relax(wanted, snapshot, **{
        'reasons': answer.reasons, 'settings': Settings(timer=standing),
        **options})


def names(found):
    """Return (position, name) of each rule, for each relaxation."""
    return [[(rule.position, rule.name) for rule in each.rules]
            for each in found.preferences]


def test_a_rule_that_needs_more_racks_has_three_relaxations():
    found = relaxed(two_racks(), group(
        servers('node', 3), policies=[AntiAffinity(level='rack')]))
    assert found.preferences == (AsPreferences(
        (Rule('policies[0]', '', 'anti-affinity rack'),), True),)
    assert found.counts == (LowerCount(
        'members[0].count', 'node', 2, 3, True),)
    assert found.hosts == MoreHosts(
        1, 'r1h1', (AddedHosts(('new-1',), 'r1h1', 1),), True, True)
    assert found.undecided == ()


def test_hosts_are_added_to_existing_racks_if_they_help_there():
    found = relaxed(two_racks(), group(servers('node', 22, vcpus=4)))
    assert found.hosts.hosts == 2
    assert not found.hosts.in_new_domains
    assert {each.location for each in found.hosts.added} <= {('r1',), ('r2',)}
    assert found.hosts.smallest
    assert found.preferences == ()
    assert found.counts == (LowerCount(
        'members[0].count', 'node', 16, 22, True),)


def test_hosts_are_added_where_a_policy_keeps_the_members():
    found = relaxed(two_racks(), group(
        servers('node', 4, vcpus=16), policies=[Location(path=('r2',))]))
    assert found.hosts == MoreHosts(
        2, 'r1h1', (AddedHosts(('r2',), 'r2h1', 2),), False, True)
    assert names(found) == [[('policies[0]', 'location r2')]]


@pytest.mark.parametrize('policies, helps', [
    ([], True), ([AvailabilityZone(zone='az1')], False)])
def test_hosts_of_a_new_zone_are_in_this_zone(policies, helps):
    """Members in different zones need a second zone. If all of them have to be
    in the first zone, hosts in a new zone do not help."""
    snapshot = cloud(
        host('h1', 'az1', 'r1', availability_zone='az1'),
        levels=('az', 'rack', 'host'))
    found = relaxed(snapshot, group(servers('node', 2), policies=[
        AntiAffinity(level='az'), *policies]))
    assert (found.hosts is not None) == helps
    assert not helps or [each.location for each in found.hosts.added] == [
        ('new-1', 'new-1')]


def test_hosts_of_a_new_rack_have_the_aggregate_that_members_need():
    snapshot = cloud(host('slow', 'r1'),
                     host('fast', 'r1', aggregates=frozenset({'ssd'})))
    nodes = servers('node', 2, aggregates=frozenset({'ssd'}))
    found = relaxed(snapshot, group(
        nodes, policies=[AntiAffinity(level='rack')]))
    assert found.hosts == MoreHosts(
        1, 'slow', (AddedHosts(('new-1',), 'fast', 1),), True, True)


def test_the_kind_of_host_with_the_smallest_required_number_is_chosen():
    snapshot = cloud(host('small-1', 'r1', vcpus=4),
                     host('small-2', 'r1', vcpus=4),
                     host('large', 'r1', inventories={
                         'VCPU': Inventory(16, used=16)}))
    found = relaxed(snapshot, group(servers('node', 6, vcpus=4)))
    assert (found.hosts.hosts, found.hosts.like) == (1, 'large')
    assert found.hosts.smallest


def test_disabled_hosts_are_no_kind():
    snapshot = cloud(host('one', 'r1', vcpus=4),
                     host('off', 'r1', vcpus=64, enabled=False))
    found = relaxed(snapshot, group(servers('node', 3, vcpus=4)))
    assert (found.hosts.hosts, found.hosts.like) == (2, 'one')


def test_no_number_of_hosts_helps_a_member_that_no_kind_can_take():
    found = relaxed(two_racks(), group(servers('node', 2, vcpus=17)))
    assert (found.preferences, found.counts, found.hosts, found.undecided
            ) == ((), (), None, ())


def test_a_member_that_is_bound_to_one_host_may_be_freed():
    found = relaxed(two_racks(), group(
        servers('node', 5, vcpus=6, location=('r1', 'r1h1'))))
    assert found.preferences == (AsPreferences(
        (Rule('members[0].location', 'node', 'location'),), True),)
    assert found.hosts is None
    assert found.undecided == ()


def test_rules_of_nested_groups_have_their_position_and_path():
    part = group(servers('node', 3), name='db',
                 policies=[AntiAffinity(level='rack')])
    found = relaxed(two_racks(), group(servers('web'), groups=[part]))
    assert found.preferences[0].rules == (
        Rule('groups[0].policies[0]', 'db', 'anti-affinity rack'),)
    assert found.counts == (LowerCount(
        'groups[0].members[0].count', 'db/node', 2, 3, True),)


def test_two_rules_that_each_leave_no_plan_are_a_set():
    found = relaxed(two_racks(), group(
        servers('node', 3, vcpus=16),
        policies=[Affinity(level='rack'), AntiAffinity(level='rack')]))
    assert names(found) == [[('policies[0]', 'affinity rack'),
                             ('policies[1]', 'anti-affinity rack')]]
    assert found.preferences[0].smallest


def test_either_of_two_rules_at_odds_is_a_relaxation():
    found = relaxed(two_racks(), group(
        servers('node', 2),
        policies=[Affinity(level='rack'), AntiAffinity(level='rack')]))
    assert names(found) == [[('policies[0]', 'affinity rack')],
                            [('policies[1]', 'anti-affinity rack')]]


def test_more_than_two_rules_are_not_reported_as_the_fewest():
    found = relaxed(two_racks(), group(
        servers('a', 5, vcpus=12, location=('r1', 'r1h1')),
        servers('b', 5, vcpus=2, location=('r1', 'r1h2')),
        groups=[group(servers('c', 3), name='part',
                      policies=[AntiAffinity(level='rack')])]))
    assert found.preferences == ()
    found = relaxed(two_racks(), group(
        servers('a', 2, vcpus=12, location=('r1', 'r1h1')),
        servers('b', 2, vcpus=12, location=('r2', 'r2h1')),
        groups=[group(servers('c', 3), name='part',
                      policies=[AntiAffinity(level='rack')])]))
    (each,) = found.preferences
    assert [rule.position for rule in each.rules] == [
        'members[0].location', 'members[1].location',
        'groups[0].policies[0]']
    assert not each.smallest


def test_a_count_is_not_lowered_below_a_server_that_a_relationship_names():
    found = relaxed(cloud(host('h1', 'r1', vcpus=3)), group(
        servers('node', 4), servers('web'),
        relationships=[RelationshipAffinity(between=('node-2', 'web'))]))
    assert found.counts == ()
    found = relaxed(cloud(host('h1', 'r1', vcpus=3)), group(
        servers('node', 4), servers('web'),
        relationships=[RelationshipAffinity(between=('node-1', 'web'))]))
    assert [each.count for each in found.counts] == [2]


def test_a_larger_count_may_fit_where_a_smaller_one_does_not():
    """Seven servers cannot be spread evenly over three racks. Six and three
    can, but five and four cannot."""
    snapshot = cloud(*(host(f'h{n}', f'r{n}') for n in range(3)))
    found = relaxed(snapshot, group(servers('node', 7), policies=[
        Spread(level='rack', max_skew=0)]))
    assert found.counts == (LowerCount(
        'members[0].count', 'node', 6, 7, True),)


def test_preferences_stay_out_of_the_question():
    found = relaxed(two_racks(), group(servers('node', 3), policies=[
        AntiAffinity(level='rack'), Affinity(level='rack', weight=5.0)]))
    assert names(found) == [[('policies[0]', 'anti-affinity rack')]]


def test_what_there_was_no_time_for_is_undecided_and_not_excluded():
    found = relaxed(
        two_racks(),
        group(servers('node', 3), policies=[AntiAffinity(level='rack')]),
        settings=Settings(time_limit=0.0, timer=standing))
    assert (found.preferences, found.counts, found.hosts) == ((), (), None)
    assert found.undecided == (
        'policies[0]', 'rules', 'members[0].count', 'hosts')


def test_the_time_limit_is_kept():
    """On a timer that advances with every reading, the last solver call begins
    before the time limit and ends soon after it."""
    readings = itertools.count()
    relax(
        group(*(servers(f'n{n}', 9, vcpus=4) for n in range(3)),
              policies=[AntiAffinity(level='rack')]),
        two_racks(),
        settings=Settings(time_limit=1.0, timer=lambda: next(readings) * 1e-3))
    assert next(readings) * 1e-3 < 1.1


def _card(used):
    return NestedProvider('card', 'card', '', FrozenMapping(
        {'VGPU': Inventory(1, used=used)}))


@pytest.mark.parametrize('requirements', [
    Requirements(FrozenMapping({'VGPU': 1})),
    Requirements(request_groups=(
        RequestGroup('1', FrozenMapping({'VGPU': 1})),))],
    ids=['outside groups', 'in a group'])
def test_more_hosts_have_empty_cards(requirements):
    """A host without a card comes first, and does not help."""
    snapshot = cloud(host('plain', 'r1'), host(
        'fast', 'r1', providers=(_card(1),)))
    found = relaxed(snapshot, group(MemberDescription('gpu', requirements, 2)))
    assert found.hosts == MoreHosts(
        2, 'fast', (AddedHosts(('r1',), 'plain', 2),), False, True)
    assert not found.undecided


def test_more_hosts_do_not_extend_a_shared_storage():
    storage = NestedProvider('nfs', 'nfs', '', FrozenMapping(
        {'DISK_GB': Inventory(10)}), sharing=True)
    snapshot = cloud(host('h1', 'r1', providers=(storage,)))
    found = relaxed(snapshot, group(MemberDescription(
        'web', Requirements(FrozenMapping({'DISK_GB': 6})), 2)))
    assert found.hosts is None
    assert found.counts == (LowerCount(
        'members[0].count', 'web', 1, 2, True),)
    assert not found.undecided


def test_a_new_storage_pool_is_in_no_aggregate():
    asked = group(servers('db'), MemberDescription(
        'data', Requirements(volume=Volume(5))), policies=[
            Aggregates(names=frozenset({'ssd'}))])
    snapshot = snapshot_for(asked, replace(
        cloud(host('h1', 'r1', aggregates=frozenset({'ssd'}))),
        pools=(host('pool', 'r1', inventories={VOLUME_GB: Inventory(9)},
                    traits=pool_traits(())),)))
    found = relaxed(snapshot, asked)
    assert found.hosts is None
    assert [each.rules[0].name for each in found.preferences] == [
        'aggregates ssd']
    assert not found.undecided

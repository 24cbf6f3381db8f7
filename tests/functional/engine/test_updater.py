# SPDX-License-Identifier: Apache-2.0
"""Updates to a revised definition: members with a server keep their places."""

import copy

import pytest

from nova_holistic.table.errors import MemberUnknown
from nova_holistic.table.records import GroupStatus, MemberState
from tests.functional.engine.updates import (
    assert_settled, fill, held, hosts, LARGE, revised, rows, update)
from tests.functional.engine.world import RACKS, shop, SMALL


def test_existing_members_stay_when_members_are_added(world):
    group = world.create()
    before = rows(world, group)
    record = update(world, group, revised() | {'members': [
        {'name': 'cache', 'resources': SMALL},
        {'name': 'web', 'resources': SMALL}]})
    assert_settled(world, group, 2)
    assert (record.status, record.reasons) == (GroupStatus.PLANNED, ())
    after = rows(world, group)
    assert list(after) == ['cache', 'web', 'db/node-0', 'db/node-1']
    assert {p: m for p, m in after.items() if p != 'cache'} == before
    world.assert_agreement()
    world.build(group, 'cache')
    world.assert_agreement()


def test_an_update_stores_the_new_name_document_and_objective(world):
    group = world.create()
    document = revised() | {'name': 'store'}
    record = update(world, group, document, objective='stack')
    assert (record.name, record.document, record.objective) == (
        'store', document, 'stack')


def test_removing_a_planned_member_frees_its_capacity(world):
    group = world.create()
    update(world, group, revised(nodes=1))
    assert list(rows(world, group)) == ['web', 'db/node-0']
    world.assert_agreement()
    with pytest.raises(MemberUnknown):
        world.claim(group, 'db/node-1')


def test_removing_a_built_member_keeps_its_server(world):
    group = world.create()
    row = world.build(group, 'db/node-1')
    record = update(world, group, revised(nodes=1))
    assert record.status == GroupStatus.PLANNED
    assert list(rows(world, group)) == ['web', 'db/node-0']
    assert world.holds.has(row.instance_uuid, row)
    assert world.vcpus_used() == 2 + 1


def test_an_update_moves_planned_members_and_not_built_ones(world):
    group = world.create(revised(policies=[
        {'type': 'affinity', 'level': 'rack'}]))
    built = world.build(group, 'db/node-0').place.host
    record = update(world, group, revised())
    assert record.reasons == ()
    after = hosts(world, group)
    assert after['db/node-0'] == built
    assert RACKS[after['db/node-1']] != RACKS[built]
    world.assert_agreement()


def test_an_update_moves_as_few_members_as_possible(world):
    """Four members are in one rack. The new policy allows two of them
    there."""
    single = {'name': 'db',
              'policies': [{'type': 'affinity', 'level': 'rack'}],
              'members': [{'name': 'node', 'count': 4, 'resources': SMALL}]}
    group = world.create({'group': single})
    before = hosts(world, group)
    record = update(world, group, {**single, 'policies': [
        {'type': 'anti-affinity', 'level': 'rack', 'max_per_domain': 2}]})
    assert record.reasons == ()
    after = hosts(world, group)
    assert sum(before[path] != after[path] for path in before) == 2
    world.assert_agreement()


def test_a_new_preference_moves_no_member(world):
    group = world.create(revised(top=[{'type': 'affinity', 'level': 'host'}],
                                 nodes=1))
    before = hosts(world, group)
    update(world, group, revised(nodes=1, top=[
        {'type': 'anti-affinity', 'level': 'host', 'weight': 10}]))
    assert hosts(world, group) == before


def test_an_update_moves_other_members_if_the_changed_ones_cannot(world):
    """The new definition requires the database to be on the host of the web
    server, so the web server must move."""
    group = world.create(revised(nodes=1, node=LARGE, top=[
        {'type': 'anti-affinity', 'level': 'rack'}]))
    at = hosts(world, group)
    rack = RACKS[at['web']]
    fill(world, *(h for h, r in RACKS.items() if h == at['web']
                  or r != rack and h != at['db/node-0']))
    record = update(world, group, revised(
        nodes=1, node=LARGE, top=[],
        policies=[{'type': 'location', 'path': f'{rack}/{at["web"]}'}]))
    assert record.reasons == ()
    after = hosts(world, group)
    assert after['db/node-0'] == at['web'] != after['web']
    assert world.holds.has(rows(world, group)['web'].hold,
                           rows(world, group)['web'])


def test_an_unplaceable_update_changes_nothing(world):
    group = world.create()
    world.build(group, 'web')
    before, record = rows(world, group), world.table.get_group(group.uuid)
    refused = update(world, group, revised(nodes=3))
    assert_settled(world, group, 1)
    assert refused.reasons and all(r['message'] for r in refused.reasons)
    assert (refused.document, refused.status) == (
        record.document, record.status)
    assert rows(world, group) == before
    world.assert_agreement()


def test_an_update_that_built_servers_violate_is_refused(world):
    group = world.create()
    for path in ('db/node-0', 'db/node-1'):
        world.build(group, path)
    refused = update(world, group, revised(policies=[
        {'type': 'affinity', 'level': 'rack'}]))
    assert refused.reasons and refused.revision == 1
    world.assert_agreement()


def test_an_unknown_flavor_is_reported_with_its_position(world):
    group = world.create()
    document = revised()
    del document['members'][0]['resources']
    document['members'][0]['flavor'] = 'huge'
    refused = update(world, group, document)
    assert refused.reasons[0]['at'] == 'members[0].flavor'
    assert_settled(world, group, 1)
    world.assert_agreement()


def test_an_unknown_flavor_without_a_replica_is_reported(world):
    group = world.create()
    document = revised()
    document['groups'].append({
        'name': 'more', 'count': {'min': 0, 'desired': 0, 'max': 2},
        'members': [{'name': 'node', 'flavor': 'huge'}]})
    refused = update(world, group, document)
    assert refused.reasons[0]['at'] == 'groups[1].members[0].flavor'
    assert_settled(world, group, 1)
    world.assert_agreement()


def test_a_planned_member_with_more_resources_is_replanned(world):
    group = world.create()
    update(world, group, revised(web=LARGE))
    row = rows(world, group)['web']
    assert row.member.requirements.resources == LARGE
    assert world.holds.has(row.hold, row)
    assert world.vcpus_used() == 2 + 2


def test_the_resources_of_a_built_member_cannot_change(world):
    group = world.create()
    world.build(group, 'db/node-0')
    refused = update(world, group, revised(node=LARGE))
    assert [r['at'] for r in refused.reasons] == ['db/node-0']
    assert refused.revision == 1
    world.assert_agreement()


def test_an_update_plans_released_members_again(world):
    group = world.create()
    world.lifecycle.release(group.uuid)
    record = update(world, group, revised())
    assert record.status == GroupStatus.PLANNED
    assert record.lease_expires_at > world.now
    assert set(world.states(group).values()) == {'planned'}
    world.assert_agreement()
    world.build(group, 'web')


def test_an_unplaceable_group_is_planned_by_a_smaller_definition(world):
    group = world.create(shop(3))
    assert group.status == GroupStatus.UNPLACEABLE
    record = update(world, group, revised(nodes=2))
    assert (record.status, record.reasons) == (GroupStatus.PLANNED, ())
    assert record.lease_expires_at > world.now
    world.assert_agreement()


def test_adding_a_member_returns_a_complete_group_to_building(world):
    group = world.create()
    for path in rows(world, group):
        world.build(group, path)
    world.table.settle(group.uuid, world.now)
    assert update(world, group, revised() | {'members': [
        {'name': 'web', 'resources': SMALL},
        {'name': 'cache', 'resources': SMALL}]}).status == (
            GroupStatus.BUILDING)
    world.assert_agreement()


def test_an_update_places_a_lost_member_too(world):
    group = world.create()
    row = rows(world, group)['web']
    world.holds.drop([row.hold])
    world.table.change_state(row.id, [MemberState.PLANNED], MemberState.LOST,
                             world.now, held=False)
    update(world, group, revised(nodes=1))
    assert world.states(group) == {'web': 'planned', 'db/node-0': 'planned'}
    world.assert_agreement()


def test_a_new_member_can_use_the_capacity_of_a_removed_one(world):
    """The cloud is full; a member is replaced by another one."""
    group = world.create()
    fill(world)
    used = world.vcpus_used()
    document = revised()
    document['members'][0]['name'] = 'front'
    record = update(world, group, document)
    assert record.reasons == ()
    assert list(rows(world, group)) == ['front', 'db/node-0', 'db/node-1']
    assert world.vcpus_used() == used
    row = rows(world, group)['front']
    assert row.held and world.holds.has(row.hold, row)
    world.build(group, 'front')


def test_members_exchange_hosts_in_a_full_cloud(world):
    single = {'name': 'pair', 'members': [
        {'name': name, 'resources': LARGE, 'location': f'a/{host}'}
        for name, host in (('one', 'a1'), ('two', 'a2'))]}
    group = world.create({'group': single})
    fill(world)
    crossed = copy.deepcopy(single)
    for member, host in zip(crossed['members'], ('a2', 'a1')):
        member['location'] = f'a/{host}'
    record = update(world, group, crossed)
    assert record.reasons == ()
    assert hosts(world, group) == {'one': 'a2', 'two': 'a1'}
    assert held(world, group) == 2


def test_an_exclusive_group_can_be_updated_beside_its_own_servers(world):
    alone = {'name': 'alone', 'policies': [{'type': 'exclusive'}],
             'members': [{'name': 'node', 'count': 2, 'resources': SMALL}]}
    group = world.create({'group': alone})
    world.build(group, 'node-0')
    more = copy.deepcopy(alone)
    more['members'][0]['count'] = 3
    assert update(world, group, more).reasons == ()
    less = copy.deepcopy(alone)
    less['members'][0]['skip'] = [0]
    assert update(world, group, less).reasons == ()
    assert world.states(group) == {'node-1': 'planned'}

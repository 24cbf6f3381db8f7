# SPDX-License-Identifier: Apache-2.0
"""Requests about groups, from their creation until all capacity is free."""

import re

from tests.functional.engine.world import RACKS, shop, SMALL
from tests.unit.api.service import ADMIN, refusal, SHOP

TOO_MANY = {'name': 'crowd', 'members': [
    {'name': 'node', 'count': 9, 'resources': SMALL}]}


def create(service, document=None, **headers):
    return service.ask('POST', '/v1/groups?wait=30',
                       document or shop(), headers=headers)


def test_a_group_is_created_shown_and_placed(world, service):
    answer = create(service)
    assert answer.status_int == 201
    group = answer.json['group']
    assert (group['status'], group['task']) == ('planned', None)
    assert group['members'] == {'planned': 3}
    assert answer.headers['Location'].endswith(f'/v1/groups/{group["id"]}')
    assert answer.headers['ETag'].startswith('"1-')
    body = service.ask('GET', f'/v1/groups/{group["id"]}').json['group']
    assert body.pop('definition') == shop()['group']
    assert body.pop('counts') == []
    assert body == group
    world.assert_agreement()
    assert world.vcpus_used() == 3


def test_only_an_administrator_sees_member_hosts(world, service):
    group = create(service).json['group']['id']
    path = f'/v1/groups/{group}/placements'
    own_answer = service.ask('GET', path).json['placements']
    assert [each['member'] for each in own_answer] == [
        'web', 'db/node-0', 'db/node-1']
    assert all(set(each) == {'member', 'state', 'instance_uuid'}
               for each in own_answer)
    placements = service.ask('GET', path, token=ADMIN).json['placements']
    placed = world.hosts_in_use(group)
    assert {each['member']: each['host'] for each in placements} == placed
    nodes = [each['location'] for each in placements
             if 'node' in each['member']]
    assert sorted(nodes) == [['a'], ['b']]


def test_an_unplaceable_group_has_reasons_and_holds_nothing(world, service):
    answer = create(service, {'group': TOO_MANY})
    assert answer.status_int == 201
    group = answer.json['group']
    assert group['status'] == 'unplaceable'
    assert group['reasons']
    assert world.vcpus_used() == 0


def test_reasons_for_a_project_name_no_rack(world, service):
    """The policy requires one rack, and no rack has capacity for five
    members."""
    document = {'name': 'near', 'policies': [
        {'type': 'affinity', 'level': 'rack'}], 'members': [
        {'name': 'node', 'count': 5, 'resources': SMALL}]}
    group = create(service, {'group': document}).json['group']['id']
    path = f'/v1/groups/{group}'
    own_answer = service.ask('GET', path).json['group']['reasons']
    shown = service.ask('GET', path, token=ADMIN).json['group']['reasons']
    assert [each['at'] for each in own_answer] == [
        each['at'] for each in shown]
    for each in own_answer:
        words = re.findall(r'[\w/-]+', each['message'])
        assert not set(words) & {*RACKS, 'b', 'a/a1', 'b/b1'}, each


def test_a_release_frees_the_capacity(world, service):
    group = create(service).json['group']['id']
    answer = service.ask('POST', f'/v1/groups/{group}/release',
                         {'release': {'members': ['db/node']}})
    assert answer.status_int == 200
    assert answer.json == {'released': ['db/node-0', 'db/node-1'],
                           'kept': []}
    assert world.vcpus_used() == 1
    service.ask('POST', f'/v1/groups/{group}/release', {'release': {}})
    assert world.vcpus_used() == 0


def test_an_unknown_member_cannot_be_released(world, service):
    group = create(service).json['group']['id']
    answer = service.ask('POST', f'/v1/groups/{group}/release',
                         {'release': {'members': ['web', 'nobody']}})
    assert refusal(answer)[:2] == (400, 'holistic.unknown_member')
    assert world.vcpus_used() == 3


def test_a_lease_is_extended(world, service):
    group = create(service, {**shop(), 'lease': 60}).json['group']
    assert group['lease_expires_at'] == '2030-01-01T12:01:00Z'
    answer = service.ask('POST', f'/v1/groups/{group["id"]}/extend',
                         {'extend': {'seconds': 3600}})
    assert answer.json['group']['lease_expires_at'] == '2030-01-01T13:00:00Z'


def test_a_released_group_has_no_lease_to_extend(service):
    group = create(service).json['group']['id']
    service.ask('POST', f'/v1/groups/{group}/release', {'release': {}})
    answer = service.ask('POST', f'/v1/groups/{group}/extend',
                         {'extend': {'seconds': 3600}})
    assert refusal(answer)[:2] == (409, 'holistic.conflict')


def test_deleting_a_group_frees_its_capacity(world, service):
    group = create(service).json['group']['id']
    path = f'/v1/groups/{group}'
    answer = service.ask('DELETE', path)
    assert (answer.status_int, answer.body) == (204, b'')
    assert service.ask('GET', path).status_int == 404
    assert service.ask('DELETE', path).status_int == 404
    assert world.vcpus_used() == 0


def test_an_unplaceable_group_is_planned_again_when_capacity_is_free(
        world, service):
    early = create(service).json['group']['id']
    document = {'name': 'late', 'members': [
        {'name': 'node', 'count': 6, 'resources': SMALL}]}
    late = create(service, {'group': document}).json['group']
    assert late['status'] == 'unplaceable'
    service.ask('DELETE', f'/v1/groups/{early}')
    answer = service.ask('POST', f'/v1/groups/{late["id"]}/replan?wait=9',
                         {'replan': {}})
    assert answer.status_int == 200
    assert answer.json['group']['status'] == 'planned'
    assert world.vcpus_used() == 6


def test_a_plan_holds_nothing_and_hides_its_hosts(world, service):
    answer = service.ask('POST', '/v1/plans?wait=9', shop())
    assert answer.status_int == 201
    plan = answer.json['plan']
    assert plan['status'] == 'planned'
    assert plan['placements'] == [
        {'member': 'web'}, {'member': 'db/node-0'}, {'member': 'db/node-1'}]
    path = f'/v1/plans/{plan["id"]}'
    admin_plan = service.ask('GET', path, token=ADMIN).json['plan']
    assert {each['host'] for each in admin_plan['placements']} <= set(
        world.hosts)
    assert world.vcpus_used() == 0


def test_an_unplaceable_plan_has_reasons(service):
    plan = service.ask('POST', '/v1/plans?wait=9',
                       {'group': TOO_MANY}).json['plan']
    assert plan['status'] == 'unplaceable'
    assert plan['reasons']


def test_statistics_are_accepted_only_for_known_hosts(world, service):
    body = {'statistics': {'cpu_temperature': 61.5}}
    answer = service.ask('PUT', '/v1/hosts/a1/statistics', body, ADMIN)
    assert answer.status_int == 204
    assert world.table.statistics.since(world.now) == {
        'a1': {'cpu_temperature': 61.5}}
    answer = service.ask('PUT', '/v1/hosts/z9/statistics', body, ADMIN)
    assert refusal(answer)[:2] == (404, 'holistic.not_found')


def test_an_unknown_flavor_is_named_in_the_reasons(service):
    document = {'name': 'odd', 'members': [
        {'name': 'web', 'flavor': 'no-such-flavor'}]}
    group = create(service, {'group': document}).json['group']
    assert group['status'] in ('error', 'unplaceable')
    assert 'no-such-flavor' in group['reasons'][0]['message']


def test_a_repeated_create_holds_capacity_once(world, service):
    body = {'group': {**SHOP, 'members': [
        {'name': 'web', 'resources': SMALL}]}}
    first = create(service, body, **{'Idempotency-Key': 'one'})
    again = create(service, body, **{'Idempotency-Key': 'one'})
    assert first.json == again.json
    assert world.vcpus_used() == 1


def test_a_revision_keeps_built_servers_on_their_hosts(world, service):
    group = create(service).json['group']['id']
    row = world.build(world.table.get_group(group), 'web')
    revised = {'group': {**shop()['group'], 'members': [
        {'name': 'web', 'resources': SMALL},
        {'name': 'cache', 'resources': SMALL}]}}
    answer = service.ask('PUT', f'/v1/groups/{group}?wait=9', revised,
                         headers={'If-Match': '"1"'})
    assert answer.status_int == 200
    assert answer.headers['ETag'].startswith('"2-')
    assert answer.json['group']['members'] == {'planned': 3, 'built': 1}
    assert world.hosts_in_use(group)['web'] == row.place.host
    body = service.ask('GET', f'/v1/groups/{group}').json['group']
    assert body['definition'] == revised['group']
    again = service.ask('PUT', f'/v1/groups/{group}', revised,
                        headers={'If-Match': '"1"'})
    assert refusal(again)[:2] == (412, 'holistic.stale_revision')


def test_an_unplaceable_revision_changes_nothing_and_has_reasons(
        world, service):
    group = create(service).json['group']['id']
    before = world.hosts_in_use(group)
    answer = service.ask(
        'POST', f'/v1/groups/{group}/members?wait=9',
        {'members': [{'name': 'node', 'count': 1, 'group': 'db'}]})
    # The cloud has two racks, and the policy allows one node in each.
    assert answer.status_int == 200
    replanned = answer.json['group']
    assert (replanned['status'], replanned['revision']) == ('planned', 1)
    assert replanned['reasons']
    assert world.hosts_in_use(group) == before


def test_a_member_is_scaled_to_zero_and_removed(world, service):
    spare = {'name': 'spare', 'resources': SMALL, 'count': {
        'min': 0, 'desired': 2, 'max': 3}}
    document = shop()['group']
    group = create(service, {'group': {
        **document, 'members': [*document['members'], spare]},
    }).json['group']['id']
    path = f'/v1/groups/{group}'
    service.ask('POST', f'{path}/members?wait=30', {'members': [
        {'name': 'spare', 'count': {'desired': 0}}]})
    shown = service.ask('GET', path).json['group']
    assert [each['number'] for each in shown['counts']] == [0]
    answer = service.ask('DELETE', f'{path}/members/spare?wait=30')
    assert answer.status_int == 200, answer.text
    shown = service.ask('GET', path).json['group']
    assert (shown['definition'], shown['members']) == (
        document, {'planned': 3})
    world.assert_agreement()


def test_members_are_added_and_removed_one_by_one(world, service):
    group = create(service).json['group']['id']
    path = f'/v1/groups/{group}/members'
    answer = service.ask('POST', f'{path}?wait=9', {'members': [
        {'name': 'log', 'resources': SMALL}]})
    assert answer.json['group']['members'] == {'planned': 4}
    answer = service.ask('DELETE', f'{path}/log?wait=9')
    assert answer.json['group']['members'] == {'planned': 3}
    body = service.ask('GET', f'/v1/groups/{group}').json['group']
    assert body['definition'] == shop()['group']
    assert body['revision'] == 3
    assert world.vcpus_used() == 3


def test_a_project_cannot_exceed_its_member_limit(world, service):
    service.conf.set_override(
        'max_members_per_project', 5, group='holistic_api')
    service.renew()
    first = create(service).json['group']['id']
    assert refusal(create(service))[:2] == (403, 'holistic.over_limit')
    service.ask('POST', f'/v1/groups/{first}/release', {'release': {}})
    assert create(service).status_int == 201

# SPDX-License-Identifier: Apache-2.0
"""Members are added and removed one by one, as by an autoscaler."""

import pytest

from nova_holistic.table.records import GroupStatus
from tests.unit.api.service import refusal, SHOP

NESTED = {'name': 'shop', 'members': SHOP['members'], 'groups': [
    {'name': 'db', 'members': [{'name': 'disk', 'resources': {'VCPU': 1}}]}]}
LOG = {'name': 'log', 'resources': {'VCPU': 1}}


def asked_for(service, group):
    """The document that the engines must plan."""
    return service.table.get_group(group).pending['document']


def add(service, group, *members, **headers):
    return service.ask('POST', f'/v1/groups/{group}/members',
                       {'members': list(members)}, headers=headers)


def test_a_member_is_added_to_a_nested_group(service):
    group = service.planned(NESTED)
    answer = add(service, group, {**LOG, 'group': 'db'})
    assert (answer.status_int, answer.json['group']['task']) == (
        202, 'updating')
    after = asked_for(service, group)
    assert [m['name'] for m in after['groups'][0]['members']] == [
        'disk', 'log']
    assert after['members'] == NESTED['members']


def test_adding_to_a_counted_member_adds_one_server(service):
    group = service.planned()
    assert add(service, group, {'name': 'node'}).status_int == 202
    assert asked_for(service, group)['members'][1]['count'] == 4


@pytest.mark.parametrize('member, place', [
    (5, 'members[0]'), ({'group': 'db'}, 'members[0]'),
    ({**LOG, 'group': 7}, 'members[0].group'),
    ({**LOG, 'name': 7}, 'members[0].name'),
    ({**LOG, 'group': 'nowhere'}, 'members[0].group'),
    ({'name': 'web', 'resources': {'VCPU': 9}}, 'members[0].name'),
    ({**LOG, 'count': 0}, 'count'), ({'name': 'bare'}, 'members[0]'),
    ({**LOG, 'resources': {'VCPU': 0}}, 'members[0].resources.VCPU'),
    ({'resources': {'VCPU': 1}}, 'members[0]: name is missing'),
    ({'name': 'node', 'count': 20000}, 'members[0].count'),
    ({'name': 'node', 'count': {'min': 9}}, 'members[0].count.min'),
    ({'name': 'node', 'count': {}}, 'members[0].count')])
def test_an_invalid_member_is_refused(service, member, place):
    group = service.planned()
    status, code, detail = refusal(add(service, group, member))
    assert (status, code) == (400, 'holistic.invalid_document')
    assert place in detail
    assert service.table.get_group(group).task is None


def test_mistakes_of_several_members_have_their_positions_in_the_request(
        service):
    group = service.planned(NESTED)
    answer = add(
        service, group, LOG, {'name': 'b', 'flavor': 7},
        {'name': 'a', 'group': 'db', 'resources': {'VCPU': -1}})
    places = [error['detail'].partition(': ')[0]
              for error in answer.json['errors']]
    assert sorted(places) == [
        'members[1].flavor', 'members[2].resources.VCPU']


def test_adding_a_member_to_a_stale_revision_is_refused(service):
    group = service.planned()
    answer = add(service, group, LOG, **{'If-Match': '"4"'})
    assert refusal(answer)[:2] == (412, 'holistic.stale_revision')


def test_a_member_is_removed_by_its_path(service):
    group = service.planned({**NESTED, 'groups': [{
        'name': 'db', 'members': [LOG, {**LOG, 'name': 'disk'}]}]})
    answer = service.ask('DELETE', f'/v1/groups/{group}/members/db/disk')
    assert answer.status_int == 202
    assert asked_for(service, group)['groups'][0]['members'] == [LOG]


def test_the_last_server_of_a_counted_member_is_removed(service):
    group = service.planned()
    service.ask('DELETE', f'/v1/groups/{group}/members/node-2')
    assert asked_for(service, group)['members'][1]['count'] == 2


@pytest.mark.parametrize('number, inner', [(0, 2), (2, 0)])
def test_a_member_that_desires_no_servers_is_removed(service, number, inner):
    """Its description is in the definition, although it has no servers."""
    node = {**LOG, 'name': 'node', 'count': {
        'min': 0, 'desired': inner, 'max': 3}}
    document = {'name': 'shop', 'members': [LOG], 'groups': [{
        'name': 'db', 'count': {'min': 0, 'desired': number, 'max': 3},
        'members': [LOG, node]}]}
    group = service.planned(document)
    answer = service.ask('DELETE', f'/v1/groups/{group}/members/db/node')
    assert answer.status_int == 202, answer.text
    assert asked_for(service, group)['groups'][0]['members'] == [LOG]


def test_a_server_that_is_not_desired_is_unknown(service):
    group = service.planned({'name': 'shop', 'members': [LOG, {
        **LOG, 'name': 'node', 'count': {'min': 0, 'desired': 0, 'max': 3}}]})
    answer = service.ask('DELETE', f'/v1/groups/{group}/members/node-0')
    assert refusal(answer)[:2] == (404, 'holistic.not_found')


def test_a_member_is_removed_before_its_server_is_adopted(service):
    adopt = {'web': '11111111-2222-3333-4444-555555555555',
             'node-1': '11111111-2222-3333-4444-666666666666'}
    group = service.ask(
        'POST', '/v1/groups', {'group': {**SHOP, 'adopt': adopt}}, headers={
            'OpenStack-API-Version': 'holistic latest'}).json['group']['id']
    service.settle(group, GroupStatus.UNPLACEABLE)
    answer = service.ask('DELETE', f'/v1/groups/{group}/members/web')
    assert answer.status_int == 202
    assert asked_for(service, group)['adopt'] == {'node-1': adopt['node-1']}


def test_an_unknown_member_cannot_be_removed(service):
    group = service.planned()
    for path in ('nobody', 'node-3', 'web/x', '%F0%9F%9B%92', "';--"):
        answer = service.ask('DELETE', f'/v1/groups/{group}/members/{path}')
        assert refusal(answer)[:2] == (404, 'holistic.not_found')


def test_a_path_with_a_trailing_newline_is_unknown(service):
    group = service.planned()
    for method, path in [('DELETE', '/members/web%0A'), ('GET', '%0A'),
                         ('GET', '/placements%0A')]:
        answer = service.ask(method, f'/v1/groups/{group}{path}')
        assert refusal(answer)[:2] == (404, 'holistic.not_found')
    assert service.table.get_group(group).task is None


def test_a_member_of_one_replica_cannot_be_removed(service):
    """The response does not claim that the group does not exist."""
    group = service.planned({'name': 'shop', 'groups': [{
        'name': 'db', 'count': 2,
        'members': [{'name': 'node', 'resources': {'VCPU': 1}}]}]})
    answer = service.ask('DELETE', f'/v1/groups/{group}/members/db-1/node')
    assert refusal(answer) == (
        409, 'holistic.conflict',
        "the count of group 'db' creates 'db-1': all groups of a count have "
        'the same members')


def test_the_last_member_of_a_group_cannot_be_removed(service):
    group = service.planned({'name': 'one', 'members': [LOG]})
    answer = service.ask('DELETE', f'/v1/groups/{group}/members/log')
    assert refusal(answer)[:2] == (409, 'holistic.conflict')


def test_the_last_member_that_desires_servers_cannot_be_removed(service):
    """The error does not concern a document, because the request has none."""
    group = service.planned({'name': 'shop', 'members': [LOG, {
        **LOG, 'name': 'node', 'count': {'min': 0, 'desired': 0, 'max': 3}}]})
    answer = service.ask('DELETE', f'/v1/groups/{group}/members/log')
    assert refusal(answer) == (
        409, 'holistic.conflict', "the desired number of all members except "
        "'log' is 0, and a group must have a member")


@pytest.mark.parametrize('first', [{'min': 1}, {'desired': 'many'}, {}])
def test_a_member_given_twice_with_an_invalid_count_is_refused(
        service, first):
    group = service.planned()
    answer = service.ask('POST', f'/v1/groups/{group}/members', {'members': [
        {'name': 'x', 'resources': {'VCPU': 1}, 'count': first},
        {'name': 'x', 'resources': {'VCPU': 1}, 'count': 2}]})
    assert refusal(answer)[::2] == (
        400, 'members[1].count: the count to which this one is added must be '
        'a whole number, or a mapping with desired')

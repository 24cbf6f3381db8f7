# SPDX-License-Identifier: Apache-2.0
"""Definitions that reserve hosts, name hosts or hold capacity without limit
require additional rights."""

import pytest

from tests.unit.api.service import (
    ADMIN, MEMBER, READER, refusal, SHOP, OTHER_PROJECT)

ONE = {'name': 'one', 'resources': {'VCPU': 1}}
LEVEL = 'holistic:definitions:exclusive_level'
HOST = 'holistic:definitions:host_location'
LEASE = 'holistic:groups:unlimited_lease'


def alone(level, **more):
    return {'name': 'alone', 'members': [ONE], 'policies': [
        {'type': 'exclusive', 'level': level, **more}]}


def below(path, **more):
    return {'name': 'below', 'members': [ONE], 'policies': [
        {'type': 'location', 'path': path, **more}]}


def pinned(path):
    return {'name': 'pinned', 'members': [ONE, {
        **ONE, 'name': 'two', 'location': path}]}


def nested(inner):
    """The second of two nested groups."""
    return {'name': 'outer', 'groups': [
        {'name': 'first', 'members': [ONE]}, inner]}


def optional(group):
    """A nested group that does not exist until a create points at it."""
    return {'name': 'outer', 'members': [ONE], 'groups': [
        {**group, 'count': {'min': 0, 'desired': 0, 'max': 2}}]}


NEED_A_RIGHT = [
    (alone('az'), LEVEL, 'policies[0].level'),
    (alone('power_feed'), LEVEL, 'policies[0].level'),
    (nested(alone('rack')), LEVEL, 'groups[1].policies[0].level'),
    (below('az1/cmp-1'), HOST, 'policies[0].path'),
    (below('az1/cmp-1', weight=1), HOST, 'policies[0].path'),
    (below('az1/cmp-1/deeper'), HOST, 'policies[0].path'),
    (nested(below('az1/cmp-1')), HOST, 'groups[1].policies[0].path'),
    (pinned('az1/cmp-1'), HOST, 'members[1].location'),
    (nested(pinned('az1/cmp-1')), HOST, 'groups[1].members[1].location'),
    (optional(alone('az')), LEVEL, 'groups[0].policies[0].level'),
    (optional(nested(alone('az'))), LEVEL,
     'groups[0].groups[1].policies[0].level'),
    (optional(below('az1/cmp-1')), HOST, 'groups[0].policies[0].path'),
    (optional(pinned('az1/cmp-1')), HOST, 'groups[0].members[1].location')]

FREE = [alone('host'), {'name': 'alone', 'members': [ONE], 'policies': [
    {'type': 'exclusive'}]}, alone('az', weight=1), below('az1'),
    pinned('az1'), optional(alone('host')), optional(below('az1'))]

WAYS = {
    'create': lambda service, document, token: service.ask(
        'POST', '/v1/groups', {'group': document}, token),
    'plan': lambda service, document, token: service.ask(
        'POST', '/v1/plans', {'group': document}, token),
    'update': lambda service, document, token: service.ask(
        'PUT', f'/v1/groups/{service.planned()}', {'group': document}, token,
        {'If-Match': '"1"'})}


@pytest.mark.parametrize('document, rule, place', NEED_A_RIGHT)
@pytest.mark.parametrize('way', WAYS)
def test_a_member_of_a_project_is_refused(
        service, way, document, rule, place):
    answer = WAYS[way](service, document, MEMBER)
    assert refusal(answer) == (
        403, 'holistic.forbidden',
        f'{place}: policy does not allow {rule}')
    assert all(word == 'plan_group' and service.table.get_group(uuid).name
               == SHOP['name'] for word, uuid in service.engines.asked)


@pytest.mark.parametrize('document', [each for each, *_ in NEED_A_RIGHT])
@pytest.mark.parametrize('way', WAYS)
def test_an_administrator_is_accepted(service, way, document):
    assert WAYS[way](service, document, ADMIN).status_int == 202


@pytest.mark.parametrize('document', FREE)
@pytest.mark.parametrize('way', WAYS)
def test_other_definitions_need_no_additional_right(service, way, document):
    assert WAYS[way](service, document, MEMBER).status_int == 202


def test_a_member_that_is_added_is_checked_as_well(service):
    path = f'/v1/groups/{service.planned()}/members'
    body = {'members': [{**ONE, 'location': 'az1/cmp-1'}]}
    assert refusal(service.ask('POST', path, body)) == (
        403, 'holistic.forbidden',
        f'members[0].location: policy does not allow {HOST}')
    assert service.ask('POST', path, body, ADMIN).status_int == 202


def test_users_may_only_reduce_what_an_administrator_declared(service):
    document = {**alone('az'), 'members': [ONE, {**ONE, 'name': 'two'}]}
    group = service.planned()
    path = f'/v1/groups/{group}'
    assert service.ask('PUT', path, {'group': document}, ADMIN, {
        'If-Match': '"1"'}).status_int == 202
    service.settle(group, document=document)
    more = {'members': [{**ONE, 'name': 'three'}]}
    assert refusal(service.ask('POST', f'{path}/members', more))[2] == (
        f'policies[0].level: policy does not allow {LEVEL}')
    assert service.ask('DELETE', f'{path}/members/two').status_int == 202


def test_the_response_does_not_depend_on_the_name_of_the_host(service):
    found = []
    for name in ('cmp-1', 'no-such-host'):
        answer = service.ask('POST', '/v1/plans', {
            'group': pinned(f'az1/{name}')})
        found.append((answer.status, refusal(answer)))
    assert found[0] == found[1]
    assert service.engines.asked == []


def test_the_levels_of_the_topology_decide_which_name_is_a_host(start):
    service = start()
    service.conf.set_override('levels', ['az', 'rack', 'host'],
                              group='topology')
    service.renew()
    assert service.created(pinned('az1/rack1'))
    answer = service.ask('POST', '/v1/groups', {
        'group': pinned('az1/rack1/cmp-1')})
    assert refusal(answer)[0] == 403


def test_without_levels_every_location_needs_the_right(start, caplog):
    service = start()
    service.conf.set_override('driver', 'file', group='topology')
    service.conf.set_override('path', '/no/such/file', group='topology')
    service.renew()
    assert '/no/such/file' in caplog.text
    for path in ('az1', 'az1/cmp-1'):
        answer = service.ask('POST', '/v1/groups', {'group': pinned(path)})
        assert refusal(answer)[2] == (
            f'members[1].location: policy does not allow {HOST}')
        assert service.created(pinned(path), ADMIN)
    assert service.created()


def test_the_policy_file_may_allow_one_level(start, tmp_path):
    file = tmp_path / 'policy.yaml'
    file.write_text(f'"{LEVEL}": "rule:holistic:admin or '
                    "'rack':%(level)s\"\n")
    service = start(policies=file)
    assert service.created(alone('rack'))
    answer = service.ask('POST', '/v1/groups', {'group': alone('az')})
    assert refusal(answer)[:2] == (403, 'holistic.forbidden')


@pytest.mark.parametrize('seconds', [0, 101])
def test_a_lease_without_end_needs_a_right(start, seconds):
    service = start(max_lease=100)
    body = {'group': SHOP, 'lease': seconds}
    assert refusal(service.ask('POST', '/v1/groups', body)) == (
        403, 'holistic.forbidden', f'lease: policy does not allow {LEASE}; '
        f'without this right, a lease is 1 to 100 seconds long')
    assert service.table.list_groups() == ()
    assert service.ask('POST', '/v1/groups', body, ADMIN).status_int == 202


def test_a_lease_is_not_made_endless_by_extending_it(start):
    service = start(max_lease=100)
    path = f'/v1/groups/{service.planned(lease=100)}/extend'
    answer = service.ask('POST', path, {'extend': {'seconds': 101}})
    assert refusal(answer)[2].startswith('extend.seconds: policy does not ')
    assert 'extend' not in [word for word, *_ in service.engines.asked]
    for seconds, token in ((100, MEMBER), (101, ADMIN)):
        assert service.ask('POST', path, {'extend': {
            'seconds': seconds}}, token).status_int == 200


def test_the_lease_that_the_operator_configured_is_not_checked(start):
    service = start(max_lease=100)
    for lease in (0, 101):
        service.conf.set_override('lease', lease, group='planner')
        assert service.created()['id']


def test_an_administrator_may_exceed_the_limits(start):
    service = start(max_groups_per_project=0, max_members_per_project=0,
                    max_plans_per_project=0, max_members_per_group=1)
    assert service.created(token=ADMIN)
    assert service.ask('POST', '/v1/plans', {
        'group': SHOP}, ADMIN).status_int == 202


def test_members_of_a_project_have_a_limit_unless_the_operator_disables_it(
        service):
    large = {'name': 'crowd', 'members': [{**ONE, 'count': 1001}]}
    answer = service.ask('POST', '/v1/groups', {'group': large})
    assert refusal(answer)[:2] == (403, 'holistic.over_limit')
    assert 'the limit of the project is 1000' in refusal(answer)[2]
    large['members'][0]['count'] = 1000
    assert service.created(large)


@pytest.mark.parametrize('document, place', [
    (SHOP, 'members[1].count'),
    ({'name': 'x', 'members': [ONE], 'groups': [
        {'name': 'y', 'members': [ONE, {**ONE, 'name': 'two'}]}]},
     'groups[0].members[1]')])
def test_the_first_member_above_the_limit_is_named(start, document, place):
    service = start(max_members_per_group=2)
    answer = service.ask('POST', '/v1/groups', {'group': document})
    assert refusal(answer)[:2] == (403, 'holistic.over_limit')
    assert refusal(answer)[2].startswith(f'{place}: ')


def test_the_right_to_create_comes_first(service):
    for token, status in ((READER, 403), (OTHER_PROJECT, 404)):
        answer = service.ask('PUT', f'/v1/groups/{service.planned()}', {
            'group': alone('az')}, token, {'If-Match': '"1"'})
        assert refusal(answer)[0] == status
        assert LEVEL not in refusal(answer)[2]

# SPDX-License-Identifier: Apache-2.0
"""The API inside a running nova-api, as the sample configures it."""

import configparser
import json
import pathlib
import uuid

import pytest

from nova_holistic.embedded.calls.servers import IMAGE, PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.embedded.nova_runtime import api_paste_config
from nova_holistic.messaging.transport import get_transport
from nova_holistic.service.service import EngineParts, EngineService
from nova_holistic.table.records import GroupStatus, MemberState
from tests.statements import recorded

SAMPLE = (pathlib.Path(__file__).parents[3] / 'etc' / 'nova-holistic'
          / 'api-paste-nova.ini')
HOSTS = tuple(EmbeddedHost(f'cmp-{number}', zone='az1', rack=f'r{number}')
              for number in range(3))
SHOP = {'name': 'shop', 'members': [
    {'name': 'web', 'flavor': 'small'},
    {'name': 'node', 'count': 3, 'flavor': 'small'}],
    'policies': [{'type': 'anti-affinity', 'level': 'rack',
                  'max_per_domain': 2}]}
SMALL = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10}
PLAN = {'web': 'cmp-0', 'node-0': 'cmp-0', 'node-1': 'cmp-1',
        'node-2': 'cmp-2'}
HINTS = ('os:scheduler_hints', 'OS-SCH-HNT:scheduler_hints')


def paste_config(directory):
    """The path of a copy of Nova's file with the changes of the sample."""
    merged = configparser.RawConfigParser(delimiters='=', strict=False)
    merged.optionxform = str
    # Paths in Nova's file begin with a slash and end at a colon.
    text = pathlib.Path(api_paste_config()).read_text()
    merged.read_string(text.replace('\n/: ', '\n/ = ').replace(
        '\n/v2: ', '\n/v2 = ').replace('\n/v2.1: ', '\n/v2.1 = ').replace(
        '\n/v2/+: ', '\n/v2/+ = ').replace('\n/v2.1/+: ', '\n/v2.1/+ = '))
    merged.read_string(SAMPLE.read_text())
    path = pathlib.Path(directory) / 'api-paste.ini'
    with open(path, 'w') as file:
        merged.write(file)
    return str(path)


@pytest.fixture(scope='module')
def running(own_cloud, tmp_path_factory):
    path = paste_config(tmp_path_factory.mktemp('paste'))
    with own_cloud(HOSTS, options={
            ('wsgi', 'api_paste_config'): path}) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        yield cloud


@pytest.fixture
def cloud(running):
    """The cloud, whose objects are deleted after the test."""
    yield running
    running.conf.clear_override('failure_mode', group='holistic')
    running.clear()


@pytest.fixture
def shop(cloud):
    return cloud.plan(SHOP, PLAN, resources=SMALL)


@pytest.fixture
def engine(cloud):
    """An engine that receives the casts of nova-api."""
    transport = get_transport(cloud.conf)
    service = EngineService(cloud.conf, EngineParts(
        cloud.table, cloud.inventory, cloud.planner, cloud.lifecycle,
        cloud.reconciler), transport, cloud.clock)
    service.start()
    yield service
    service.stop()


def ask(cloud, hints=None, key=HINTS[0], project=PROJECT, path='/servers',
        **extra):
    """The response of Nova to a create request."""
    body = {'server': {
        'name': 'asked', 'flavorRef': cloud.flavor_id('small'),
        'imageRef': IMAGE, 'networks': 'none', **extra}}
    if hints is not None:
        body[key] = hints
    return cloud.compute_for(project).post(path, json=body, raise_exc=False)


def pointer(group, member):
    return {'holistic_group': group, 'holistic_member': member}


def refusal(cloud, *words, **options):
    """The message with which Nova refuses a create request."""
    before = len(cloud.servers())
    answer = ask(cloud, *words, **options)
    assert answer.status_code == 400
    (kind, fault), = answer.json().items()
    assert kind == 'badRequest'
    assert fault['code'] == 400
    assert answer.headers['x-openstack-request-id'].startswith('req-')
    assert len(cloud.servers()) == before
    return fault['message']


@pytest.mark.parametrize('key', HINTS)
def test_a_pointer_to_a_planned_member_is_accepted(cloud, shop, key):
    answer = ask(cloud, pointer(shop, 'web'), key)
    assert answer.status_code == 202, answer.text
    server = answer.json()['server']['id']
    cloud.wait_for_status(server, 'ACTIVE')
    assert cloud.host_of(server) == 'cmp-0'


@pytest.mark.parametrize('key', HINTS)
@pytest.mark.parametrize('path', [
    '/servers', f'/{PROJECT}/servers', '/os-volumes_boot'])
def test_an_unknown_member_is_refused(cloud, shop, key, path):
    assert refusal(cloud, pointer(shop, 'disk'), key, path=path) == (
        f"group {shop} is planned and has no member 'disk'")


def test_a_number_beyond_the_count_is_refused(cloud):
    """The count of the member is fixed, so no server with another number gets
    one of its places."""
    group = cloud.plan(
        {'name': 'farm', 'members': [
            {'name': 'node', 'flavor': 'small', 'count': 2}]},
        {'node-0': 'cmp-0', 'node-1': 'cmp-1'}, resources=SMALL)
    assert refusal(cloud, pointer(group, 'node-2')) == (
        f"group {group} is planned and has no member 'node-2'")


def test_an_unknown_group_is_refused(cloud):
    nothing = str(uuid.uuid4())
    assert refusal(cloud, pointer(nothing, 'web')) == (
        f'group {nothing} is not known in this project')


def test_a_group_of_another_project_is_refused_as_unknown(cloud):
    other_group = cloud.plan(SHOP, PLAN, resources=SMALL, project_id='grey')
    assert refusal(cloud, pointer(other_group, 'web')) == (
        f'group {other_group} is not known in this project')


@pytest.mark.parametrize('hints', [
    {'holistic_group': str(uuid.uuid4())}, {'holistic_member': 'web'},
    pointer('shop', 'web'), pointer(7, 'web'),
    pointer(str(uuid.uuid4()), {'name': 'web'}),
    pointer(str(uuid.uuid4()), ['web', 'node'])])
def test_a_malformed_pointer_is_refused(cloud, hints):
    assert 'holistic_' in refusal(cloud, hints)


def test_a_claimed_member_is_refused(cloud, shop):
    server = cloud.create_server('web', 'small',
                                 {'group': shop, 'member': 'web'})
    cloud.wait_for_status(server, 'ACTIVE')
    assert refusal(cloud, pointer(shop, 'web')) == (
        f"member 'web' of group {shop} is claimed")


def test_a_released_member_is_refused(cloud, shop):
    cloud.lifecycle.release(shop, ['web'])
    assert refusal(cloud, pointer(shop, 'web')) == (
        f"member 'web' of group {shop} is released")


def test_a_group_still_being_planned_is_refused(cloud):
    group = cloud.plan(SHOP, {}, status=GroupStatus.PLANNING)
    assert refusal(cloud, pointer(group, 'web')) == (
        f"group {group} is planning and has no member 'web'")


def test_a_create_of_more_servers_than_are_free_is_refused(cloud, shop):
    first = cloud.create_server('one', 'small',
                                {'group': shop, 'member': 'node'})
    cloud.wait_for_status(first, 'ACTIVE')
    message = ("3 servers are requested, but only 2 servers of member 'node' "
               f'of group {shop} are planned')
    assert refusal(cloud, pointer(shop, 'node'), min_count=3) == message
    assert refusal(cloud, pointer(shop, 'node'), min_count='2',
                   max_count='3') == message
    answer = ask(cloud, pointer(shop, 'node'), min_count=2)
    assert answer.status_code == 202
    for server in cloud.servers():
        cloud.wait_for_status(server['id'], 'ACTIVE')
    assert {row.state for row in cloud.table.members(shop)
            if row.member.path != 'web'} == {MemberState.CLAIMED}


def test_yield_mode_accepts_an_unknown_member(cloud, shop):
    cloud.conf.set_override('failure_mode', 'yield', group='holistic')
    answer = ask(cloud, pointer(shop, 'disk'))
    assert answer.status_code == 202
    cloud.wait_for_status(answer.json()['server']['id'], 'ACTIVE')


@pytest.mark.parametrize('hints,queries', [
    (None, 0), ({}, 0),
    # The query reads whether the server group is bound to a member.
    ({'group': str(uuid.uuid4())}, 1)])
def test_queries_of_a_server_without_a_pointer(cloud, hints, queries):
    with recorded() as recorder:
        answer = ask(cloud, hints)
        # Nova's own statements are recorded.
        assert recorder.statements
        own_statements = [each for each in recorder.statements if 'holistic_'
                          in each]
        assert len(own_statements) == queries
        ask(cloud, pointer(str(uuid.uuid4()), 'web'))
        assert any('holistic_groups' in each for each in recorder.statements)
    if answer.status_code == 202:
        cloud.wait_for_status(answer.json()['server']['id'], 'ACTIVE')


def test_malformed_bodies_are_refused_by_nova_itself(cloud):
    compute = cloud.compute_for()
    for body in (b'', b'{', b'[]', b'{"server": 5}',
                 b'{"server": {}, "os:scheduler_hints": 5}'):
        answer = compute.post('/servers', data=body, raise_exc=False, headers={
            'Content-Type': 'application/json'})
        assert answer.status_code == 400, body
        assert 'badRequest' in answer.json()


def test_a_group_is_created_and_its_server_becomes_active(cloud, engine):
    compute = cloud.compute_for()
    answer = compute.post('/os-holistic-groups?wait=60',
                          json={'group': SHOP}, raise_exc=False)
    assert answer.status_code == 201, answer.text
    group = answer.json()['group']
    assert (group['status'], group['project_id'], group['user_id']) == (
        'planned', PROJECT, USER)
    place = answer.headers['Location']
    assert place.endswith(f'/v2.1/os-holistic-groups/{group["id"]}')
    assert compute.get(place).json()['group']['definition'] == SHOP
    server = cloud.create_server('web', 'small',
                                 {'group': group['id'], 'member': 'web'})
    cloud.wait_for_status(server, 'ACTIVE')
    rows = cloud.compute.get(
        f'/os-holistic-groups/{group["id"]}/placements').json()['placements']
    assert cloud.host_of(server) == next(
        row['host'] for row in rows if row['member'] == 'web')
    outcome = compute.post(f'/os-holistic-groups/{group["id"]}/release',
                           json={'release': {}}).json()
    assert outcome == {'released': ['node-0', 'node-1', 'node-2'],
                       'kept': ['web']}
    assert compute.delete(place).status_code == 204


def test_a_plan_holds_nothing(cloud, engine):
    answer = cloud.compute_for().post(
        '/os-holistic-plans?wait=60', json={'group': SHOP})
    assert answer.json()['plan']['status'] == 'planned'
    assert cloud.used() == {}


def test_other_projects_do_not_see_the_group(cloud, shop):
    grey = cloud.compute_for('other-project')
    assert grey.get(f'/os-holistic-groups/{shop}',
                    raise_exc=False).status_code == 404
    assert grey.get('/os-holistic-groups').json() == {'groups': []}
    own_groups = cloud.compute_for().get(
        '/os-holistic-groups').json()['groups']
    assert shop in {group['id'] for group in own_groups}
    answer = cloud.compute_for().get(f'/{PROJECT}/os-holistic-groups/{shop}')
    link = answer.json()['group']['links'][0]['href']
    assert link.endswith(f'/v2.1/{PROJECT}/os-holistic-groups/{shop}')


def test_a_document_error_names_its_position_in_openstack_format(cloud):
    answer = cloud.compute_for().post(
        '/os-holistic-groups', json={'group': {**SHOP, 'colour': 1}},
        raise_exc=False)
    (error,) = answer.json()['errors']
    assert error['code'] == 'holistic.invalid_document'
    assert error['detail'].startswith('colour: ')
    assert error['request_id'] == answer.headers['x-openstack-request-id']


def test_a_body_above_novas_limit_is_refused(cloud):
    limit = cloud.conf.oslo_middleware.max_request_body_size
    answer = cloud.compute_for().post(
        '/os-holistic-groups', data=json.dumps({'group': SHOP}) + ' ' * limit,
        headers={'Content-Type': 'application/json'}, raise_exc=False)
    assert answer.status_code == 413


def test_other_routes_of_the_service_are_not_served(cloud):
    for path in ('/v1/groups', '/os-holistic-hosts/cmp-0/statistics',
                 '/os-holistic-groups/', '/os-holistic-groupsies'):
        answer = cloud.compute.get(path, raise_exc=False)
        assert answer.status_code == 404

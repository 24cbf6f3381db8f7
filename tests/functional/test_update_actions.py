# SPDX-License-Identifier: Apache-2.0
"""An update changes flavors, zones and policies of members with servers."""

from dataclasses import replace
import time
import uuid

import pytest

from nova_holistic.embedded.calls.servers import IMAGE, PROJECT
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.embedded.waiting import INTERVAL
from nova_holistic.service.direct_engine import DirectEngine, PlanningParts
from tests.functional.claims import APART, host_of_active, SMALL
from tests.unit.api.service import ADMIN, MEMBER, refusal, Service

OWNER = replace(MEMBER, project=PROJECT)
VERSION = {'OpenStack-API-Version': 'holistic 1.2'}
NOTHING = ('nothing', 'done')
OTHER_IMAGE = '76fa36fc-c930-4bf3-8c8a-ea2a2420deb6'
"""Another image of nova.tests' Glance."""

HOSTS = tuple(
    EmbeddedHost(name, zone=zone, rack=rack, vcpus=vcpus)
    for name, zone, rack, vcpus in (
        ('one', 'az1', 'r1', 4), ('two', 'az1', 'r2', 4),
        ('three', 'az1', 'r3', 4), ('four', 'az1', 'r4', 4),
        ('far', 'az2', 'r5', 4)))


@pytest.fixture(scope='module')
def running(lend_cloud):
    options = {('topology', 'levels'): ['az', 'rack', 'host']}
    with lend_cloud(HOSTS, options=options) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        cloud.create_flavor('big', 4, 2048, 10)
        yield cloud


@pytest.fixture
def service(cloud):
    """The API and an engine in this process. While the engine waits, Nova
    works on the servers."""
    cloud.action_runner.wait_with(lambda seconds: _wait(cloud))
    return Service(cloud.table, DirectEngine(
        cloud.conf, cloud.clock, PlanningParts(
            cloud.table, cloud.inventory, cloud.planner, cloud.lifecycle,
            cloud.repairer)))


def _wait(cloud):
    """Wait until Nova has no unfinished task, for a few seconds at most. The
    engine reads a server after each wait, which takes more processor time."""
    for _ in range(100):
        time.sleep(INTERVAL)
        if not cloud.progress.is_any_busy():
            break


def shop(**flavors):
    return {'name': 'shop', 'members': [
        {'name': name, 'flavor': flavor}
        for name, flavor in flavors.items()]}


def update(service, group, document, token=ADMIN, **more):
    """The group after an update."""
    revision = service.table.get_group(group).revision
    answer = service.ask(
        'PUT', f'/v1/groups/{group}?wait=60', {'group': document, **more},
        token, headers={**VERSION, 'If-Match': f'"{revision}"'})
    assert answer.status_int == 200, answer.json
    return answer.json['group']


def actions(shown):
    return [(each['member'], each['action'], each['state'],
             each['to_host']) for each in shown['actions']]


def built(cloud, definition, places, **more):
    """A group with small servers of all its members, and the servers by
    member."""
    group = cloud.plan(definition, places, resources=SMALL)
    servers = {path: cloud.create_server(
        path, 'small', {'group': group, 'member': path}, **more)
        for path in places}
    for path, server in servers.items():
        assert host_of_active(cloud, server) == places[path]
    cloud.reconciler.reconcile()
    assert cloud.table.get_group(group).status == 'complete'
    return group, servers


def test_an_update_that_changes_nothing_requires_nothing(cloud, service):
    group, _ = built(cloud, shop(a='small', b='small'),
                     {'a': 'one', 'b': 'two'})
    shown = update(service, group, shop(a='small', b='small'), apply=True)
    assert actions(shown) == [('a', *NOTHING, 'one'), ('b', *NOTHING, 'two')]
    assert (shown['status'], shown['reasons']) == ('complete', [])


def test_three_servers_grow_in_the_only_possible_order(cloud, service):
    """A big server needs a whole host. Each server except c must move to the
    host of another one."""
    places = {'a': 'one', 'b': 'two', 'c': 'three'}
    group, servers = built(
        cloud, shop(a='small', b='small', c='small'), places)
    revised = shop(a='big', b='big', c='big')
    for member, rack in zip(revised['members'], ('r2', 'r3', 'r4')):
        member['location'] = f'az1/{rack}'
    shown = update(service, group, revised)
    assert actions(shown) == [
        ('c', 'resize', 'required', 'four'),
        ('b', 'resize', 'required', 'three'),
        ('a', 'resize', 'required', 'two')]
    assert [each['from_flavor'] for each in shown['actions']] == ['small'] * 3
    # No action has been carried out.
    assert {path: cloud.host_of(server)
            for path, server in servers.items()} == places
    shown = update(service, group, revised, apply=True)
    assert (shown['status'], shown['reasons']) == ('complete', [])
    assert {each['state'] for each in shown['actions']} == {'done'}
    for path, server in servers.items():
        found = cloud.get_server(server)
        assert found['flavor']['original_name'] == 'big'
        assert found['status'] == 'ACTIVE'
        assert found['OS-EXT-SRV-ATTR:host'] == {
            'a': 'two', 'b': 'three', 'c': 'four'}[path]
        row = cloud.row(group, path)
        assert row.place.host == found['OS-EXT-SRV-ATTR:host']
        assert row.member.requirements.flavor == 'big'
        assert row.member.requirements.resources['VCPU'] == 4
        assert cloud.consumers(row.place.host) == {
            server: {'VCPU': 4, 'MEMORY_MB': 2048, 'DISK_GB': 10}}
    assert cloud.reconciler.reconcile() == {}
    shown = update(service, group, revised, apply=True)
    assert {each[1:3] for each in actions(shown)} == {NOTHING}


def test_a_server_moves_to_another_zone(cloud, service):
    document = shop(a='small', b='small')
    group, servers = built(cloud, document, {'a': 'one', 'b': 'two'})
    document['members'][0]['availability_zone'] = 'az2'
    shown = update(service, group, document)
    assert actions(shown) == [('a', 'migrate', 'required', 'far'),
                              ('b', *NOTHING, 'two')]
    (why,) = shown['actions'][0]['reasons']
    assert 'availability zone' in why['message']
    shown = update(service, group, document, apply=True)
    assert actions(shown)[0] == ('a', 'migrate', 'done', 'far')
    assert cloud.host_of(servers['a']) == 'far'
    assert cloud.row(group, 'a').member.requirements.availability_zone == (
        'az2')
    assert cloud.reconciler.reconcile() == {}


@pytest.mark.parametrize('key, value, flavor', [
    ('availability_zone', 'az2', 'small'), ('flavor', 'big', 'big')])
def test_a_server_is_deleted_and_created_again_instead_of_an_action(
        cloud, service, key, value, flavor):
    """The member does not keep the place of its earlier definition."""
    document = shop(a='small', b='small')
    group, servers = built(cloud, document, {'a': 'one', 'b': 'two'})
    document['members'][0][key] = value
    shown = update(service, group, document)
    assert shown['actions'][0]['state'] == 'required'
    cloud.delete_server(servers['a'])
    hints = {'group': group, 'member': 'a'}
    refused = cloud.create_server('a', flavor, hints)
    cloud.wait_for_status(refused, 'ERROR')
    cloud.delete_server(refused)
    assert cloud.reconciler.reconcile() == {'gone': 1, 'replanned': 1}
    row = cloud.row(group, 'a')
    assert (row.state, getattr(row.member.requirements, key)) == (
        'planned', value)
    assert cloud.consumers('one') == {}
    server = cloud.create_server('a', flavor, hints)
    assert host_of_active(cloud, server) == row.place.host
    if key == 'availability_zone':
        assert row.place.host == 'far'
    cloud.reconciler.reconcile()
    assert cloud.table.get_group(group).status == 'complete'
    assert actions(update(service, group, document))[0][1:3] == NOTHING


@pytest.mark.parametrize('key, value, flavor', [
    ('availability_zone', 'az2', 'small'), ('flavor', 'big', 'big')])
def test_a_further_server_has_the_new_definition(
        cloud, service, key, value, flavor):
    """The action on the existing server has not been carried out."""
    (member,) = shop(web='small')['members']
    member['count'] = {'desired': 1, 'max': 2}
    document = {'name': 'shop', 'members': [member]}
    group = cloud.plan(document, {'web-0': 'one'}, resources=SMALL)
    hints = {'group': group, 'member': 'web'}
    host_of_active(cloud, cloud.create_server('web', 'small', hints))
    cloud.reconciler.reconcile()
    member[key] = value
    update(service, group, document)
    server = cloud.create_server('web', flavor, hints)
    host = host_of_active(cloud, server)
    assert cloud.consumers(host)[server]['VCPU'] == (
        4 if flavor == 'big' else 2)
    if key == 'availability_zone':
        assert host == 'far'
    row = cloud.row(group, 'web-1')
    assert getattr(row.member.requirements, key) == value


def test_a_server_that_is_off_migrates_cold(cloud, service):
    document = shop(a='small')
    group, servers = built(cloud, document, {'a': 'one'})
    cloud.act(servers['a'], 'os-stop')
    cloud.wait_for_status(servers['a'], 'SHUTOFF')
    document['members'][0]['availability_zone'] = 'az2'
    shown = update(service, group, document, apply=True)
    assert actions(shown) == [('a', 'migrate', 'done', 'far')]
    found = cloud.get_server(servers['a'])
    assert (found['status'], found['OS-EXT-SRV-ATTR:host']) == (
        'SHUTOFF', 'far')


def test_a_new_policy_moves_one_of_two_servers(cloud, service):
    document = shop(a='small', b='small')
    group, servers = built(cloud, document, {'a': 'one', 'b': 'one'})
    document['policies'] = APART
    shown = update(service, group, document, token=OWNER)
    assert shown['status'] == 'degraded'
    assert [each['action'] for each in shown['actions']] == [
        'migrate', 'nothing']
    assert 'from_host' not in shown['actions'][0]
    shown = update(service, group, document, apply=True)
    assert (shown['status'], shown['violations']) == ('complete', [])
    assert len({cloud.host_of(server) for server in servers.values()}) == 2


def test_no_order_keeps_the_policy(cloud, service):
    """Two servers would have to swap their hosts, and must never be on one
    host."""
    document = {'name': 'swap', 'policies': APART, 'groups': [
        {'name': name, 'members': [{'name': 's', 'flavor': 'small'}]}
        for name in 'ab']}
    group, servers = built(cloud, document, {'a/s': 'one', 'b/s': 'two'})
    for nested, rack in zip(document['groups'], ('r2', 'r1')):
        nested['policies'] = [{'type': 'location', 'path': f'az1/{rack}'}]
    shown = update(service, group, document)
    assert shown['status'] == 'degraded'
    assert {each[1:3] for each in actions(shown)} == {('migrate', 'blocked')}
    for each in shown['actions']:
        assert 'anti-affinity' in each['reasons'][-1]['message']
    shown = update(service, group, document, apply=True)
    assert 'no order' in shown['reasons'][0]['message']
    assert [cloud.host_of(server) for server in servers.values()] == [
        'one', 'two']


def test_two_servers_swap_their_hosts_by_an_intermediate_host(
        cloud, service):
    document = {**shop(a='small', b='small'), 'policies': APART}
    group, servers = built(cloud, document, {'a': 'one', 'b': 'two'})
    for member, rack in zip(document['members'], ('r2', 'r1')):
        member['location'] = f'az1/{rack}'
    shown = update(service, group, document)
    first, second, third = shown['actions']
    between = first['to_host']
    assert between not in ('one', 'two')
    assert [(each['from_host'], each['to_host']) for each in (
        first, second, third)] in (
            [('one', between), ('two', 'one'), (between, 'two')],
            [('two', between), ('one', 'two'), (between, 'one')])
    assert first['member'] == third['member'] != second['member']
    assert 'intermediate host' in first['reasons'][0]['message']
    assert {each[1:3] for each in actions(shown)} == {
        ('migrate', 'required')}
    shown = update(service, group, document, apply=True)
    assert (shown['status'], shown['reasons']) == ('complete', [])
    assert [cloud.host_of(servers[name]) for name in 'ab'] == ['two', 'one']
    assert len(cloud._migrations(first['instance_uuid'])) == 2
    assert [cloud.row(group, name).member.requirements.location
            for name in 'ab'] == [('az1', 'r2'), ('az1', 'r1')]
    assert cloud.reconciler.reconcile() == {}


def test_no_plan_changes_nothing(cloud, service):
    document = shop(a='small', b='small')
    group, _ = built(cloud, document, {'a': 'one', 'b': 'two'})
    before = cloud.table.get_group(group)
    shown = update(service, group, {**document, 'policies': [
        {'type': 'location', 'path': 'az2/r5/far'}]} | shop(
            a='big', b='big'))
    assert shown['reasons'] and shown['revision'] == before.revision
    assert shown['actions'] == []
    assert cloud.table.get_group(group).document == before.document


def test_a_refused_step_stops_the_actions(cloud, service, monkeypatch):
    """The update is repeated, and no action is carried out twice."""
    document = shop(a='small', b='small')
    group, servers = built(cloud, document, {'a': 'one', 'b': 'two'})
    revised = shop(a='big', b='big')
    actor = cloud.action_runner._steps._actions
    resize, asked = actor.resize, []

    def to_a_disabled_host(server, flavor):
        asked.append(server)
        if len(asked) == 2:
            host = cloud.table.actions.destination(server)
            cloud.disable_compute(host)
        resize(server, flavor)

    with monkeypatch.context() as refused:
        refused.setattr(actor, 'resize', to_a_disabled_host)
        shown = update(service, group, revised, apply=True)
    assert [each['state'] for each in shown['actions']] == ['done', 'failed']
    (why,) = shown['reasons']
    assert why['at'] == shown['actions'][1]['member']
    assert why['message'].startswith('the action resize to host ')
    first = shown['actions'][0]['instance_uuid']
    migrations = cloud._migrations(first)
    shown = update(service, group, revised, apply=True)
    assert (shown['status'], shown['reasons']) == ('complete', [])
    assert cloud._migrations(first) == migrations
    assert {cloud.get_server(server)['flavor']['original_name']
            for server in servers.values()} == {'big'}


def imaged(flavor='small', image=IMAGE, **keys):
    return {'name': 'shop', 'members': [
        {'name': name, 'flavor': flavor, 'image': image, **keys}
        for name in 'ab']}


def test_a_new_image_rebuilds_servers(cloud, service):
    group, servers = built(cloud, imaged(), {'a': 'one', 'b': 'two'})
    shown = update(service, group, imaged(image=OTHER_IMAGE), token=OWNER)
    assert [(each['action'], each['state']) for each in shown['actions']] == [
        ('rebuild', 'required')] * 2
    assert OTHER_IMAGE in shown['actions'][0]['reasons'][0]['message']
    # The list remains until the servers are rebuilt.
    shown = update(service, group, imaged(image=OTHER_IMAGE))
    assert actions(shown) == [('a', 'rebuild', 'required', 'one'),
                              ('b', 'rebuild', 'required', 'two')]
    # The user rebuilds one of them.
    cloud.act(servers['a'], 'rebuild', imageRef=OTHER_IMAGE)
    cloud.wait_for_status(servers['a'], 'ACTIVE')
    shown = update(service, group, imaged(image=OTHER_IMAGE), apply=True)
    assert (shown['status'], shown['reasons']) == ('complete', [])
    assert sorted(actions(shown)) == [('a', *NOTHING, 'one'),
                                      ('b', 'rebuild', 'done', 'two')]
    for name, host in ('a', 'one'), ('b', 'two'):
        found = cloud.get_server(servers[name])
        assert (found['image']['id'], found['status'],
                found['OS-EXT-SRV-ATTR:host']) == (
                    OTHER_IMAGE, 'ACTIVE', host)
    shown = update(service, group, imaged(image=OTHER_IMAGE), apply=True)
    assert {each[1:3] for each in actions(shown)} == {NOTHING}
    assert cloud.reconciler.reconcile() == {}


def test_a_server_is_resized_before_it_is_rebuilt(cloud, service):
    document = imaged()
    del document['members'][1]
    group, servers = built(cloud, document, {'a': 'one'})
    document['members'][0] |= {'flavor': 'big', 'image': OTHER_IMAGE}
    shown = update(service, group, document, apply=True)
    assert (shown['status'], shown['reasons']) == ('complete', [])
    resize, rebuild = shown['actions']
    assert [each['action'] for each in (resize, rebuild)] == [
        'resize', 'rebuild']
    assert rebuild['to_host'] == resize['to_host'] != 'one'
    found = cloud.get_server(servers['a'])
    assert (found['image']['id'], found['flavor']['original_name']) == (
        OTHER_IMAGE, 'big')
    assert cloud.row(group, 'a').member.requirements.flavor == 'big'
    assert cloud.reconciler.reconcile() == {}


def test_a_server_with_another_image_is_not_rebuilt_by_other_changes(
        cloud, service):
    """The user created the server with this image."""
    document = imaged(image=OTHER_IMAGE)
    group, servers = built(cloud, document, {'a': 'one', 'b': 'two'})
    document['policies'] = APART
    shown = update(service, group, document, apply=True)
    assert {each[1:3] for each in actions(shown)} == {NOTHING}
    assert cloud.get_server(servers['a'])['image']['id'] == IMAGE


def test_a_rebuild_that_nova_refuses_is_reported(cloud, service):
    """The repeated command continues."""
    document = imaged()
    del document['members'][1]
    group, servers = built(cloud, document, {'a': 'one'})
    document['members'][0]['image'] = OTHER_IMAGE
    actor = cloud.action_runner._steps._actions
    rebuild = actor.rebuild
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(actor, 'rebuild', lambda server, image: rebuild(
            server, str(uuid.uuid4())))
        shown = update(service, group, document, apply=True)
    assert actions(shown) == [('a', 'rebuild', 'failed', 'one')]
    (why,) = shown['reasons']
    assert why['message'].startswith(
        'the action rebuild on host one failed')
    shown = update(service, group, document, apply=True)
    assert actions(shown) == [('a', 'rebuild', 'done', 'one')]
    assert cloud.get_server(servers['a'])['image']['id'] == OTHER_IMAGE


def test_an_image_that_has_no_name_is_refused(cloud, service):
    group, _ = built(cloud, imaged(), {'a': 'one', 'b': 'two'})
    shown = update(service, group, imaged(image={'hw_machine_type': 'q35'}))
    assert 'can be rebuilt only if' in shown['reasons'][0]['message']
    assert shown['actions'] == []


def test_only_administrators_have_actions_carried_out(cloud, service):
    group, _ = built(cloud, shop(a='small'), {'a': 'one'})
    answer = service.ask(
        'PUT', f'/v1/groups/{group}', {'group': shop(a='big'), 'apply': True},
        OWNER, headers={**VERSION, 'If-Match': '"1"'})
    assert refusal(answer)[:2] == (403, 'holistic.forbidden')


def test_an_earlier_version_refuses_as_before(cloud, service):
    group, _ = built(cloud, shop(a='small'), {'a': 'one'})
    answer = service.ask(
        'PUT', f'/v1/groups/{group}', {'group': shop(a='big'), 'apply': True},
        headers={'If-Match': '"1"'}, token=OWNER)
    assert refusal(answer)[0] == 400
    shown = service.ask(
        'PUT', f'/v1/groups/{group}?wait=60', {'group': shop(a='big')},
        headers={'If-Match': '"1"'}, token=OWNER).json['group']
    assert 'can no longer be changed' in shown['reasons'][0]['message']
    assert 'actions' not in shown


def test_a_server_whose_request_named_a_zone_stays_there(cloud, service):
    """Nova keeps the zone of the request."""
    document = shop(a='small')
    group, servers = built(cloud, document, {'a': 'one'},
                           availability_zone='az1')
    document['members'][0]['availability_zone'] = 'az2'
    shown = update(service, group, document, apply=True)
    assert actions(shown) == [('a', 'migrate', 'failed', 'far')]
    (why,) = shown['reasons']
    assert why['message'].startswith('the action migrate to host far failed')
    assert cloud.host_of(servers['a']) == 'one'
    assert cloud.row(group, 'a').member.requirements.availability_zone is None


def test_a_resize_that_waits_for_its_confirmation_is_left_to_its_user(
        cloud, service):
    group, servers = built(cloud, shop(a='small'), {'a': 'one'})
    cloud.act(servers['a'], 'resize', flavorRef=cloud.flavor_id('big'))
    cloud.wait_for_status(servers['a'], 'VERIFY_RESIZE')
    shown = update(service, group, shop(a='big'), apply=True)
    assert 'confirm or revert' in shown['reasons'][0]['message']
    assert cloud.get_server(servers['a'])['status'] == 'VERIFY_RESIZE'
    cloud.act(servers['a'], 'confirmResize')
    cloud.wait_for_status(servers['a'], 'ACTIVE')
    # The user has carried out the action: the row states that.
    shown = update(service, group, shop(a='big'), token=OWNER)
    assert [each['action'] for each in shown['actions']] == ['nothing']
    assert cloud.row(group, 'a').member.requirements.flavor == 'big'

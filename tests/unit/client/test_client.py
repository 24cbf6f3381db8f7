# SPDX-License-Identifier: Apache-2.0
"""The Python client, against the API over HTTP."""

import time
import uuid

from keystoneauth1 import noauth
from keystoneauth1.session import Session
import pytest
import webob

from nova_holistic.client.client import Client
from nova_holistic.client.errors import Refused, TimedOut
from nova_holistic.table.records import GroupStatus
from tests.unit.api.service import ADMIN, READER, SHOP, OTHER_PROJECT
from tests.unit.client.cloud import Cloud
from tests.unit.client.loopback import Loopback
from tests.unit.table.builders import force_status

LOG = {'name': 'log', 'resources': {'VCPU': 1}}


def test_a_group_is_created_found_and_shown(service, client):
    group = client.groups.create(SHOP, objective='stack', lease=60)
    assert (group['status'], group['objective']) == ('planning', 'stack')
    service.settle(group['id'])
    shown = client.groups.get(group['id'])
    assert shown['definition'] == SHOP
    assert client.groups.find('shop') == shown
    assert client.groups.find(group['id']) == shown
    assert service.engines.asked == [('plan_group', group['id'])]


def test_an_answer_of_a_proxy_that_is_not_json_is_an_error_of_the_client():
    """The endpoint in the catalog is that of a dashboard."""
    dashboard = webob.Response('<html>Sign in</html>')
    with Loopback({'/dashboard': dashboard}) as loopback:
        client = Client(Session(noauth.NoAuth()),
                        endpoint_override=f'{loopback.url}/dashboard')
        with pytest.raises(Refused, match='is not JSON') as refused:
            client.groups.get('shop')
    assert f'{loopback.url}/dashboard/v1' in str(refused.value)
    assert not refused.value.is_transient


def test_a_document_may_have_the_outer_key(client):
    group = client.groups.create({'group': SHOP})
    assert client.groups.get(group['id'])['definition'] == SHOP


def test_a_create_repeated_with_its_key_makes_one_group(client):
    first, again = [client.groups.create(SHOP, idempotency_key='once')
                    for _ in range(2)]
    assert first['id'] == again['id']
    assert len(list(client.groups.list())) == 1


def test_a_list_reads_every_page(client):
    created = {client.groups.create({**SHOP, 'name': f'shop-{number}'})['id']
               for number in range(5)}
    found = [group['id'] for group in client.groups.list(page=2)]
    assert len(found) == 5
    assert set(found) == created


@pytest.mark.parametrize('sorting', [
    {}, {'sort_key': 'name', 'sort_dir': 'desc'}, {'status': ['planning']}])
def test_a_list_continues_after_a_page_whose_last_group_is_deleted(
        service, client, sorting):
    for number in range(7):
        client.groups.create({**SHOP, 'name': f'shop-{number}'})
    complete = [group['id'] for group in client.groups.list(**sorting)]
    found = []
    for group in client.groups.list(page=2, **sorting):
        found.append(group['id'])
        if len(found) % 2 == 0:
            service.table.delete_group(group['id'])
    assert found == complete


def test_the_marker_of_a_user_is_a_group(client):
    with pytest.raises(Refused) as caught:
        list(client.groups.list(marker=str(uuid.uuid4())))
    assert (caught.value.status, caught.value.code) == (
        400, 'holistic.unknown_marker')


def test_a_list_can_be_filtered(service, cloud, client):
    kept = service.planned()
    client.groups.create({**SHOP, 'name': 'other'})
    other_group = service.created(token=OTHER_PROJECT)
    found = client.groups.list(name='shop', status='planned')
    assert [group['id'] for group in found] == [kept]
    everybody = cloud.client(ADMIN).groups.list(all_projects=True)
    assert {kept, other_group['id']} < {group['id'] for group in everybody}


def test_an_ambiguous_name_requires_an_id(client):
    first, second = [client.groups.create(SHOP)['id'] for _ in range(2)]
    with pytest.raises(LookupError) as caught:
        client.groups.find('shop')
    assert first in str(caught.value)
    assert second in str(caught.value)
    assert client.groups.find(second)['id'] == second


@pytest.mark.parametrize('name', [
    'nowhere', 'a/b', pytest.param(str(uuid.uuid4()), id='uuid'), '🛒',
    '%2F..'])
def test_an_unknown_group_is_not_found(client, name):
    with pytest.raises(LookupError, match='there is no group'):
        client.groups.find(name)


def test_an_id_is_found_in_upper_case(client):
    group = client.groups.create(SHOP)['id']
    assert client.groups.find(group.upper())['id'] == group


def test_an_id_takes_precedence_over_an_equal_name(client):
    first = client.groups.create(SHOP)['id']
    client.groups.create({**SHOP, 'name': first})
    assert client.groups.find(first)['id'] == first


def test_an_update_of_a_stale_revision_is_refused(service, client):
    group = service.planned()
    revised = {**SHOP, 'members': [*SHOP['members'], LOG]}
    assert client.groups.update(group, revised, 1)['task'] == 'updating'
    assert service.table.get_group(group).pending['document'] == revised
    with pytest.raises(Refused) as caught:
        client.groups.update(group, SHOP, 5)
    assert (caught.value.status, caught.value.code) == (
        412, 'holistic.stale_revision')


def test_release_extend_and_delete_reach_the_engines(service, client):
    group = service.planned()
    client.groups.release(group, ['node'])
    client.groups.release(group)
    client.groups.extend(group, 60)
    client.groups.delete(group)
    assert service.engines.asked[1:] == [
        ('release', group, ['node'], None), ('release', group, None, None),
        ('extend', group, 60, None), ('delete', group, None)]


def test_members_are_added_and_removed(service, client):
    group = service.planned({'name': 'shop', 'members': [LOG], 'groups': [
        {'name': 'db', 'members': [LOG, {**LOG, 'name': 'disk'}]}]})
    client.groups.remove_member(group, 'db/disk')
    asked = service.table.get_group(group).pending['document']
    assert asked['groups'][0]['members'] == [LOG]
    service.settle(group)
    client.groups.add_members(group, [
        {**LOG, 'name': 'new', 'group': 'db'}])
    asked = service.table.get_group(group).pending['document']
    assert [m['name'] for m in asked['groups'][0]['members']] == [
        'log', 'disk', 'new']


@pytest.mark.parametrize('path, status, message', [
    *((path, 400, 'cannot be named in a URL') for path in (
        '..', '../placements', '../../{other}', 'db/../web', '.')),
    *((path, 404, 'does not exist') for path in ('', 'db//web'))])
def test_a_member_path_with_dots_cannot_delete_another_group(
        client, path, status, message):
    group, other = (client.groups.create({**SHOP, 'name': name})['id']
                    for name in ('shop', 'other'))
    with pytest.raises(Refused, match=message) as caught:
        client.groups.remove_member(group, path.format(other=other))
    assert caught.value.status == status
    assert {g['id'] for g in client.groups.list()} == {group, other}


@pytest.mark.parametrize('target', [
    '../../{other}', '..', '.', '', 'x/../../../{other}', '%2e%2e/x', 'a/b'])
def test_the_target_of_a_binding_cannot_name_another_resource(
        service, client, target):
    group, other = (client.groups.create({**SHOP, 'name': name})['id']
                    for name in ('shop', 'other'))
    before, target = len(service.engines.asked), target.format(other=other)
    for ask in (lambda: client.groups.unbind(group, target),
                lambda: client.groups.bind(group, target),
                lambda: client.groups.bind_stack(
                    group, target, [{'resource': 'server'}])):
        with pytest.raises(Refused) as caught:
            ask()
        assert caught.value.status == 404
    assert len(service.engines.asked) == before


def test_lost_members_are_replanned(service, client):
    group = service.planned()
    assert client.groups.replan(group)['task'] == 'replanning'


def test_a_repair_is_proposed_and_requested(service, cloud):
    group = service.created()['id']
    service.settle(group, GroupStatus.PLANNED)
    force_status(service.table, group, GroupStatus.DEGRADED)
    client = cloud.client(ADMIN)
    assert client.groups.repair(group) == {
        'moves': [], 'planned_again': [], 'reasons': []}
    assert client.groups.apply_repair(group)['task'] == 'repairing'


def test_a_group_without_a_plan_has_no_placements(client):
    group = client.groups.create(SHOP)['id']
    assert client.groups.placements(group) == []


def test_a_create_waits_for_the_plan(service, client):
    """Without the number of seconds, the response does not wait."""
    assert client.groups.create(SHOP)['task'] == 'planning'
    service.engines.acts['plan_group'] = service.settle
    group = client.groups.create(SHOP, wait=60)
    assert (group['status'], group['task']) == ('planned', None)


def test_wait_returns_when_the_group_is_settled(service, client):
    group, seen = client.groups.create(SHOP)['id'], []

    def caught(found):
        seen.append(found['task'])
        if len(seen) == 2:
            service.settle(group)

    assert client.groups.wait(group, 60, caught)['status'] == 'planned'
    assert seen == ['planning', 'planning', None]


@pytest.mark.parametrize('status, fault', [
    (503, 'The database does not answer'), (0, 'Connection refused'),
    (429, 'Too many requests')])
def test_wait_tolerates_an_unavailable_service(
        service, client, monkeypatch, status, fault):
    group, get = client.groups.create(SHOP)['id'], client.groups.get
    asked = []

    def sometimes(*args):
        asked.append(args)
        if len(asked) < 3:
            raise Refused(status, '', fault)
        return get(*args)

    service.settle(group)
    monkeypatch.setattr(client.groups, 'get', sometimes)
    assert client.groups.wait(group, 60)['status'] == 'planned'
    assert len(asked) == 3
    asked.clear()
    with pytest.raises(TimedOut, match=f'within 0.1 s; last error: {fault}'):
        client.groups.wait(group, 0.1)


def test_wait_asks_again_when_the_service_expects_it():
    asked = []

    def overloaded_once(environ, start_response):
        asked.append(time.monotonic())
        answer = webob.Response(json={'group': {'task': None}})
        if len(asked) == 1:
            answer = webob.Response('<html>busy</html>', 429)
            answer.retry_after = 1
        return answer(environ, start_response)

    with Loopback({'/holistic': overloaded_once}) as loopback:
        client = Client(Session(noauth.NoAuth()),
                        endpoint_override=f'{loopback.url}/holistic')
        assert client.groups.wait('g', 60) == {'task': None}
    assert asked[1] - asked[0] >= 1


def test_wait_raises_at_once_for_an_unknown_group(client):
    with pytest.raises(Refused) as caught:
        client.groups.wait(str(uuid.uuid4()), 60)
    assert caught.value.status == 404


def test_wait_raises_after_its_timeout(client):
    group = client.groups.create(SHOP)['id']
    with pytest.raises(TimedOut, match='not finished within 0.3 s'):
        client.groups.wait(group, 0.3)


def test_a_plan_is_created_and_waited_for(service, client):
    plan = client.plans.create(SHOP, objective='stack')
    assert plan['status'] == 'planning'
    service.make_plan(plan['id'], placements=[
        {'member': 'web', 'host': 'a1', 'node': 'a1', 'location': []}])
    found = client.plans.wait(plan['id'], 60)
    assert found['placements'] == [{'member': 'web'}]


def test_an_error_has_its_position_and_request_id(client):
    with pytest.raises(Refused) as caught:
        client.groups.create({**SHOP, 'colour': 'red'})
    assert str(caught.value).startswith('colour: unknown key')
    assert caught.value.status == 400
    assert caught.value.code == 'holistic.invalid_document'
    assert caught.value.request_id.startswith('req-')


def test_a_reader_cannot_create_a_group(cloud):
    with pytest.raises(Refused) as caught:
        cloud.client(READER).groups.create(SHOP)
    assert (caught.value.status, caught.value.code) == (
        403, 'holistic.forbidden')


def test_an_error_page_of_a_proxy_raises_refused():
    """A proxy between client and API may send such a page."""
    def proxy(environ, start_response):
        start_response('502 Bad Gateway', [('Content-Type', 'text/html')])
        return [b'<html>no upstream</html>']

    with Cloud(proxy) as cloud, pytest.raises(Refused) as caught:
        cloud.client().groups.create(SHOP)
    assert (caught.value.status, caught.value.code) == (502, '')


def test_an_unreachable_service_raises_refused(cloud):
    client = cloud.client(endpoint_override='http://127.0.0.1:1')
    with pytest.raises(Refused) as caught:
        client.groups.create(SHOP)
    assert (caught.value.status, caught.value.is_transient) == (0, True)


def test_a_cloud_without_the_service_raises_refused(cloud):
    client = cloud.client(service_type='other')
    with pytest.raises(Refused, match='other') as caught:
        client.groups.create(SHOP)
    assert (caught.value.status, caught.value.is_transient) == (0, False)


@pytest.mark.parametrize('key', ['', 'Schlüssel', 'x\ny', 'x' * 256])
def test_an_invalid_idempotency_key_is_refused(client, key):
    with pytest.raises(Refused, match='printable ASCII') as caught:
        client.groups.create(SHOP, idempotency_key=key)
    assert (caught.value.status, caught.value.is_transient) == (400, False)
    assert list(client.groups.list()) == []


def test_the_client_requests_its_microversion(cloud):
    with pytest.raises(Refused) as caught:
        cloud.client(microversion='1.8').groups.create(SHOP)
    assert caught.value.status == 406


@pytest.mark.parametrize('versions, known', [
    (('1.0', '1.1', '1.2', '1.3', '1.4'), {'objective_value', 'actions'}),
    (('1.0', '1.1', '1.2', '1.3'), {'actions'}), (('1.0', '1.1'), set())])
def test_a_group_is_complete_as_far_as_the_api_knows_it(
        service, client, monkeypatch, versions, known):
    group = client.groups.create(SHOP)['id']
    monkeypatch.setattr('nova_holistic.api.requests.microversions.VERSIONS',
                        versions)
    shown = client.groups.get_complete(group)
    assert (shown['id'], shown['definition']) == (group, SHOP)
    assert shown.keys() & {'objective_value', 'actions'} == known


def test_wait_returns_an_unplaceable_group(service, client):
    group = client.groups.create(SHOP)['id']
    service.settle(group, GroupStatus.UNPLACEABLE,
                   reasons=({'at': 'web', 'message': 'no room', 'names': []},))
    found = client.groups.wait(group)
    assert found['reasons'] == [{'at': 'web', 'message': 'no room'}]

# SPDX-License-Identifier: Apache-2.0
"""Requests for engines to create the servers of a group."""

from dataclasses import replace

import pytest

from nova_holistic.api.schemas import events
from nova_holistic.boot.errors import TrustRefused
from nova_holistic.documents.validation import validator
from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.table.boot_records import BootServerState, BootStatus
from nova_holistic.table.database import Duplicate
from tests.unit.api.service import MEMBER, NOON, READER, refusal, SHOP

LATEST = {'OpenStack-API-Version': 'holistic 1.2'}
IMAGE = '155d900f-4e14-4e4c-a73d-069cbf4541e6'
SERVER = '11111111-1111-4111-8111-111111111111'
WEB = {'name': 'web', 'count': 2, 'flavor': 'small', 'server': {
    'imageRef': IMAGE}}
GROUP = {'name': 'shop', 'members': [WEB]}


class Rights:
    """Records who grants a right for which group."""

    def __init__(self):
        self.granted = []
        self.withdrawn = []
        self.error = None

    def grant(self, user, group_uuid, now):
        if self.error:
            raise self.error
        self.granted.append((user, group_uuid, now))
        return f'encrypted-{len(self.granted)}'

    def withdraw(self, group_uuid, encrypted):
        self.withdrawn.append((group_uuid, encrypted))


@pytest.fixture
def rights(service):
    service.user_rights = Rights()
    service.renew()
    return service.user_rights


def ask(service, boot=(), group=GROUP, token=MEMBER, **headers):
    return service.ask(
        'POST', '/v1/groups', {'group': group, 'boot': dict(boot)}, token,
        {**LATEST, **headers})


def shown(service, group, headers=LATEST):
    return service.ask('GET', f'/v1/groups/{group}', headers=headers).json[
        'group']


def test_the_group_and_its_boot_are_written_together(service, rights):
    token = replace(MEMBER, more={'X-Auth-Token': 'her token'})
    answer = ask(service, {'rollback': True, 'retries': 2}, token=token)
    assert answer.status_int == 202, answer.text
    group = answer.json['group']['id']
    ((user, granted, now),) = rights.granted
    assert (user.user_id, user.project_id, user.token, granted, now) == (
        'ann', 'blue', 'her token', group, NOON)
    assert set(user.roles) == {'member', 'reader'}
    boot = service.table.boots.get(group)
    assert (boot.credential, boot.status, boot.open) == (
        'encrypted-1', BootStatus.WAITING, True)
    assert shown(service, group)['boot'] == {
        'status': 'waiting', 'rollback': True, 'retries': 2, 'reasons': [],
        'updated_at': '2030-01-01T12:00:00Z', 'servers': []}
    assert service.engines.asked == [('plan_group', group)]


def test_the_progress_of_each_server_is_shown(service, rights):
    group = ask(service).json['group']['id']
    boots = service.table.boots
    record = boots.take(group, 'engine-1', NOON, NOON)
    boots.begin(record, ['web-0', 'web-1'], NOON)
    first, second = boots.servers(group)
    boots.change_server(record, first, replace(
        first, state=BootServerState.ACTIVE, server_uuid=SERVER, tries=1),
        NOON)
    boots.change_server(record, second, replace(
        second, state=BootServerState.FAILED, tries=2, fault='no image'),
        NOON)
    boots.change(record, BootStatus.FAILED, [
        {'at': 'web-1', 'message': 'no image'}], NOON)
    boot = shown(service, group)['boot']
    assert (boot['status'], boot['reasons']) == (
        'failed', [{'at': 'web-1', 'message': 'no image'}])
    assert boot['servers'] == [
        {'member': 'web-0', 'state': 'active', 'server_id': SERVER,
         'tries': 1, 'fault': None},
        {'member': 'web-1', 'state': 'failed', 'server_id': None,
         'tries': 2, 'fault': 'no image'}]


def test_the_events_of_a_boot_match_the_description(service, rights):
    group = ask(service).json['group']['id']
    boots = service.table.boots
    record = boots.take(group, 'engine-1', NOON, NOON)
    boots.begin(record, ['web-0', 'web-1'], NOON)
    for server, uuid in zip(boots.servers(group), (SERVER, None), strict=True):
        boots.change_server(record, server, replace(
            server, state=BootServerState.CREATING, server_uuid=uuid,
            tries=1), NOON)
    body = service.ask('GET', f'/v1/groups/{group}/events').json
    validator(events.MANY)(body)
    assert [event['details'] for event in body['events']
            if event['kind'] == 'boot.server'] == [
        {'server': SERVER, 'tries': 1}, {'server': None, 'tries': 1}]


def test_other_groups_and_other_versions_have_no_boot(service, rights):
    group = service.created()['id']
    assert shown(service, group)['boot'] is None
    booted = ask(service).json['group']['id']
    for version in ({}, {'OpenStack-API-Version': 'holistic 1.1'}):
        assert 'boot' not in shown(service, booted, version)


def test_the_stored_right_is_never_shown(service, rights):
    group = ask(service).json['group']['id']
    answer = service.ask('GET', f'/v1/groups/{group}', headers=LATEST)
    assert 'encrypted' not in answer.text


def test_without_keys_the_message_names_the_alternative(service):
    status, code, detail = refusal(ask(service))
    assert (status, code) == (400, 'holistic.boot_unavailable')
    assert 'group create --boot' in detail
    assert service.table.list_groups() == ()


def test_earlier_versions_do_not_have_the_key(service, rights):
    answer = service.ask(
        'POST', '/v1/groups', {'group': SHOP, 'boot': {}},
        headers={'OpenStack-API-Version': 'holistic 1.1'})
    assert refusal(answer) == (
        400, 'holistic.invalid_document',
        'boot: requires version 1.2 of the API')
    assert rights.granted == []


@pytest.mark.parametrize('boot, place', [
    ({'retries': 6}, 'boot.retries'), ({'retries': -1}, 'boot.retries'),
    ({'retries': 'many'}, 'boot.retries'), ({'rollback': 1}, 'boot.rollback'),
    ({'parallel': 1}, 'boot')])
def test_an_invalid_request_is_refused_with_its_position(
        service, rights, boot, place):
    status, code, detail = refusal(ask(service, boot))
    assert (status, code) == (400, 'holistic.invalid_document')
    assert detail.startswith(place)
    assert rights.granted == []


def test_each_member_without_a_server_is_named(service, rights):
    bare = {'name': 'bare', 'resources': {'VCPU': 1}}
    answer = ask(service, group={
        'name': 'shop', 'members': [WEB, bare],
        'groups': [{'name': 'db', 'members': [bare]}],
        'adopt': {}} | {'adopt': {'db/bare': SERVER}})
    assert refusal(answer) == (
        400, 'holistic.invalid_document',
        'members[1].server: is missing: boot needs it')
    assert rights.granted == []


@pytest.mark.parametrize('count, adopted, places', [
    (2, (0, 1), []), (2, (0,), ['members[0]']),
    ({'min': 0, 'desired': 2, 'max': 9}, (3, 7), []),
    ({'min': 0, 'desired': 3, 'max': 9}, (3, 7), ['members[0]']),
    ({'min': 0, 'desired': 0, 'max': 9}, (), [])])
def test_members_whose_servers_are_adopted_need_no_server(
        service, rights, count, adopted, places):
    bare = {'name': 'bare', 'count': count, 'resources': {'VCPU': 1}}
    servers = {f'bare-{number}': f'{number}{SERVER[1:]}' for number in adopted}
    inside = {f'db-1/{path}': uuid for path, uuid in servers.items()}
    for group in ({'members': [bare, WEB], 'adopt': servers},
                  {'members': [WEB], 'adopt': inside, 'groups': [
                      {'name': 'db', 'members': [bare], 'count': {
                          'min': 1, 'desired': 1, 'max': 2}}]}):
        answer = ask(service, group={'name': 'shop'} | group)
        prefix = 'groups[0].' if 'groups' in group else ''
        if places:
            assert refusal(answer)[2] == ', '.join(
                f'{prefix}{place}.server: is missing: boot needs it'
                for place in places)
        else:
            assert answer.status_int == 202, answer.text


def test_boot_creates_no_volumes(service, rights):
    data = {'name': 'data', 'kind': 'volume', 'size': 5}
    for members, status in (
            ([WEB, data], 202),
            ([{**WEB, 'count': 1, 'boot_volume': 'data', 'server': {
                'block_device_mapping_v2': [{
                    'uuid': IMAGE, 'source_type': 'image', 'boot_index': 0,
                    'destination_type': 'volume', 'volume_size': 5}]}},
              {**data, 'count': 1}], 400)):
        answer = ask(service, group={'name': 'shop', 'members': members},
                     **{'OpenStack-API-Version': 'holistic 1.6'})
        assert answer.status_int == status, answer.text
    assert refusal(answer)[2].startswith('members[0].boot_volume: boot ')


def test_a_reader_gets_no_servers(service, rights):
    assert refusal(ask(service, token=READER))[0] == 403
    assert rights.granted == []


def test_the_operator_can_forbid_boots(start, tmp_path):
    policies = tmp_path / 'policy.yaml'
    policies.write_text('"holistic:groups:boot": "role:admin"\n')
    service = start(policies=policies)
    service.user_rights = Rights()
    service.renew()
    status, code, detail = refusal(ask(service))
    assert (status, code) == (403, 'holistic.forbidden')
    assert 'holistic:groups:boot' in detail
    assert 'group create --boot' in detail
    assert service.user_rights.granted == []


@pytest.mark.parametrize('error, expected, part', [
    (TrustRefused('Delegated tokens cannot manage trusts.'),
     (403, 'holistic.trust_refused'), 'Delegated tokens'),
    (ServiceFailed('keystone', '/OS-TRUST/trusts', 'secret.host: away'),
     (503, 'holistic.keystone_unavailable'), 'try again later')])
def test_without_a_trust_no_group_is_written(service, rights, error, expected,
                                             part):
    rights.error = error
    status, code, detail = refusal(ask(service))
    assert (status, code) == expected
    assert part in detail and 'secret' not in detail
    assert service.table.list_groups() == ()


def test_a_repeated_request_grants_no_second_right(service, rights):
    first, second = (ask(service, **{'Idempotency-Key': 'once'})
                     for _ in range(2))
    assert first.json['group']['id'] == second.json['group']['id']
    assert len(rights.granted) == 1


def test_of_two_simultaneous_requests_one_right_is_withdrawn(
        service, rights, monkeypatch):
    first = ask(service, **{'Idempotency-Key': 'once'}).json['group']['id']
    found = service.table.listing.by_idempotency_key
    answers = iter([None])
    monkeypatch.setattr(
        service.table.listing, 'by_idempotency_key',
        lambda *words: next(answers, None) or found(*words)
        if len(rights.granted) > 1 else None)
    answer = ask(service, **{'Idempotency-Key': 'once'})
    assert answer.json['group']['id'] == first
    ((group, encrypted),) = rights.withdrawn
    assert encrypted == 'encrypted-2' and group != first


def test_a_duplicate_without_a_boot_withdraws_nothing(service, rights):
    group = service.created()['id']
    record = service.table.get_group(group)
    with pytest.raises(Duplicate):
        service.table.create_group(record)
    assert rights.withdrawn == []

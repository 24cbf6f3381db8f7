# SPDX-License-Identifier: Apache-2.0
"""Requests for engines to create the volumes of a group."""

from dataclasses import replace

import pytest

from nova_holistic.boot.errors import TrustRefused
from nova_holistic.table.created_volumes import (
    CreatedVolumeState, CreationStatus)
from tests.unit.api.service import MEMBER, NOON, refusal
from tests.unit.api.test_boots import Rights, WEB
from tests.unit.table import builders

LATEST = {'OpenStack-API-Version': 'holistic 1.7'}
DATA = {'name': 'data', 'kind': 'volume', 'count': 2, 'size': 20,
        'volume_type': 'fast', 'create_at_plan_time': True}
GROUP = {'name': 'db', 'members': [
    WEB, DATA, {'name': 'log', 'kind': 'volume', 'size': 5}]}


@pytest.fixture
def rights(service):
    service.user_rights = Rights()
    service.renew()
    return service.user_rights


def ask(service, body=None, token=MEMBER, headers=LATEST):
    return service.ask('POST', '/v1/groups', body or {'group': GROUP}, token,
                       headers)


def shown(service, group, path='', headers=LATEST):
    return service.ask('GET', f'/v1/groups/{group}{path}',
                       headers=headers).json


def test_the_group_and_its_volumes_are_written_together(service, rights):
    token = replace(MEMBER, more={'X-Auth-Token': 'her token'})
    answer = ask(service, token=token)
    assert answer.status_int == 202, answer.text
    group = answer.json['group']['id']
    ((user, granted, _),) = rights.granted
    assert (user.token, granted) == ('her token', group)
    creations = service.table.volumes.creations
    assert creations.get(group).credential == 'encrypted-1'
    assert [row.path for row in creations.volumes(group)] == [
        'data-0', 'data-1']
    assert shown(service, group)['group']['volume_creation'] == {
        'status': 'creating', 'reasons': [],
        'updated_at': '2030-01-01T12:00:00Z'}
    assert 'volume_creation' not in shown(service, group, headers={
        'OpenStack-API-Version': 'holistic 1.6'})['group']


def test_the_right_for_servers_is_withdrawn_if_that_for_volumes_is_refused(
        service, rights, monkeypatch):
    grant = rights.grant

    def first_only(*words):
        if rights.granted:
            raise TrustRefused('no')
        return grant(*words)

    monkeypatch.setattr(rights, 'grant', first_only)
    answer = ask(service, {'group': GROUP, 'boot': {}})
    assert answer.status_int == 403, answer.text
    ((_, encrypted),) = rights.withdrawn
    assert encrypted == 'encrypted-1'


def test_the_creation_of_each_volume_is_shown(service, rights):
    group = ask(service).json['group']['id']
    table = service.table
    record = replace(table.get_group(group))
    table.volumes.write(group, [
        replace(row, path=path) for row, path in zip(
            builders.volumes_of(record, 3), ('data-0', 'data-1', 'log'),
            strict=True)])
    creations, volume = table.volumes.creations, builders.new_uuid()
    with table.database.writer() as session:
        session.connection().exec_driver_sql(
            "UPDATE holistic_groups SET status = 'planned', task = NULL")
    taken = creations.take(group, 'engine', NOON, NOON)
    first, second = creations.volumes(group)
    creations.change_volume(taken, replace(
        first, state=CreatedVolumeState.AVAILABLE, volume_uuid=volume,
        tries=1), NOON)
    creations.change_volume(taken, replace(
        second, state=CreatedVolumeState.FAILED, tries=3, fault='no disk'),
        NOON)
    creations.finish(taken, CreationStatus.FAILED, NOON, NOON)
    assert [row['creation'] for row in shown(
        service, group, '/placements')['volumes']] == [
            {'state': 'available', 'volume_id': volume, 'tries': 1,
             'fault': None},
            {'state': 'failed', 'volume_id': None, 'tries': 3,
             'fault': 'no disk'}, None]
    found = shown(service, group)['group']['volume_creation']
    assert (found['status'], found['reasons']) == (
        'failed', [{'at': 'data-1', 'message': 'no disk'}])


def test_a_group_without_the_key_needs_no_right(service, rights):
    answer = ask(service, {'group': {'name': 'db', 'members': [
        WEB, {'name': 'log', 'kind': 'volume', 'size': 5}]}})
    assert answer.status_int == 202
    assert rights.granted == []
    assert shown(service, answer.json['group']['id'])['group'][
        'volume_creation'] is None


def test_servers_and_volumes_have_separate_rights(service, rights):
    answer = ask(service, {'group': GROUP, 'boot': {}})
    assert answer.status_int == 202, answer.text
    group = answer.json['group']['id']
    assert [granted for _, granted, _ in rights.granted] == [group] * 2
    assert service.table.boots.get(group).credential != (
        service.table.volumes.creations.get(group).credential)


def test_earlier_versions_do_not_know_the_key(service, rights):
    answer = ask(service, headers={
        'OpenStack-API-Version': 'holistic 1.6'})
    assert refusal(answer) == (
        400, 'holistic.invalid_document', 'members[1].create_at_plan_time: '
        'requires version 1.7 of the API')
    assert rights.granted == []


def test_a_service_without_keys_creates_no_volumes(service):
    status, code, detail = refusal(ask(service))
    assert (status, code) == (400, 'holistic.volumes_unavailable')
    assert 'create the volumes with their pointers' in detail
    assert service.table.list_groups() == ()


def test_the_operator_can_forbid_the_creation(start, tmp_path):
    policies = tmp_path / 'policy.yaml'
    policies.write_text('"holistic:groups:create_volumes": "role:admin"\n')
    service = start(policies=policies)
    service.user_rights = Rights()
    service.renew()
    status, code, detail = refusal(ask(service))
    assert (status, code) == (403, 'holistic.forbidden')
    assert 'holistic:groups:create_volumes' in detail


def test_without_a_trust_no_group_is_written(service, rights):
    rights.error = TrustRefused('Delegated tokens cannot manage trusts.')
    status, code, detail = refusal(ask(service))
    assert (status, code) == (403, 'holistic.trust_refused')
    assert detail.startswith('create_at_plan_time: ')
    assert service.table.list_groups() == ()


def test_an_update_cannot_change_the_key(service, rights):
    group = ask(service).json['group']['id']
    with service.table.database.writer() as session:
        session.connection().exec_driver_sql(
            "UPDATE holistic_groups SET status = 'planned', task = NULL")
    changed = {**GROUP, 'members': [
        WEB, {**DATA, 'create_at_plan_time': False}, GROUP['members'][2]]}
    answer = service.ask(
        'PUT', f'/v1/groups/{group}', {'group': changed}, MEMBER,
        {**LATEST, 'If-Match': '"1"'})
    assert refusal(answer)[:2] == (400, 'holistic.invalid_document')

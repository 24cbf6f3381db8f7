# SPDX-License-Identifier: Apache-2.0
"""Volumes that an engine creates for the user of a real keystone."""

import signal

import pytest
import requests

from nova_holistic.boot.volume_round import NO_RIGHT
from tests.cinder.keystone_cloud import (
    create_accounts, expire_trusts, KeystoneCinder, PROCESS, Services)
from tests.cinder.keystone_users import Person
from tests.services.background_processes import wait_for
from tests.services.keystone import KeystoneServer
from tests.services.placement import PlacementServer
from tests.tables import new_table
from tools.federation.forks import Forks

DATA = {'name': 'data', 'kind': 'volume', 'count': 2, 'size': 10,
        'create_at_plan_time': True}
DATABASE = {'name': 'db', 'members': [
    {'name': 'node', 'resources': {'VCPU': 1}}, DATA]}


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp('keystone')


@pytest.fixture(scope='module')
def keystone(folder):
    with KeystoneServer(folder) as found:
        create_accounts(found)
        yield found


@pytest.fixture(scope='module')
def placement(tmp_path_factory):
    with PlacementServer(tmp_path_factory.mktemp('placement')) as found:
        yield found


@pytest.fixture(scope='module')
def running(keystone, tmp_path_factory):
    found = KeystoneCinder(
        new_table(tmp_path_factory.mktemp('table')), keystone)
    found.setUp()
    found.report_all()
    yield found
    found.doCleanups()


@pytest.fixture
def cinder(running):
    yield running
    running.delete_all()


@pytest.fixture(scope='module')
def forks():
    with Forks(PROCESS) as forks:
        yield forks


@pytest.fixture
def services(cinder, placement, tmp_path, forks):
    found = Services(cinder, placement, tmp_path, forks)
    yield found
    found.stop()


@pytest.fixture
def ann(keystone):
    return Person(keystone)


def test_the_volumes_belong_to_the_user_and_the_trust_is_deleted(
        cinder, services, ann):
    services.start(ann)
    group = ann.create(DATABASE)
    assert ann.ended(group)['status'] == 'complete'
    found = cinder.volumes_of(group)
    assert found.keys() == {'data-0', 'data-1'}
    for path, volume in found.items():
        assert (volume['status'], volume['size'], volume['name']) == (
            'available', 10, f'db-{path}')
        assert volume['user_id'] == ann.user
        assert volume['os-vol-tenant-attr:tenant_id'] == ann.project
    assert {each['creation']['volume_id'] for each
            in ann.volumes(group).values()} == {
                each['id'] for each in found.values()}
    assert ann.trusts == []
    # The end of the group deletes them without a right of the user.
    assert ann.ask('DELETE', f'/groups/{group}').status_code == 204
    wait_for('no volumes', lambda: not cinder.volumes_of(group))


def test_the_account_of_the_trustee_needs_no_rights(cinder, services, ann):
    services.start(ann, trustee='trustee')
    group = ann.create(DATABASE)
    assert ann.ended(group)['status'] == 'complete'
    assert {volume['os-vol-tenant-attr:tenant_id'] for volume
            in cinder.volumes_of(group).values()} == {ann.project}
    assert ann.trusts == []


def test_an_account_without_a_token_is_reported(services, ann):
    services.start(ann, engine=False, trustee='without role')
    answer = ann.request(DATABASE)
    assert answer.status_code == 503, answer.text
    (error,) = answer.json()['errors']
    assert error['code'] == 'holistic.keystone_unavailable'
    assert services.table.list_groups() == ()


def test_a_token_that_allows_no_trust_is_refused(services, ann):
    services.start(ann, engine=False)
    answer = ann.ask('POST', '/groups', {'group': DATABASE},
                     ann.application_token())
    assert answer.status_code == 403, answer.text
    assert answer.json()['errors'][0]['code'] == 'holistic.trust_refused'
    assert (services.table.list_groups(), ann.trusts) == ((), [])


def test_a_reader_of_the_project_creates_no_volumes(services, keystone):
    reader = Person(keystone, 'reader')
    services.start(reader, engine=False)
    assert reader.request(DATABASE).status_code == 403
    assert reader.trusts == []


@pytest.mark.parametrize('ends', ['deleted', 'expired', 'role'])
def test_a_right_that_ends_fails_the_creation_and_the_plan_remains(
        cinder, services, folder, ann, ends):
    api = services.start(ann, engine=False)
    group = ann.create(DATABASE)
    (trust,) = ann.trusts
    assert trust['project_id'] == ann.project
    if ends == 'deleted':
        ann.delete_trusts()
    elif ends == 'expired':
        expire_trusts(folder)
    else:
        ann.lose_role()
    api.kill()
    bob = Person(ann.keystone, 'member', ann.project)
    services.start(bob)
    creation = bob.ended(group)
    assert creation['status'] == 'failed'
    assert creation['reasons'] == [
        {'at': path, 'message': NO_RIGHT} for path in ('data-0', 'data-1')]
    assert bob.shown(group)['status'] == 'planned'
    assert cinder.volumes_of(group) == {}
    assert trust['id'] not in services.logs()
    # A user of the project creates the volumes in their planned pools.
    for row in services.table.volumes.of_group(group):
        volume = bob.create_volume(group, row.path, 10)
        assert cinder.wait_for(volume, ['available'])[
            'os-vol-host-attr:host'] == row.pool


def test_the_volume_of_a_killed_engine_is_found_without_a_right(
        cinder, services, folder, ann):
    """The right expires after the engine was killed, and before another engine
    has created the second volume."""
    killed = services.start(ann, crash_point='volume.created')
    group = ann.create(DATABASE)
    assert killed.wait_until_killed(120) == -signal.SIGKILL
    expire_trusts(folder)
    services.start(ann)
    creation = ann.ended(group)
    assert creation['reasons'] == [{'at': 'data-1', 'message': NO_RIGHT}]
    assert ann.states(group) == {'data-0': 'available', 'data-1': 'failed'}
    assert [volume['status'] for volume
            in cinder.volumes_of(group).values()] == ['available']
    ann.ask('DELETE', f'/groups/{group}')
    wait_for('no volumes', lambda: not cinder.volumes_of(group))


@pytest.mark.parametrize('point', ['volume.created:2', 'boot.right-deleted'])
def test_another_engine_continues_and_creates_nothing_twice(
        cinder, services, ann, point):
    killed = services.start(ann, crash_point=point)
    group = ann.create(DATABASE)
    assert killed.wait_until_killed(120) == -signal.SIGKILL
    services.start(ann)
    assert ann.ended(group)['status'] == 'complete'
    found = cinder.volumes_of(group)
    assert found.keys() == {'data-0', 'data-1'}
    assert len(cinder.all_volumes()) == 2
    assert {each['os-vol-tenant-attr:tenant_id']
            for each in found.values()} == {ann.project}
    assert ann.trusts == []


def test_a_repeated_request_keeps_one_group_and_one_right(
        cinder, services, ann):
    killed = services.start(ann, engine=False, crash_point='api.group-created')
    with pytest.raises(requests.ConnectionError):
        ann.request(DATABASE, 'key-1')
    assert killed.wait_until_killed(60) == -signal.SIGKILL
    services.start(ann)
    answers = [ann.request(DATABASE, 'key-1') for _ in range(2)]
    assert {each.status_code for each in answers} <= {201, 202}
    (group,) = {each.json()['group']['id'] for each in answers}
    assert ann.ended(group)['status'] == 'complete'
    assert len(cinder.all_volumes()) == 2
    assert ann.trusts == []

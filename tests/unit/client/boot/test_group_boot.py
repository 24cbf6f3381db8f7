# SPDX-License-Identifier: Apache-2.0
"""The boot of a group, and its faults."""

import threading
import time

import pytest
import requests_mock

from nova_holistic.client.boot import member_boot, server_states
from nova_holistic.client.boot.group_boot import GroupBoot, NotBooted
from nova_holistic.client.boot.outcome import Settings
from nova_holistic.client.boot.rollback import Rollback
from nova_holistic.client import errors
from tests.unit.client.boot.cloud import Cloud, fault, GROUP, NOVA


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(member_boot, '_FIRST_PAUSE', 0.01)
    monkeypatch.setattr(member_boot, '_LONGEST_PAUSE', 0.02)
    monkeypatch.setattr(server_states, '_INTERVAL', 0)


@pytest.fixture
def start():
    """A function that starts a cloud with members."""
    with requests_mock.Mocker() as mock:
        yield lambda *members: Cloud(mock, *members)


def boot(cloud, report=None, **settings):
    """The errors of the boot by member."""
    settings = Settings(**{'parallel': 2, 'timeout': 5, **settings})
    return {each.member: each.error for each in GroupBoot(
        cloud.groups, cloud.compute, settings).boot(
            cloud.group, report and (lambda number: report))}


def servers_of(cloud, member):
    return [server for server in cloud.servers.values()
            if server['metadata'].get('holistic_member') == member]


def test_each_planned_member_gets_a_server(start):
    cloud, report = start('a', 'b', 'c'), []
    assert boot(cloud, lambda *change: report.append(change)) == {
        'a': '', 'b': '', 'c': ''}
    assert len(cloud.servers) == len(cloud.creates) == 3
    assert {body['server']['flavorRef'] for body in cloud.creates} == {'b'}
    assert [state for member, state in report if member == 'a'] == [
        'creating', 'building', 'active']


def test_existing_servers_are_not_created_again(start):
    cloud = start('claimed', 'unclaimed', 'adopted', 'missing')
    cloud.add('claimed')
    cloud.add('unclaimed', claimed=False)
    cloud.servers[cloud.add('adopted')]['metadata'] = {}
    assert set(boot(cloud).values()) == {''}
    hints = [body['os:scheduler_hints'] for body in cloud.creates]
    assert hints == [{'holistic_group': GROUP, 'holistic_member': 'missing'}]


@pytest.mark.parametrize('retries', [0, 2])
def test_a_create_whose_answer_is_lost_is_not_repeated(start, retries):
    cloud = start('a')
    cloud.refusals = [(0, 'accepted')]
    assert boot(cloud, retries=retries) == {'a': ''}
    assert (len(cloud.creates), len(cloud.servers)) == (1, 1)


def test_an_answer_of_a_proxy_to_a_create_is_not_taken_for_that_of_nova(
        start):
    cloud = start('a', 'b')
    cloud.mock.post(f'{NOVA}/servers', status_code=202, text='<html>')
    found = boot(cloud)
    assert set(found) == {'a', 'b'}
    assert all(f'is not JSON; check whether the API answers at {NOVA}/servers'
               in error for error in found.values())


def test_a_list_of_servers_that_is_not_json_is_refused_by_the_client(start):
    cloud = start('a')
    cloud.mock.get(f'{NOVA}/servers/detail', text='<html>')
    with pytest.raises(errors.Refused, match=f'is not JSON.*{NOVA}/servers'):
        boot(cloud)
    assert not cloud.creates


@pytest.mark.parametrize('status', [429, 502, 503])
def test_a_create_is_repeated_if_nova_was_unavailable(start, status):
    cloud = start('a')
    cloud.refusals = [(status, fault('later'))]
    assert boot(cloud) == {'a': ''}
    assert (len(cloud.creates), len(cloud.servers)) == (2, 1)


@pytest.mark.parametrize('header, least', [('1', 1), (None, 0), ('soon', 0)])
def test_a_create_is_repeated_when_nova_expects_it(start, header, least):
    cloud = start('a')
    cloud.refusals = [(429, fault('too many requests'))]
    cloud.headers = {} if header is None else {'Retry-After': header}
    begin = time.monotonic()
    assert boot(cloud) == {'a': ''}
    assert least <= time.monotonic() - begin < least + 1


def test_the_last_refusal_is_reported_without_a_pause(start):
    cloud, begin = start('a'), time.monotonic()
    cloud.refusals = [(429, fault('too many requests'))]
    cloud.headers = {'Retry-After': '60'}
    assert boot(cloud, retries=0) == {'a': 'too many requests'}
    assert time.monotonic() - begin < 5


def test_a_create_is_repeated_at_most_as_often_as_requested(start):
    cloud = start('a')
    cloud.refusals = [(503, fault('later'))] * 9
    assert boot(cloud, retries=3) == {'a': 'later'}
    assert len(cloud.creates) == 4


@pytest.mark.parametrize('status', [400, 403, 404, 409])
def test_a_refused_create_is_not_repeated(start, status):
    cloud = start('a', 'b')
    cloud.refusals = [(status, fault('no such image'))]
    found = boot(cloud, parallel=1)
    assert found == {'a': 'no such image', 'b': ''}
    assert len(cloud.creates) == 2


def test_an_unknown_flavor_is_reported(start):
    cloud = start('a')
    cloud.members['members'][0]['flavor'] = 'huge'
    assert boot(cloud) == {'a': 'there is no flavor huge'}


def test_a_failed_server_is_deleted_and_created_again(start):
    cloud = start('a')
    cloud.builds = ['ERROR', 'ERROR']
    assert boot(cloud, retries=2) == {'a': ''}
    assert (len(cloud.creates), len(cloud.deleted)) == (3, 2)
    assert len(cloud.servers) == 1


def test_the_last_failed_server_remains(start):
    cloud = start('a')
    cloud.builds = ['ERROR'] * 3
    assert boot(cloud, retries=1) == {'a': 'out of order'}
    assert (len(cloud.creates), len(cloud.servers)) == (2, 1)


def test_a_failed_server_of_an_earlier_command_does_not_count_as_an_attempt(
        start):
    cloud = start('a')
    cloud.add('a', 'ERROR')
    cloud.builds = ['ERROR']
    assert boot(cloud, retries=1) == {'a': ''}
    assert (len(cloud.creates), len(cloud.deleted)) == (2, 2)


WAS_ACTIVE = {'OS-SRV-USG:launched_at': '2030-01-01T12:00:00.000000'}


def test_a_server_that_was_active_is_not_deleted(start):
    """For example, an evacuation has set it to ERROR."""
    cloud = start('a', 'b')
    used = cloud.add('a', 'ERROR', **WAS_ACTIVE)
    assert boot(cloud, retries=1) == {
        'a': f'server {used} is in ERROR, but was active before: repair or '
             'delete it', 'b': ''}
    assert (cloud.deleted, used in cloud.servers) == ([], True)


def test_a_detached_server_that_was_active_is_not_deleted(start):
    """It still has the tag and the metadata of the group."""
    cloud = start('a', 'b')
    beside = cloud.add('a', 'ERROR', claimed=False, **WAS_ACTIVE)
    alone = cloud.add('b', 'ERROR', claimed=False, **WAS_ACTIVE)
    cloud.add('a')
    assert boot(cloud) == {'a': '', 'b': ''}
    assert cloud.deleted == [] and {beside, alone} < cloud.servers.keys()
    assert len(servers_of(cloud, 'b')) == 2


def test_the_second_server_of_a_member_is_deleted_after_it_failed(start):
    cloud = start('a')
    second = cloud.add('a', 'ERROR', claimed=False)
    first = cloud.add('a')
    assert boot(cloud) == {'a': ''}
    assert (cloud.deleted, list(cloud.servers)) == ([second], [first])


def test_a_server_without_a_claim_precedes_a_failed_one(start):
    cloud = start('a')
    failed = cloud.add('a', 'ERROR', claimed=False)
    building = cloud.add('a', 'ACTIVE', claimed=False)
    assert boot(cloud) == {'a': ''}
    assert (cloud.deleted, list(cloud.servers)) == ([failed], [building])


def test_a_lost_member_is_awaited(start):
    cloud = start('a')
    cloud.states['a'] = 'lost'
    timer = threading.Timer(0.2, cloud.states.update, [{'a': 'planned'}])
    timer.start()
    assert boot(cloud) == {'a': ''}
    timer.join()


def test_a_member_that_stays_lost_is_reported(start):
    cloud = start('a')
    cloud.states['a'] = 'lost'
    assert boot(cloud, timeout=0.1) == {
        'a': 'the member is lost, so that no place is held for a server'}
    assert not cloud.creates


def test_a_server_that_is_not_built_in_time_is_reported(start):
    cloud = start('a')
    cloud.builds = ['BUILD']
    assert boot(cloud, timeout=0.1) == {
        'a': 'the server is not active after 0.1 s'}
    assert len(cloud.servers) == 1


def test_released_members_get_no_server(start):
    cloud = start('a', 'b')
    cloud.states['a'] = 'released'
    assert boot(cloud) == {'b': ''}


def test_the_boot_waits_for_a_group_api_that_is_unavailable(start):
    cloud = start('a')
    cloud.builds = ['ERROR']
    steps = []

    def report(member, state):
        steps.append(state)
        if state == 'deleting':
            cloud.unanswered = 2
    assert boot(cloud, report) == {'a': ''}
    assert 'deleting' in steps and cloud.unanswered == 0


def test_members_without_a_request_stop_the_boot_before_any_create(start):
    cloud = start('a', 'b')
    del cloud.members['members'][1]['server']
    with pytest.raises(NotBooted, match='these members: b'):
        boot(cloud)
    assert not cloud.creates


def test_an_interrupted_boot_begins_no_further_server(start):
    cloud = start(*'abcdefgh')

    def report(member, state):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        boot(cloud, report)
    assert len(cloud.creates) <= 2


def test_a_rollback_deletes_the_servers_and_then_the_group(start):
    cloud = start('a', 'b')
    boot(cloud)
    other = cloud.add('a', claimed=False)
    cloud.servers[other]['metadata'] = {}
    assert Rollback(cloud.groups, cloud.compute, 2, 5).roll_back(GROUP) == 2
    assert list(cloud.servers) == [other]
    assert cloud.group_requests[-1] == ('DELETE', f'/groups/{GROUP}')
    assert ('POST', f'/groups/{GROUP}/release') in cloud.group_requests


def test_a_rollback_that_does_not_end_keeps_the_group(start, monkeypatch):
    cloud = start('a')
    boot(cloud)
    monkeypatch.setattr(cloud.compute, 'delete', lambda uuid: None)
    with pytest.raises(errors.TimedOut, match='1 servers are not deleted'):
        Rollback(cloud.groups, cloud.compute, 2, 0.1).roll_back(GROUP)
    assert ('DELETE', f'/groups/{GROUP}') not in cloud.group_requests

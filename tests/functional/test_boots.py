# SPDX-License-Identifier: Apache-2.0
"""An engine creates the servers of a group, on a real Nova."""

import threading

from nova import exception
from oslo_utils import timeutils
import pytest

from nova_holistic.boot.errors import RightUnavailable, TooManyRequests
from nova_holistic.boot.user_servers import UserServers
from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.waiting import wait_for
from nova_holistic.engine.errors import OwnershipLost
from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.messaging import errors
from nova_holistic.table.history.pages import Page
from nova_holistic.table.records import MemberState
from tests.functional.boots import Boots, boots, document, running

__all__ = ('boots', 'running')
"""Fixtures."""


class Killed(BaseException):
    """The engine is killed at this moment."""


class Interrupted(UserServers):
    """Calls a function after Nova has accepted a create request.

    :ivar after: called with the UUID of each server
    """

    def __init__(self, nova, after):
        super().__init__(nova)
        self.after = after

    def create(self, body):
        server = super().create(body)
        self.after(server)
        return server


def interrupt(boots, after):
    boots.rights.servers = Interrupted(boots.cloud.compute_for(), after)


def heal(boots):
    boots.rights.servers = UserServers(boots.cloud.compute_for())


def broken(cloud, monkeypatch, builds=10**6):
    """The next builds fail, on any host; returns a function that counts
    them."""
    left, lock = [builds], threading.Lock()

    for service in cloud.computes.services.values():
        driver = service.manager.driver

        def spawn(*args, driver=driver, spawn=driver.spawn, **kwargs):
            with lock:
                left[0] -= 1
                fails = left[0] >= 0
            if fails:
                raise exception.BuildAbortException(
                    instance_uuid='x', reason='out of order')
            return spawn(*args, **kwargs)

        monkeypatch.setattr(driver, 'spawn', spawn)
    return lambda: builds - left[0]


def test_each_member_gets_its_server(cloud, boots):
    group = boots.ask()
    assert boots.run(group)
    assert boots.status(group) == 'complete'
    assert boots.rights.ended == 1
    shown = {each['id']: each for each in cloud.servers()}
    for path, row in boots.servers(group).items():
        server = shown.pop(row.server_uuid)
        assert (server['name'], server['status']) == (
            f'shop-{path}', 'ACTIVE')
        assert (server['tenant_id'], server['user_id']) == (PROJECT, USER)
        member = cloud.row(group, path)
        assert member.instance_uuid == row.server_uuid
        assert (row.tries, row.fault) == (1, None)
        assert server['OS-EXT-SRV-ATTR:host'] == member.place.host
    assert shown == {}
    boot = cloud.table.boots.get(group)
    assert (boot.open, boot.credential, boot.engine) == (False, None, None)
    # A closed boot is not taken again.
    assert boots.take(group) is None


def test_no_more_servers_are_created_at_once_than_configured(cloud, boots):
    """A server counts until it is active."""
    together = []

    def count(server):
        cloud.wait_for_status(server, 'ACTIVE')
        together.append([*boots.states(group).values()].count('creating'))

    cloud.conf.set_override('parallel', 2, group='boot')
    try:
        interrupt(boots, count)
        group = boots.ask(wanted=document(5))
        assert boots.run(group)
    finally:
        cloud.conf.clear_override('parallel', group='boot')
    assert boots.status(group) == 'complete'
    assert len(together) == 5
    assert max(together) <= 2


def test_a_failed_server_is_created_again_at_its_place(
        cloud, boots, monkeypatch):
    builds = broken(cloud, monkeypatch, 1)
    group = boots.ask(retries=1, wanted=document(1))
    assert boots.run(group)
    assert boots.status(group) == 'complete'
    assert builds() == 2
    (row,) = boots.servers(group).values()
    assert (row.tries, row.fault) == (2, None)
    (server,) = cloud.servers()
    assert server['id'] == row.server_uuid == cloud.row(
        group, 'web-0').instance_uuid


def test_the_last_failure_is_reported_and_its_server_remains(
        cloud, boots, monkeypatch):
    broken(cloud, monkeypatch)
    group = boots.ask(retries=1, wanted=document(1))
    assert boots.run(group)
    assert boots.status(group) == 'failed'
    (row,) = boots.servers(group).values()
    assert row.tries == 2
    (reason,) = cloud.table.boots.get(group).reasons
    assert reason == {'at': 'web-0', 'message': row.fault}
    assert row.fault
    (server,) = cloud.servers()
    assert (server['id'], server['status']) == (row.server_uuid, 'ERROR')
    assert boots.rights.ended == 1


def test_a_refused_request_is_not_repeated(cloud, boots):
    group = boots.ask(retries=3, wanted=document(1, key_name='none'))
    assert boots.run(group)
    (row,) = boots.servers(group).values()
    assert (str(row.state), row.tries, row.server_uuid) == ('failed', 1, None)
    assert 'key_name' in row.fault
    assert cloud.servers() == []


def test_an_unknown_flavor_is_reported(cloud, boots):
    wanted = document(1)
    member = wanted['members'][0]
    del member['flavor']
    member['resources'] = {'VCPU': 2, 'MEMORY_MB': 512, 'DISK_GB': 1}
    member['server']['flavorRef'] = 'none'
    group = boots.ask(wanted=wanted)
    assert boots.run(group)
    (row,) = boots.servers(group).values()
    assert 'no flavor none' in row.fault


def test_a_rollback_deletes_all_servers_and_releases_the_group(
        cloud, boots):
    wanted = document(2)
    wanted['members'].append({
        'name': 'x', 'flavor': 'small', 'server': {
            **wanted['members'][0]['server'], 'key_name': 'none'}})
    group = boots.ask(rollback=True, wanted=wanted)
    assert boots.run(group)
    assert boots.status(group) == 'rolled-back'
    states = boots.states(group)
    assert states.pop('x') == 'failed'
    assert set(states.values()) <= {'deleted', 'waiting'}
    assert cloud.servers() == []
    # If a server was deleted before Nova had created it in a cell, its place
    # is released after the grace period.
    cloud.conf.set_override('grace', 0, group='reconciler')

    def released():
        cloud.reconciler.reconcile()
        return {row.state for row in cloud.table.members(group)} == {
            MemberState.RELEASED} or None

    wait_for(released, 'the places to be released')
    assert cloud.table.get_group(group).status == 'released'
    assert boots.rights.ended == 1


@pytest.mark.parametrize('number', [1, 2])
def test_another_engine_finds_the_server_that_no_row_names(
        cloud, boots, number):
    """The engine is killed after Nova has accepted a request."""
    created = []

    def end(server):
        created.append(server)
        if len(created) == number:
            raise Killed

    cloud.conf.set_override('parallel', 1, group='boot')
    try:
        interrupt(boots, end)
        group = boots.ask()
        with pytest.raises(Killed):
            boots.run(group)
    finally:
        cloud.conf.clear_override('parallel', group='boot')
    heal(boots)
    assert boots.run(group, 'another')
    assert boots.status(group) == 'complete'
    assert {each['id'] for each in cloud.servers()} == {
        row.server_uuid for row in boots.servers(group).values()}
    assert len(cloud.servers()) == 2
    assert {row.tries for row in boots.servers(group).values()} == {1}


def test_an_engine_that_ended_before_the_request_is_replaced(cloud, boots):
    group = boots.ask(wanted=document(1))

    class Ending(UserServers):
        def create(self, body):
            raise Killed

    boots.rights.servers = Ending(cloud.compute_for())
    with pytest.raises(Killed):
        boots.run(group)
    assert boots.states(group) == {'web-0': 'creating'}
    heal(boots)
    assert boots.run(group, 'another')
    (row,) = boots.servers(group).values()
    assert (row.tries, len(cloud.servers())) == (1, 1)


def test_an_answer_that_is_lost_creates_no_second_server(cloud, boots):
    def lose(server):
        raise ServiceFailed('nova', '/servers', 'connection reset')

    interrupt(boots, lose)
    group = boots.ask(wanted=document(1))
    assert boots.run(group)
    assert boots.status(group) == 'complete'
    (server,) = cloud.servers()
    assert boots.servers(group)['web-0'].server_uuid == server['id']


class Overloaded(UserServers):
    """A service limits the rate of requests.

    :ivar refused: UUIDs of the members whose next create is refused
    """

    refused = ('web-0', 'web-1', 'web-0')

    def create(self, body):
        member = body['os:scheduler_hints']['holistic_member']
        if member in self.refused:
            refused = list(self.refused)
            refused.remove(member)
            self.refused = tuple(refused)
            raise TooManyRequests('nova', '/servers', 'later', 'POST')
        return super().create(body)


@pytest.mark.parametrize('rollback', [False, True])
def test_too_many_requests_do_not_count_as_attempts(cloud, boots, rollback):
    group = boots.ask(rollback=rollback, retries=0)
    boots.rights.servers = Overloaded(cloud.compute_for())
    workers = boots.workers()
    for _ in range(3):
        attempt(workers)
    workers.stop()
    assert boots.status(group) == 'complete'
    assert {row.tries for row in boots.servers(group).values()} == {1}
    assert len(cloud.servers()) == 2


def test_an_engine_that_lost_its_boot_deletes_its_surplus_server(
        cloud, boots):
    """Another engine has created the server in the meantime."""
    group = boots.ask(wanted=document(1))
    own, other = [], Boots(cloud)

    def lose(server):
        own.append(server)
        cloud.wait_for_status(server, 'ACTIVE')
        cloud.compute.delete(f'/servers/{server}')
        cloud.wait_until_gone(server)
        cloud.reconciler.check_servers([server])
        assert other.run(group, 'another')

    interrupt(boots, lose)
    deleted = []
    boots.rights.servers.delete = deleted.append
    with pytest.raises(OwnershipLost):
        boots.run(group)
    assert deleted == own
    (server,) = cloud.servers()
    assert boots.servers(group)['web-0'].server_uuid == server['id']


def test_a_server_of_the_user_is_taken_and_survives_a_rollback(cloud, boots):
    wanted = document(1)
    wanted['members'].append({
        'name': 'x', 'flavor': 'small', 'server': {
            **wanted['members'][0]['server'], 'key_name': 'none'}})
    group = boots.ask(rollback=True, wanted=wanted)
    server = cloud.create_server(
        'mine', 'small', {'group': group, 'member': 'web-0'})
    cloud.wait_for_status(server, 'ACTIVE')
    cloud.conf.set_override('parallel', 1, group='boot')
    try:
        assert boots.run(group)
    finally:
        cloud.conf.clear_override('parallel', group='boot')
    assert boots.status(group) == 'rolled-back'
    assert [each['id'] for each in cloud.servers()] == [server]


def test_a_server_that_the_user_creates_after_a_failure_survives(
        cloud, boots, monkeypatch):
    """The engine takes this server, although it has made two attempts."""
    broken(cloud, monkeypatch, 1)
    wanted = document(1)
    wanted['members'].append({
        'name': 'x', 'flavor': 'small', 'server': {
            **wanted['members'][0]['server'], 'key_name': 'none'}})
    group = boots.ask(rollback=True, retries=2, wanted=wanted)
    mine = []

    class SecondAttempt(UserServers):
        """The user is faster than the second attempt."""

        def create(self, body):
            if boots.servers(group)['web-0'].tries < 2 or (
                    body['server']['name'] != 'shop-web-0'):
                return super().create(body)
            mine.append(cloud.create_server(
                'mine', 'small', {'group': group, 'member': 'web-0'}))
            cloud.wait_for_status(mine[0], 'ACTIVE')
            raise ServiceFailed('nova', '/servers', 'no answer')

    boots.rights.servers = SecondAttempt(cloud.compute_for())
    cloud.conf.set_override('parallel', 1, group='boot')
    try:
        assert boots.run(group)
    finally:
        cloud.conf.clear_override('parallel', group='boot')
    assert boots.status(group) == 'rolled-back'
    assert len(mine) == 1
    assert [each['id'] for each in cloud.servers()] == mine


def test_an_engine_that_stops_leaves_the_rest_to_others(cloud, boots):
    group = boots.ask()
    boots.stopping.set()
    assert not boots.run(group)
    assert boots.status(group) == 'creating'
    boots.stopping.clear()
    cloud.table.boots.return_work('engine')
    assert boots.run(group, 'another')
    assert boots.status(group) == 'complete'
    assert len(cloud.servers()) == 2


def test_a_delete_of_the_group_stops_the_creation(
        cloud, boots, monkeypatch):
    group = boots.ask()
    seen = []

    def look(seconds):
        if not seen:
            seen.append(boots.run(group))

    monkeypatch.setattr(cloud.lifecycle, '_sleep', look)
    cloud.lifecycle.delete(group)
    assert seen == [True]
    assert cloud.table.get_group(group) is None
    assert cloud.table.boots.get(group) is None
    assert (cloud.servers(), boots.rights.ended) == ([], 1)


def test_a_delete_does_not_wait_forever_for_an_engine(
        cloud, boots, monkeypatch):
    group = boots.ask()
    boots.take(group)
    monkeypatch.setattr(cloud.lifecycle, '_sleep', lambda seconds: None)
    with pytest.raises(errors.GroupBusy, match='creating servers'):
        cloud.lifecycle.delete(group)
    assert boots.run(group, 'another')
    assert boots.status(group) == 'stopped'
    cloud.lifecycle.delete(group)


def test_a_right_that_has_ended_is_reported(cloud, boots):
    class Ended(UserServers):
        def create(self, body):
            raise RightUnavailable('HTTP 401')

    boots.rights.servers = Ended(cloud.compute_for())
    group = boots.ask()
    assert boots.run(group)
    assert boots.status(group) == 'failed'
    assert set(boots.states(group).values()) == {'failed'}
    (reason,) = cloud.table.boots.get(group).reasons
    assert 'no longer act for the user' in reason['message']
    assert cloud.table.boots.get(group).credential is None


def attempt(workers):
    """Let an engine try once to carry out the boot."""
    workers.pick_up()
    wait_for(lambda: None if workers._pending else True,
             'the end of the attempt')
    workers.send_heartbeats()


class Confusing(UserServers):
    """Cannot process the answers of Nova."""

    def create(self, body):
        raise ZeroDivisionError


@pytest.mark.parametrize('lost', [False, True])
def test_a_boot_that_fails_in_each_attempt_is_given_up(
        cloud, boots, monkeypatch, lost):
    """The engine cannot use the right of the user, or the answers of Nova.
    """
    group = boots.ask()
    boots.rights.servers = Confusing(cloud.compute_for())
    if lost:
        monkeypatch.setattr(boots.rights, 'open', lambda record: 1 / 0)
    workers, attempts = boots.workers(), cloud.conf.engine.attempts
    for _ in range(attempts + 1):
        assert str(cloud.table.boots.get(group).status) != 'failed'
        attempt(workers)
    workers.stop()
    record = cloud.table.boots.get(group)
    assert str(record.status) == 'failed'
    assert f'{attempts} attempts' in record.reasons[0]['message']
    assert (record.open, record.credential) == (False, None)
    assert set(boots.states(group).values()) <= {'failed'}
    assert cloud.table.boots.waiting(timeutils.utcnow(), 9) == ()
    assert (cloud.servers(), boots.rights.ended) == ([], 0 if lost else 1)


class PartlyConfusing(UserServers):
    """Cannot process the answers of Nova about one member.

    :ivar broken: whether it cannot delete servers either
    """

    broken = False

    def create(self, body):
        if body['os:scheduler_hints']['holistic_member'] == 'web-1':
            raise ZeroDivisionError
        return super().create(body)

    def delete(self, uuid):
        if self.broken:
            raise ZeroDivisionError
        return super().delete(uuid)


@pytest.mark.parametrize('broken', [False, True])
def test_a_boot_with_rollback_that_fails_in_each_attempt_is_rolled_back(
        cloud, boots, broken):
    group = boots.ask(rollback=True)
    boots.rights.servers = PartlyConfusing(cloud.compute_for())
    boots.rights.servers.broken = broken
    workers, attempts = boots.workers(), cloud.conf.engine.attempts
    for _ in range(2 * attempts + 1 if broken else attempts + 1):
        assert cloud.table.boots.get(group).open
        attempt(workers)
    workers.stop()
    record = cloud.table.boots.get(group)
    assert (record.open, boots.rights.ended) == (False, 1)
    messages = [reason['message'] for reason in record.reasons]
    assert f'{attempts} attempts' in messages[0]
    if broken:
        assert str(record.status) == 'failed'
        assert 'the rollback is not complete' in messages[-1]
        assert len(cloud.servers()) == 1
    else:
        assert str(record.status) == 'rolled-back'
        assert sorted(boots.states(group).values()) == ['deleted', 'failed']
        assert cloud.servers() == [] and cloud.used() == {}
        assert MemberState.PLANNED not in {
            row.state for row in cloud.table.members(group)}


def test_an_unplaceable_group_gets_no_servers(cloud, boots):
    group = boots.ask(wanted=document(50))
    assert cloud.table.get_group(group).status == 'unplaceable'
    assert boots.run(group)
    assert boots.status(group) == 'failed'
    assert cloud.table.boots.get(group).reasons == (
        {'at': '', 'message': 'the group is unplaceable'},)


def test_each_step_is_in_the_history(cloud, boots):
    group = boots.ask(wanted=document(1))
    assert boots.run(group)
    events = cloud.table.history.read(Page(group, 100))
    assert [(str(each.kind), each.from_state, each.to_state)
            for each in events if str(each.kind).startswith('boot.')] == [
        ('boot.status', 'waiting', 'creating'),
        ('boot.server', 'waiting', 'creating'),
        ('boot.server', 'creating', 'active'),
        ('boot.status', 'creating', 'complete')]

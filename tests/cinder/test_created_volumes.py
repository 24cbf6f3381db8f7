# SPDX-License-Identifier: Apache-2.0
"""An engine creates the volumes of a group at plan time, in a real Cinder."""

from concurrent import futures
from dataclasses import replace
from datetime import timedelta
import threading

from cinder.tests.unit import fake_constants
from cinder.volume.api import API
from keystoneauth1.adapter import Adapter
from keystoneauth1 import exceptions
import pytest
import requests

from nova_holistic.boot import user_volumes
from nova_holistic.boot.volume_creator import LONGEST_DELAY, REPEATED
from nova_holistic.boot.volume_round import NO_ANSWER, NO_CLAIM, NO_RIGHT
from nova_holistic.boot.volume_steps import REPEAT_AFTER
from nova_holistic import crash_points
from nova_holistic.inventory.errors import ServiceFailed
from tests.cinder.planned_cinder import PlannedCinder
from tests.cinder.pool_driver import broken_pools, PoolDriver
from tests.cinder.test_planned_volumes import stock_driver
from tests.cinder.test_pools import NVME, THICK, THIN
from tests.cinder.volume_engine import (
    database, PROJECT, SERVICE_PROJECT, VolumeEngine)
from tests.tables import new_table

LOCAL = {'volume_type': 'local', 'location': 'r1'}


@pytest.fixture(scope='module')
def running(tmp_path_factory):
    found = PlannedCinder(new_table(tmp_path_factory.mktemp('table')))
    found.setUp()
    found.volume_type('local', pool_name='nvme')
    found.volume_type('array', volume_backend_name='test',
                      pool_name='<or> thin <or> thick')
    found.report_all()
    yield found
    found.doCleanups()


@pytest.fixture
def cinder(running):
    yield running
    broken_pools.clear()
    running.delete_all()


@pytest.fixture
def engine(cinder, tmp_path):
    found = VolumeEngine(cinder, tmp_path)
    yield found
    # No group is left, so the engine deletes what it has created.
    found.clear()


def sizes(cinder):
    """GiB of the volumes in each pool, as the storage has them."""
    found = {}
    for service in cinder.volumes:
        for pool, volumes in service.manager.driver.sizes.items():
            if volumes:
                name = f'{service.manager.host}#{pool}'
                found[name] = sum(volumes.values())
    return found


def test_volumes_are_created_in_their_planned_pools(cinder, engine):
    group = engine.plan(database(40, **LOCAL))
    planned = {row.path: row.pool
               for row in cinder.table.volumes.of_group(group)}
    assert planned == {'data-0': NVME, 'data-1': NVME}
    engine.finish(group)
    assert engine.pools(group) == planned
    assert engine.states(group) == {
        'data-0': 'available', 'data-1': 'available'}
    # The storage has them, independently of the schedulers.
    assert sizes(cinder) == {NVME: 80}
    cinder.wait_for_states(group, 'built', 'built')
    assert engine.rights.ended == 1
    assert cinder.table.volumes.creations.get(group).credential is None


def test_the_volumes_belong_to_the_user(cinder, engine):
    group = engine.plan(database())
    engine.finish(group)
    for path, row in engine.volumes(group).items():
        volume = cinder.api.get_volume(row.volume_uuid)
        assert (volume['name'], volume['size']) == (f'db-{path}', 10)
        assert volume['os-vol-tenant-attr:tenant_id'] == PROJECT
        assert volume['user_id'] == 'u'
    assert PROJECT != SERVICE_PROJECT


def test_the_capacity_is_used_without_the_driver(
        cinder, engine, monkeypatch):
    """A scheduler that does not cooperate respects created volumes only."""
    group = engine.plan(database(40, **LOCAL))
    engine.finish(group)
    cinder.report_all()
    monkeypatch.setattr(cinder.scheduler.manager, 'driver', stock_driver(
        cinder.driver))
    with monkeypatch.context() as patch:
        patch.setattr('nova_holistic.cinder.filters.HolisticPoolFilter.'
                      'filter_all', lambda self, states, _: iter(states))
        assert cinder.create(11, volume_type='local')['status'] == 'error'
        assert cinder.create(10, volume_type='local')['status'] == 'available'


def test_a_pool_that_fails_is_replaced_by_another(cinder, engine):
    group = engine.plan(database(40, volume_type='array'))
    planned = cinder.table.volumes.placed(group)
    broken_pools.update(name.partition('#')[2] for name in planned.values())
    other = {THIN, THICK}.difference(planned.values())
    assert len(other) == 1
    engine.finish(group)
    assert set(engine.pools(group).values()) == other
    assert sizes(cinder) == {other.pop(): 80}
    cinder.wait_for_states(group, 'built', 'built')


def test_attempts_are_limited(cinder, engine):
    broken_pools.update(('thick', 'thin', 'nvme', 'rbd'))
    group = engine.plan(database())
    engine.finish(group, 'failed')
    for row in engine.volumes(group).values():
        assert (str(row.state), row.tries) == ('failed', 3)
        assert 'failed to create' in row.fault
        assert row.volume_uuid is None
    assert engine.pools(group) == {} == sizes(cinder)
    # The members are planned: their user may create the volumes.
    assert {str(state) for state, _ in cinder.rows(group).values()} == {
        'planned'}


def test_a_release_deletes_volumes_that_were_never_used(cinder, engine):
    group = engine.plan(database(40, **LOCAL))
    engine.finish(group)
    engine.lifecycle.release(group)
    engine.work(lambda: engine.status(group) is None)
    assert engine.pools(group) == {} == sizes(cinder)
    assert {str(state) for state, _ in cinder.rows(group).values()} == {
        'released'}
    assert engine.plan(database(45, **LOCAL))


def test_the_release_of_one_member_deletes_its_volume(cinder, engine):
    group = engine.plan(database())
    engine.finish(group)
    engine.lifecycle.release(group, ['data-0'])
    engine.work(lambda: 'data-0' not in engine.pools(group))
    engine.finish(group)
    assert engine.states(group) == {
        'data-0': 'ended', 'data-1': 'available'}


def test_the_end_of_the_lease_deletes_volumes(cinder, engine):
    group = engine.plan(database(), lease=600)
    engine.finish(group)
    engine.passed += REPEAT_AFTER * 11
    engine.work(lambda: engine.status(group) is None)
    assert engine.pools(group) == {}


def test_the_deletion_of_a_group_deletes_volumes(cinder, engine):
    group = engine.plan(database())
    engine.finish(group)
    engine.lifecycle.delete(group)
    engine.work(lambda: engine.status(group) is None)
    assert engine.pools(group) == {}


def attach(cinder, volume):
    return cinder.api.api_post('/attachments', {'attachment': {
        'instance_uuid': '11111111-1111-4111-8111-111111111111',
        'volume_uuid': volume}})['attachment']['id']


@pytest.mark.parametrize('detached', [False, True])
def test_a_volume_that_was_attached_is_never_deleted(
        cinder, engine, detached):
    group = engine.plan(database())
    engine.finish(group)
    used = engine.volumes(group)['data-0'].volume_uuid
    attachment = attach(cinder, used)
    if detached:
        cinder.api.api_delete(f'/attachments/{attachment}')
        assert cinder.wait_for(used, ['available'])
    engine.lifecycle.delete(group)
    engine.work(lambda: engine.status(group) is None)
    assert engine.pools(group).keys() == {'data-0'}
    if not detached:
        cinder.api.api_delete(f'/attachments/{attachment}')


def test_a_volume_that_is_completed_after_the_timeout_is_never_deleted(
        cinder, engine, monkeypatch):
    """Its user may have used it since then."""
    get = engine.admin.get

    def slow(volume):
        found = get(volume)
        return found and replace(found, status='creating')

    with monkeypatch.context() as patch:
        patch.setattr(engine.admin, 'get', slow)
        group = engine.plan(database())
        engine.work(lambda: all(
            row.volume_uuid for row in engine.volumes(group).values()))
        engine.passed += timedelta(seconds=engine.conf.boot.build_timeout)
        engine.finish(group, 'failed')
    engine.lifecycle.delete(group)
    engine.work(lambda: engine.status(group) is None)
    assert engine.pools(group).keys() == {'data-0', 'data-1'}


@pytest.mark.parametrize('path, body', [
    ('', {'volume': {'name': 'mine'}}),
    ('/metadata', {'metadata': {'use': 'orders'}})], ids=['name', 'property'])
def test_a_volume_that_its_user_changes_is_never_deleted(
        cinder, engine, path, body):
    group = engine.plan(database())
    engine.finish(group)
    kept = engine.volumes(group)['data-1'].volume_uuid
    send = cinder.api.api_post if path else cinder.api.api_put
    send(f'/volumes/{kept}{path}', body, check_response_status=[200])
    engine.lifecycle.release(group)
    engine.work(lambda: engine.status(group) is None)
    assert engine.pools(group).keys() == {'data-1'}


def test_properties_that_the_storage_sets_are_not_changes(
        cinder, engine, monkeypatch):
    create = PoolDriver.create_volume

    def with_property(driver, volume):
        create(driver, volume)
        return {'metadata': {**volume.metadata, 'DeviceID': '00A1'}}

    monkeypatch.setattr(PoolDriver, 'create_volume', with_property)
    group = engine.plan(database())
    engine.finish(group)
    assert {volume['metadata']['DeviceID']
            for volume in cinder.all_volumes()} == {'00A1'}
    engine.lifecycle.release(group)
    engine.work(lambda: engine.status(group) is None)
    assert engine.pools(group) == {} == sizes(cinder)


def test_a_volume_that_its_user_deletes_is_not_created_again(cinder, engine):
    group = engine.plan(database())
    engine.finish(group)
    cinder.delete(engine.volumes(group)['data-0'].volume_uuid)
    engine.work(lambda: engine.states(group)['data-0'] == 'ended')
    cinder.wait_for_states(group, 'planned', 'built')
    assert engine.pools(group).keys() == {'data-1'}


class Killed(BaseException):
    """The engine is killed."""


@pytest.mark.parametrize('ends', ['created', 'released', 'deleted'])
def test_no_crash_leaks_or_doubles_a_volume(
        cinder, engine, tmp_path, monkeypatch, ends):
    """An engine is killed at each of its writes and requests in turn, and
    another engine continues."""
    kills = 0
    for number in range(99):
        group = engine.plan(database(20, count=1, **LOCAL))
        with monkeypatch.context() as patch:
            patch.setattr(crash_points, 'reached', kill_at(number))
            killed = crashes(lambda: goes_to(engine, group, ends))
        kills += killed
        # Requests of the killed engine have no effect any longer.
        engine.passed += 2 * REPEAT_AFTER
        goes_to(engine, group, ends)
        if ends == 'created':
            assert engine.pools(group) == {'data-0': NVME}
            assert sizes(cinder) == {NVME: 20}
            engine.lifecycle.delete(group)
            engine.work(lambda: engine.status(group) is None)
        assert engine.pools(group) == {} == sizes(cinder)
        if not killed:
            break
        cinder.report_all()
    assert kills >= 4


def test_an_engine_waits_for_a_deletion_that_a_killed_engine_has_requested(
        cinder, engine, monkeypatch):
    """The storage deletes the volume after the next engine has asked for it.
    """
    group = engine.plan(database(20, count=1, **LOCAL))
    engine.finish(group)
    deleted = threading.Event()
    delete = PoolDriver.delete_volume

    def wait(driver, volume):
        deleted.wait(60)
        delete(driver, volume)

    monkeypatch.setattr(PoolDriver, 'delete_volume', wait)
    engine.lifecycle.delete(group)
    with monkeypatch.context() as patch:
        patch.setattr(crash_points, 'reached', kill_after('volume.deleted'))
        assert crashes(lambda: engine.work(lambda: False))
    for _ in range(3):
        engine.passed += timedelta(seconds=10)
        engine.step()
    assert engine.states(group) == {'data-0': 'available'}
    assert engine.pools(group) == {'data-0': NVME}
    deleted.set()
    engine.work(lambda: engine.status(group) is None)
    assert engine.pools(group) == {} == sizes(cinder)


def kill_after(name):
    def reached(point):
        if point == name:
            raise Killed
    return reached


def goes_to(engine, group, ends):
    if ends == 'created' or engine.status(group) == 'creating' and (
            engine.table.get_group(group).status == 'planned'):
        engine.finish(group)
    if ends == 'released' and engine.table.get_group(
            group).status != 'released':
        engine.lifecycle.release(group)
    if ends == 'deleted' and engine.table.get_group(group) is not None:
        engine.lifecycle.delete(group)
    if ends != 'created':
        engine.work(lambda: engine.status(group) is None)


def kill_at(number):
    left = [number]

    def reached(name):
        if name.startswith('volume.') or name == 'boot.right-deleted':
            left[0] -= 1
            if left[0] < 0:
                raise Killed
    return reached


def crashes(action):
    try:
        action()
    except Killed:
        return True
    return False


def test_a_create_without_a_response_is_not_repeated(
        cinder, engine, monkeypatch):
    create = user_volumes.UserVolumes.create
    sent = []

    def no_answer(self, body):
        sent.append(create(self, body))
        raise ServiceFailed('cinder', '/volumes', 'no answer', 'POST')

    monkeypatch.setattr(user_volumes.UserVolumes, 'create', no_answer)
    group = engine.plan(database())
    engine.finish(group)
    assert sorted(sent) == sorted(
        row.volume_uuid for row in engine.volumes(group).values())
    assert len(cinder.all_volumes()) == len(sent) == 2


def test_a_create_that_cinder_did_not_receive_is_repeated(
        cinder, engine, monkeypatch):
    def unavailable(self, body):
        raise ServiceFailed('cinder', '/volumes', 'no connection', 'POST')

    group = engine.plan(database())
    with monkeypatch.context() as patch:
        patch.setattr(user_volumes.UserVolumes, 'create', unavailable)
        engine.step()
    assert set(engine.states(group).values()) == {'creating'}
    engine.passed += REPEAT_AFTER * 1.1
    engine.finish(group)
    assert len(engine.pools(group)) == 2
    assert {row.tries for row in engine.volumes(group).values()} == {2}


def test_a_cinder_that_never_answers_ends_the_creation(
        cinder, engine, monkeypatch):
    def unavailable(self, body):
        raise ServiceFailed('cinder', '/volumes', 'HTTP 500', 'POST')

    group = engine.plan(database())
    monkeypatch.setattr(user_volumes.UserVolumes, 'create', unavailable)
    for _ in range(4):
        engine.step()
        engine.passed += 2 * REPEAT_AFTER
    assert {(str(row.state), row.tries, row.fault)
            for row in engine.volumes(group).values()} == {
                ('failed', 3, NO_ANSWER)}


@pytest.fixture
def hidden(monkeypatch):
    """UUIDs of volumes for which Cinder's API returns status 500."""
    found, get = set(), API.get

    def fails(self, context, volume_id, *args, **options):
        if volume_id in found:
            raise RuntimeError('inconsistent rows')
        return get(self, context, volume_id, *args, **options)

    monkeypatch.setattr(API, 'get', fails)
    return found


def test_a_volume_with_errors_does_not_delay_the_others(
        cinder, engine, hidden):
    group = engine.plan(database())
    engine.work(lambda: engine.volumes(group)['data-0'].volume_uuid)
    hidden.add(engine.volumes(group)['data-0'].volume_uuid)
    engine.work(lambda: engine.states(group)['data-1'] == 'available')
    assert engine.states(group)['data-0'] == 'creating'
    assert engine.status(group) == 'creating'
    hidden.clear()
    engine.finish(group)
    assert engine.states(group) == {
        'data-0': 'available', 'data-1': 'available'}


def test_a_volume_with_errors_does_not_occupy_the_only_place(
        cinder, engine, hidden):
    engine.conf.set_override('parallel', 1, 'boot')
    group = engine.plan(database())
    engine.work(lambda: engine.volumes(group)['data-0'].volume_uuid)
    hidden.add(engine.volumes(group)['data-0'].volume_uuid)
    for _ in range(3):
        engine.step()
    assert engine.states(group)['data-1'] == 'waiting'
    engine.passed += timedelta(seconds=engine.conf.boot.build_timeout)
    engine.work(lambda: engine.states(group)['data-1'] == 'available')
    assert engine.states(group)['data-0'] == 'creating'
    hidden.clear()
    engine.finish(group)


def test_a_volume_with_errors_does_not_delay_deletions(
        cinder, engine, hidden):
    group = engine.plan(database())
    engine.finish(group)
    hidden.add(engine.volumes(group)['data-0'].volume_uuid)
    engine.lifecycle.release(group)
    engine.work(lambda: 'data-1' not in engine.pools(group))
    assert 'data-0' in engine.pools(group)
    assert engine.status(group) is not None
    hidden.clear()
    engine.work(lambda: engine.status(group) is None)
    assert engine.pools(group) == {}


def test_deletions_that_fail_are_repeated_at_growing_intervals(
        cinder, engine, monkeypatch):
    """Cinder's API responds with status 500 for hours. The intervals do not
    depend on the engine."""
    def fails(self, context, volume, *args, **options):
        raise RuntimeError('no messaging')

    group = engine.plan(database())
    engine.finish(group)
    creations, intervals = engine.table.volumes.creations, []
    with monkeypatch.context() as patch:
        patch.setattr(API, 'delete', fails)
        engine.lifecycle.delete(group)
        for _ in range(20):
            record = creations.get(group)
            engine.passed += max(
                timedelta(), record.due_at - engine.now()) + timedelta(
                    milliseconds=1)
            engine.step()
            record = creations.get(group)
            intervals.append(
                (record.due_at - record.updated_at).total_seconds())
    assert intervals[1:12] == [
        min(2 * before, LONGEST_DELAY) for before in intervals[:11]]
    assert intervals[-1] == LONGEST_DELAY
    assert len(engine.delayed) == 20
    assert {row.fault for row in engine.volumes(group).values()} == {REPEATED}
    assert engine.pools(group).keys() == {'data-0', 'data-1'}
    engine.passed += timedelta(seconds=LONGEST_DELAY)
    engine.work(lambda: engine.status(group) is None)
    assert engine.pools(group) == {}


def test_a_volume_that_the_storage_does_not_delete_is_not_forgotten(
        cinder, engine, monkeypatch):
    """An administrator resets its status when the fault has ended."""
    def fails(driver, volume):
        raise RuntimeError('the storage does not answer')

    group = engine.plan(database(20, count=1, **LOCAL))
    engine.finish(group)
    volume = engine.volumes(group)['data-0'].volume_uuid
    with monkeypatch.context() as patch:
        patch.setattr(PoolDriver, 'delete_volume', fails)
        engine.lifecycle.delete(group)
        engine.work(lambda: len(engine.delayed) > 2)
    assert 'error_deleting' in engine.delayed[-1]
    assert engine.volumes(group)['data-0'].volume_uuid == volume
    cinder.api.api_post(f'/volumes/{volume}/action', {
        'os-reset_status': {'status': 'error'}})
    engine.passed += timedelta(seconds=LONGEST_DELAY)
    engine.work(lambda: engine.status(group) is None)
    assert engine.pools(group) == {} == sizes(cinder)


def break_reads(patch, engine, group):
    """Let each read of the first volume of the group raise an error that the
    engine does not expect."""
    broken, get = engine.volumes(group)['data-0'].volume_uuid, engine.admin.get

    def fails(uuid):
        if uuid == broken:
            raise ZeroDivisionError
        return get(uuid)

    patch.setattr(engine.admin, 'get', fails)


def test_unexpected_errors_of_one_volume_end_its_creation(
        cinder, engine, monkeypatch):
    """The engine cannot process the answers of Cinder about this volume."""
    group = engine.plan(database())
    engine.work(lambda: engine.volumes(group)['data-0'].volume_uuid)
    with monkeypatch.context() as patch:
        break_reads(patch, engine, group)
        engine.finish(group, 'failed')
        states = engine.states(group)
    assert states == {'data-0': 'failed', 'data-1': 'available'}
    row = engine.volumes(group)['data-0']
    assert row.tries == engine.conf.boot.volume_tries
    assert 'unexpected error' in row.fault
    assert engine.rights.ended == 1


def test_unexpected_errors_of_one_volume_do_not_delay_deletions(
        cinder, engine, monkeypatch):
    group = engine.plan(database())
    engine.finish(group)
    with monkeypatch.context() as patch:
        break_reads(patch, engine, group)
        engine.lifecycle.release(group)
        engine.work(lambda: 'data-1' not in engine.pools(group))
        assert 'data-0' in engine.pools(group)
    engine.work(lambda: engine.status(group) is None)
    assert engine.pools(group) == {}


def without_token(self):
    raise exceptions.ConnectFailure('no route to keystone')


SEND = Adapter.request


def overloaded(self, path, method, **options):
    """Cinder, or a proxy in front of it, accepts no further volumes."""
    if method != 'POST':
        return SEND(self, path, method, **options)
    response = requests.Response()
    response.status_code = 429
    return response


@pytest.mark.parametrize('method, failing', [
    ('get_token', without_token), ('request', overloaded)])
def test_a_request_that_was_not_carried_out_is_no_attempt(
        cinder, engine, monkeypatch, method, failing):
    group = engine.plan(database())
    with monkeypatch.context() as patch:
        patch.setattr(Adapter, method, failing)
        for _ in range(4):
            engine.step()
            engine.passed += 2 * REPEAT_AFTER
        assert {(str(row.state), row.tries) for row
                in engine.volumes(group).values()} == {('creating', 0)}
    engine.finish(group)
    assert {row.tries for row in engine.volumes(group).values()} == {1}
    assert len(cinder.all_volumes()) == 2


def test_a_late_second_volume_of_one_attempt_is_deleted(cinder, engine):
    """Two engines have sent the same request."""
    group = engine.plan(database())
    send = engine.rights.volumes.create

    class Twice:
        @staticmethod
        def create(body):
            first = send(body)
            second = send(body)
            assert cinder.wait_for(second, ('error', 'available'))
            return first

    engine.rights.volumes = Twice
    engine.finish(group)
    engine.work(lambda: len(cinder.all_volumes()) == 2)
    assert {volume['status'] for volume in cinder.all_volumes()} == {
        'available'}


@pytest.fixture
def answered_twice(cinder, engine):
    """Cinder has executed a request late and its repetition, and has answered
    only the repetition. The fixture returns the UUIDs of the volumes."""
    send, found = engine.rights.volumes.create, []

    class Twice:
        @staticmethod
        def create(body):
            found[:] = []
            for _ in range(2):
                found.append(send(body))
                cinder.wait_for(found[-1], ('error', 'available'))
            return found[-1]

    engine.rights.volumes = Twice
    return found


def test_a_late_first_volume_of_one_attempt_becomes_the_member(
        cinder, engine, answered_twice):
    group = engine.plan(database(20, count=1, **LOCAL))
    engine.finish(group)
    first, _ = answered_twice
    engine.work(lambda: [volume['id'] for volume in cinder.all_volumes()]
                == [first])
    (row,) = engine.volumes(group).values()
    assert (str(row.state), row.volume_uuid, row.fault) == (
        'available', first, None)
    engine.lifecycle.release(group)
    engine.work(lambda: engine.status(group) is None)
    assert engine.pools(group) == {} == sizes(cinder)


def test_both_volumes_of_a_failed_attempt_are_deleted(
        cinder, engine, answered_twice):
    group = engine.plan(database(20, count=1, volume_type='array'))
    broken_pools.update(('thin', 'thick'))
    engine.finish(group, 'failed')
    assert cinder.all_volumes() == []


def test_ten_clients_at_once_get_what_the_pools_have(cinder, tmp_path):
    """Each client has an engine. The pool has capacity for four of the
    groups."""
    engines = [VolumeEngine(cinder, tmp_path / str(number), f'e{number}')
               for number in range(10)]
    for each in engines:
        each.alone = False

    def client(engine):
        group = engine.plan(database(10, **LOCAL))
        record = cinder.table.get_group(group)
        if record.status == 'planned':
            engine.work(lambda: engine.status(group) in (
                'complete', 'failed'), 240)
        return group, str(record.status)

    with futures.ThreadPoolExecutor(10) as clients:
        found = dict(clients.map(client, engines))
    planned = [group for group, status in found.items()
               if status == 'planned']
    assert len(planned) == 4
    for group in planned:
        assert engines[0].pools(group) == {'data-0': NVME, 'data-1': NVME}
    assert sizes(cinder) == {NVME: 80}
    assert len(cinder.all_volumes()) == 8
    for group in found:
        engines[0].lifecycle.delete(group)
    engines[0].clear()
    assert cinder.all_volumes() == [] and sizes(cinder) == {}


def test_a_boot_volume_is_created_from_its_image(cinder, engine):
    image = fake_constants.IMAGE_ID
    group = engine.plan({'name': 'web', 'members': [
        {'name': 'web', 'resources': {'VCPU': 1}, 'boot_volume': 'root'},
        {'name': 'root', 'kind': 'volume', 'size': 10, 'image': image,
         'create_at_plan_time': True}]})
    engine.finish(group)
    volume = cinder.api.get_volume(engine.volumes(group)['root'].volume_uuid)
    assert (volume['bootable'], volume['volume_image_metadata'][
        'image_id']) == ('true', image)


def test_without_the_driver_the_creation_fails(cinder, engine, monkeypatch):
    group = engine.plan(database())
    with monkeypatch.context() as patch:
        patch.setattr(cinder.scheduler.manager, 'driver', stock_driver(
            cinder.driver))
        patch.setattr('nova_holistic.cinder.filters.HolisticPoolFilter.'
                      'filter_all', lambda self, states, _: iter(states))
        engine.finish(group, 'failed')
    assert {row.fault for row in engine.volumes(group).values()} == {NO_CLAIM}
    assert engine.pools(group) == {} == sizes(cinder)


def test_a_right_that_has_expired_ends_the_creation(cinder, engine):
    group = engine.plan(database())
    engine.rights.expired = True
    engine.finish(group, 'failed')
    assert {row.fault for row in engine.volumes(group).values()} == {NO_RIGHT}
    assert engine.pools(group) == {}


def test_a_group_without_a_plan_creates_nothing(cinder, engine):
    group = engine.plan(database(91, **LOCAL))
    assert cinder.table.get_group(group).status == 'unplaceable'
    engine.work(lambda: engine.status(group) is None)
    assert (cinder.all_volumes(), engine.rights.ended) == ([], 1)


def test_a_quota_of_the_user_ends_the_creation(cinder, engine):
    cinder.set_quota(PROJECT, gigabytes=15)
    try:
        group = engine.plan(database())
        engine.finish(group, 'failed')
    finally:
        cinder.set_quota(PROJECT, gigabytes=-1)
    assert sorted(engine.states(group).values()) == ['available', 'failed']
    (fault,) = [row.fault for row in engine.volumes(group).values()
                if row.fault]
    assert 'Quota' in fault or 'quota' in fault


def send_again(cinder, engine, group):
    """Cinder executes a request a second time, long after the first time."""
    (row,) = engine.volumes(group).values()
    second = engine.rights.volumes.create(user_volumes.create_body(
        engine.table.get_group(group), row.path, row.attempt, None))
    cinder.wait_for(second, ['error'])
    return row.volume_uuid, second


def test_a_late_second_volume_is_deleted_with_the_group_of_a_used_volume(
        cinder, engine):
    group = engine.plan(database(20, count=1, **LOCAL))
    engine.finish(group)
    used, _ = send_again(cinder, engine, group)
    attachment = attach(cinder, used)
    engine.lifecycle.delete(group)
    engine.work(lambda: engine.status(group) is None)
    assert [volume['id'] for volume in cinder.all_volumes()
            if volume['status'] != 'deleting'] == [used]
    cinder.api.api_delete(f'/attachments/{attachment}')


def test_a_late_second_volume_is_deleted_after_the_first_one(cinder, engine):
    group = engine.plan(database(20, count=1, **LOCAL))
    engine.finish(group)
    first, _ = send_again(cinder, engine, group)
    cinder.delete(first)
    engine.work(lambda: cinder.all_volumes() == [])


def test_an_engine_waits_for_a_second_volume(cinder, engine, monkeypatch):
    """Cinder's scheduler has not refused it yet."""
    group = engine.plan(database(20, count=1, **LOCAL))
    of_attempt, unfinished = engine.admin.of_attempt, [True]

    def slow(attempt, project):
        return [replace(volume, status='creating') if unfinished
                and volume.status == 'error' else volume
                for volume in of_attempt(attempt, project)]

    monkeypatch.setattr(engine.admin, 'of_attempt', slow)
    engine.work(lambda: engine.volumes(group)['data-0'].volume_uuid)
    send_again(cinder, engine, group)
    for _ in range(20):
        engine.step()
        engine.passed += timedelta(seconds=1)
    assert engine.states(group) == {'data-0': 'creating'}
    unfinished.clear()
    engine.finish(group)
    engine.work(lambda: len(cinder.all_volumes()) == 1)


def test_a_create_that_a_proxy_delays_is_repeated(
        cinder, engine, monkeypatch):
    """It limits the rate of requests."""
    request, posts = Adapter.request, []

    def limited(self, path, method, **options):
        if method == 'POST' and not posts:
            posts.append(path)
            answer = requests.Response()
            answer.status_code = 429
            return answer
        return request(self, path, method, **options)

    monkeypatch.setattr(Adapter, 'request', limited)
    group = engine.plan(database(20, count=1, **LOCAL))
    engine.step()
    assert engine.states(group) == {'data-0': 'creating'}
    engine.passed += REPEAT_AFTER * 1.1
    engine.finish(group)
    assert engine.pools(group) == {'data-0': NVME}

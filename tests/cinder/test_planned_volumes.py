# SPDX-License-Identifier: Apache-2.0
"""Volumes of groups on a real Cinder with the driver of this project."""

from concurrent import futures
import contextlib
import subprocess
import sys
import threading
import time

from cinder.scheduler.filter_scheduler import FilterScheduler
from cinder.tests.unit import fake_constants
import greenlet
from oslo_config import cfg
from oslo_utils.fixture import TimeFixture
from oslo_utils import timeutils
import pytest

from nova_holistic.cinder.driver import FilterNotEnabled, HolisticScheduler
from nova_holistic.cinder.planned_capacity import (
    PlannedCapacity, REMEMBERED)
from nova_holistic import crash_points
from nova_holistic.table.database import Database
from nova_holistic.table.errors import TableError
from tests.cinder.planned_cinder import (
    manual_configuration, PlannedCinder)
from tests.cinder.planners import creator_of, planner_of
from tests.cinder.pool_driver import FAILS, FAILS_ONCE, PoolDriver
from tests.cinder.test_pools import NVME, RBD, THICK, THIN
from tests.tables import new_table
from tools.cloud.waiting import wait_for

FAULT = 'holistic_fault'


@pytest.fixture(scope='module')
def running(tmp_path_factory):
    found = PlannedCinder(new_table(tmp_path_factory.mktemp('table')))
    found.setUp()
    found.volume_type('local', pool_name='nvme')
    found.volume_type('thin', pool_name='thin')
    found.volume_type('thick', pool_name='thick')
    found.report_all()
    yield found
    found.doCleanups()


@pytest.fixture
def cinder(running):
    yield running
    running.delete_all()


def pool(volume):
    assert volume['status'] == 'available', volume['metadata']
    return volume['os-vol-host-attr:host']


def test_volumes_are_created_in_their_planned_pools(cinder):
    planned = {'log-0': NVME, 'log-1': THICK, 'data': THIN}
    group = cinder.write_group(
        *((path, 10, name) for path, name in planned.items()))
    assert {path: pool(cinder.member(group, path, 10))
            for path in planned} == planned
    cinder.wait_for_states(group, 'built', 'built', 'built')


def test_volumes_are_created_near_the_planned_servers(cinder, tmp_path):
    plan = planner_of(cinder, tmp_path, cinder.table).plan({
        'name': 'db', 'policies': [{'type': 'affinity', 'level': 'rack'}],
        'members': [
            {'name': 'node', 'count': 2, 'resources': {'VCPU': 4}},
            {'name': 'data', 'count': 2, 'kind': 'volume', 'size': 40}]})
    hosts = plan.hosts()
    pools = {path: hosts[path] for path in ('data-0', 'data-1')}
    group = cinder.write_group(
        *((path, 40, name) for path, name in pools.items()))
    # Only the second rack has capacity for both servers.
    assert [hosts['node-0'], hosts['node-1']] == ['cmp-2', 'cmp-2']
    assert set(pools.values()) <= {THIN, THICK, RBD}
    assert {path: pool(cinder.member(group, path, 40))
            for path in pools} == pools


def test_a_created_group_gets_its_volumes(cinder, tmp_path):
    planner = creator_of(cinder, tmp_path, cinder.table)

    def create(size, **keys):
        return planner.create({
            'name': 'db', 'policies': [{'type': 'affinity', 'level': 'rack'}],
            'members': [
                {'name': 'node', 'resources': {'VCPU': 1}},
                {'name': 'data', 'count': 2, 'kind': 'volume', 'size': size,
                 **keys}]}, project_id=fake_constants.PROJECT_ID,
            user_id='u')

    local = {'location': 'r1', 'volume_type': 'local'}
    group = create(40, **local)
    assert group.status == 'planned', group.reasons
    assert cinder.rows(group.uuid) == {
        'data-0': ('planned', NVME), 'data-1': ('planned', NVME)}
    # 10 of the 90 GiB are not planned, before and after the creates.
    assert create(6, **local).status == 'unplaceable'
    assert [pool(cinder.member(
        group.uuid, path, 40, volume_type='local'))
        for path in ('data-0', 'data-1')] == [NVME, NVME]
    cinder.wait_for_states(group.uuid, 'built', 'built')
    assert create(6, **local).status == 'unplaceable'
    assert create(5, **local).status == 'planned'


def test_a_description_takes_its_lowest_free_volume(cinder):
    group = cinder.write_group(('log-0', 10, THICK), ('log-1', 10, NVME))
    assert pool(cinder.member(group, 'log', 10)) == THICK
    assert pool(cinder.member(group, 'log', 10)) == NVME


@pytest.mark.parametrize('path, size, keys, fault', [
    ('data', 11, {}, 'it asks for 11 GiB, but the description states 10 GiB'),
    ('data', 10, {'volume_type': 'thin'},
     'it asks for volume type thin, but the description states local'),
    ('other', 10, {}, "has no volume 'other'"),
    ('data', 10, {'volume_type': 'local', 'availability_zone': 'nova'}, None),
])
def test_a_request_that_differs_from_the_description_is_refused(
        cinder, path, size, keys, fault):
    group = cinder.write_group(('data', 10, NVME, 'local'))
    volume = cinder.member(group, path, size, **keys)
    if fault is None:
        assert pool(volume) == NVME
        return
    assert volume['status'] == 'error'
    assert fault in volume['metadata'][FAULT]
    assert cinder.rows(group) == {'data': ('planned', NVME)}


def test_a_group_of_another_project_is_not_known(cinder):
    group = cinder.write_group(('data', 10, NVME), project_id='other')
    volume = cinder.member(group, 'data', 10)
    assert volume['metadata'][FAULT] == f'there is no group {group}'


def test_a_member_belongs_to_one_volume(cinder):
    group = cinder.write_group(('data', 10, NVME))
    assert pool(cinder.member(group, 'data', 10)) == NVME
    second = cinder.member(group, 'data', 10)
    assert second['status'] == 'error'
    assert second['metadata'][FAULT].endswith('is taken by another volume')


@pytest.mark.parametrize('hints', [
    {'holistic_group': 'x', 'holistic_member': 'data'},
    {'holistic_group': 5, 'holistic_member': {'data': None}},
    {'holistic_member': 'data'}])
def test_an_invalid_pointer_is_refused(cinder, hints):
    volume = cinder.wait_for(cinder.post(1, hints), ('available', 'error'))
    assert volume['status'] == 'error'
    assert 'holistic_group' in volume['metadata'][FAULT]


@pytest.mark.parametrize('volume_type, name, free', [
    ('local', NVME, 90), ('thick', THICK, 80), ('thin', THIN, 200)])
def test_other_volumes_do_not_use_planned_capacity(
        cinder, volume_type, name, free):
    group = cinder.write_group(('data', free - 5, name, volume_type))
    assert cinder.create(6, volume_type=volume_type)['status'] == 'error'
    assert pool(cinder.create(5, volume_type=volume_type)) == name
    assert cinder.create(1, volume_type=volume_type)['status'] == 'error'
    assert pool(cinder.member(
        group, 'data', free - 5, volume_type=volume_type)) == name
    cinder.table.volumes.release(group, timeutils.utcnow())


def test_capacity_is_correct_after_create_failed_create_and_delete(cinder):
    group = cinder.write_group(('data', 80, NVME))

    def has_left(size):
        assert cinder.create(
            size + 1, volume_type='local')['status'] == 'error'
        volume = cinder.create(size, volume_type='local')
        assert pool(volume) == NVME
        cinder.delete(volume['id'])
        cinder.report_all()

    has_left(10)
    volume = cinder.member(group, 'data', 80)
    has_left(10)
    cinder.wait_for_states(group, 'built')
    has_left(10)
    cinder.delete(volume['id'])
    cinder.wait_for_states(group, 'planned')
    has_left(10)
    failed = cinder.member(group, 'data', 80, name=FAILS)
    assert failed['metadata'][FAULT].startswith('its planned pool has failed')
    assert cinder.rows(group) == {'data': ('planned', NVME)}
    # Until the next report, Cinder counts the failed volume.
    cinder.report_all()
    has_left(10)
    cinder.table.volumes.release(group, timeutils.utcnow())
    has_left(90)


def test_ten_clients_at_once(cinder):
    group = cinder.write_group(*(
        (f'data-{number}', 8, NVME) for number in range(10)))

    def client(_):
        other = cinder.post(8, volume_type='local')
        return (cinder.member(group, 'data', 8),
                cinder.wait_for(other, ('available', 'error')))

    with futures.ThreadPoolExecutor(10) as clients:
        found = list(clients.map(client, range(10)))
    assert [pool(member) for member, _ in found] == [NVME] * 10
    # 90 GiB are enough for one of the other volumes.
    assert sorted(other['status'] for _, other in found) == [
        'available', *['error'] * 9]
    cinder.wait_for_states(group, *['built'] * 10)


def test_a_repeated_request_gets_the_same_row(cinder):
    group = cinder.write_group(('data-0', 10, NVME), ('data-1', 10, THICK))
    volume = cinder.member(group, 'data', 10, name=FAILS_ONCE)
    assert pool(volume) == NVME
    (first, second) = cinder.table.volumes.of_group(group)
    assert (first.volume_uuid, second.volume_uuid) == (volume['id'], None)


def test_a_scheduler_that_crashes_after_the_claim_loses_nothing(
        cinder, monkeypatch):
    group = cinder.write_group(('data', 90, NVME))
    volume = crash_at('cinder.row-claimed', cinder, monkeypatch, group)
    cinder.report_all()
    assert cinder.rows(group) == {'data': ('claimed', NVME)}
    assert cinder.create(1, volume_type='local')['status'] == 'error'
    cinder.delete(volume)
    cinder.wait_for_states(group, 'planned')
    assert cinder.create(1, volume_type='local')['status'] == 'error'
    assert pool(cinder.member(group, 'data', 90)) == NVME


def test_a_scheduler_that_crashes_after_its_request_loses_nothing(
        cinder, monkeypatch):
    group = cinder.write_group(('data', 90, NVME))
    volume = crash_at('cinder.request-sent', cinder, monkeypatch, group)
    assert pool(cinder.wait_for(volume, ['available'])) == NVME
    cinder.wait_for_states(group, 'built')


def test_a_volume_whose_status_was_reset_counts_once(cinder, monkeypatch):
    """Its service was killed before it completed the volume, which exists on
    the storage."""
    group = cinder.write_group(('data', 80, NVME))
    with monkeypatch.context() as patch:
        patch.setattr('cinder.volume.flows.manager.create_volume.'
                      'CreateVolumeOnFinishTask.execute',
                      lambda task, *args, **options: None)
        volume = cinder.post(80, {'holistic_group': group,
                                  'holistic_member': 'data'})
        wait_for('the storage has the volume', lambda: any(
            volume in each for service in cinder.volumes
            for each in service.manager.driver.sizes.values()), pause=0.05)
        cinder.report_all()
    assert cinder.wait_for(volume, ['creating'])
    assert cinder.rows(group) == {'data': ('claimed', NVME)}
    cinder.api.api_post(f'/volumes/{volume}/action', {
        'os-reset_status': {'status': 'available'}})
    cinder.wait_for_states(group, 'built')
    assert pool(cinder.create(10, volume_type='local')) == NVME


def crash_at(point, cinder, monkeypatch, group):
    """The thread of the request ends at the point.

    :returns: UUID of the volume
    """
    ended = threading.Event()

    def reached(name):
        if name == point:
            ended.set()
            raise greenlet.GreenletExit

    with monkeypatch.context() as patch:
        patch.setattr(crash_points, 'reached', reached)
        volume = cinder.post(90, {'holistic_group': group,
                                  'holistic_member': 'data'})
        wait_for('the creation reaches the point', ended.is_set, pause=0.02)
    return volume


def test_a_disabled_pool_keeps_its_member(cinder):
    group = cinder.write_group(('data', 10, NVME))
    cinder.disable('cmp-1@local', True)
    try:
        volume = cinder.member(group, 'data', 10)
    finally:
        cinder.disable('cmp-1@local', False)
    assert volume['status'] == 'error', volume
    assert 'is down or disabled' in volume['metadata'][FAULT]
    assert cinder.rows(group) == {'data': ('planned', NVME)}
    # The scheduler forgets a disabled service, until it reports again.
    cinder.report_all()
    assert pool(cinder.member(group, 'data', 10)) == NVME


def test_a_member_without_capacity_in_its_pool_is_lost(cinder):
    # A volume that Cinder accepted before the plan was written.
    assert pool(cinder.fill(50, 'local', NVME)) == NVME
    group = cinder.write_group(('data', 41, NVME))
    volume = cinder.member(group, 'data', 41)
    assert 'no longer takes it' in volume['metadata'][FAULT]
    assert cinder.rows(group) == {'data': ('lost', NVME)}


def test_a_lost_volume_is_planned_in_another_pool(cinder, tmp_path):
    assert pool(cinder.fill(50, 'local', NVME)) == NVME
    group = cinder.write_group(('data', 41, NVME), document={
        'name': 'db', 'members': [
            {'name': 'node', 'resources': {'VCPU': 1}},
            {'name': 'data', 'kind': 'volume', 'size': 41}]})
    assert cinder.member(group, 'data', 41)['status'] == 'error'
    planner = creator_of(cinder, tmp_path, cinder.table)
    assert not planner.replan(group).reasons
    ((state, planned),) = cinder.rows(group).values()
    assert (state, planned != NVME) == ('planned', True)
    assert pool(cinder.member(group, 'data', 41)) == planned


def test_an_unavailable_table_refuses_only_pointers(cinder, monkeypatch):
    group = cinder.write_group(('data', 80, NVME))
    assert pool(cinder.create(10, volume_type='local')) == NVME
    with monkeypatch.context() as patch:
        patch.setattr(Database, 'reader', no_answer)
        refused = cinder.member(group, 'data', 80)
        # The last read still counts.
        assert cinder.create(1, volume_type='local')['status'] == 'error'
        assert pool(cinder.create(1, volume_type='thick')) == THICK
    assert refused['metadata'][FAULT] == 'the placement table does not answer'
    assert pool(cinder.member(group, 'data', 80)) == NVME


@contextlib.contextmanager
def no_answer(database):
    """A database that does not answer."""
    raise TableError('no answer')
    yield


def test_a_yielding_driver_lets_cinder_choose(cinder):
    group = cinder.write_group(('data', 10, NVME))
    cfg.CONF.set_override('failure_mode', 'yield', 'holistic_cinder')
    try:
        volume = cinder.member(group, 'data', 11, volume_type='thick')
    finally:
        cfg.CONF.clear_override('failure_mode', 'holistic_cinder')
    assert pool(volume) == THICK
    assert cinder.rows(group) == {'data': ('planned', NVME)}


def assert_grows_beside_planned_capacity(cinder, volume):
    """The pool has 90 GiB, and 40 of them are planned for another volume."""
    for size, now in ((51, 40), (50, 50)):
        cinder.api.api_post(f'/volumes/{volume}/action', {
            'os-extend': {'new_size': size}}, check_response_status=[202])
        assert cinder.wait_for(volume, ['available'])['size'] == now


def test_a_volume_of_a_member_grows_only_beside_planned_capacity(cinder):
    group = cinder.write_group(('data', 40, NVME), ('log', 40, NVME))
    volume = cinder.member(group, 'data', 40)
    assert_grows_beside_planned_capacity(cinder, volume['id'])


def test_a_volume_that_is_not_reported_yet_takes_capacity_when_it_grows(
        cinder, monkeypatch):
    """Its service reports the pool while it creates the volume."""
    create = PoolDriver.create_volume

    def report_first(self, volume):
        cinder.report_all()
        create(self, volume)

    monkeypatch.setattr(PoolDriver, 'create_volume', report_first)
    group = cinder.write_group(('data', 40, NVME), ('log', 40, NVME))
    volume = cinder.member(group, 'data', 40)
    assert_grows_beside_planned_capacity(cinder, volume['id'])


def test_the_driver_does_not_start_without_the_filter(cinder):
    cfg.CONF.set_override('scheduler_default_filters', ['CapacityFilter'])
    try:
        with pytest.raises(FilterNotEnabled, match='HolisticPoolFilter'):
            HolisticScheduler()
    finally:
        cfg.CONF.set_override(
            'scheduler_default_filters', manual_configuration()['DEFAULT'][
                'scheduler_default_filters'].split(','))


def test_the_filter_without_the_driver_creates_no_member(cinder, monkeypatch):
    group = cinder.write_group(('data', 10, NVME))
    monkeypatch.setattr(cinder.scheduler.manager, 'driver', stock_driver(
        cinder.driver))
    assert cinder.member(group, 'data', 10)['status'] == 'error'
    assert pool(cinder.create(10, volume_type='local')) == NVME
    assert cinder.rows(group) == {'data': ('planned', NVME)}


def stock_driver(ours):
    """Cinder's own driver, with the reports that ours has received."""
    found = FilterScheduler()
    found.host_manager = ours.host_manager
    return found


def test_other_volumes_prefer_pools_with_little_planned_capacity(cinder):
    cinder.write_group(('data', 80, THICK), ('log', 45, NVME))
    assert {pool(cinder.create(1)) for _ in range(3)} == {THIN}


IMPORTED = """
from cinder.cmd import scheduler
scheduler.objects.register_all()
import nova_holistic.cinder.driver, sys
print(*{name.split('.')[0] for name in sys.modules})
"""


def test_the_driver_needs_no_nova():
    done = subprocess.run([sys.executable, '-c', IMPORTED],
                          capture_output=True, text=True)
    assert 'cinder' in done.stdout.split(), done.stderr
    assert not {'nova', 'placement'} & {*done.stdout.split()}


def test_requests_wait_for_each_other_while_the_filter_reads(
        cinder, monkeypatch):
    cinder.write_group(('data', 80, NVME))
    read = PlannedCapacity.outside

    def slow(*arguments):
        # Other requests continue here, unless they wait for this one.
        found = read(*arguments)
        time.sleep(0.5)
        return found

    monkeypatch.setattr(PlannedCapacity, 'outside', slow)
    uuids = [cinder.post(8, volume_type='local') for _ in range(3)]
    assert sorted(cinder.wait_for(each, ('available', 'error'))['status']
                  for each in uuids) == ['available', 'error', 'error']


def test_selections_are_not_stored_for_ever():
    """Requests for volumes of members never read the planned capacity, so
    only further selections remove old ones."""
    planned = PlannedCapacity(None, 1, 1)
    with TimeFixture() as clock:
        for name in 'abc':
            planned.note_selection(name, 'pool')
        clock.advance_time_delta(REMEMBERED)
        planned.note_selection('a', 'pool')
        assert set(planned._selected) == {'a', 'b', 'c'}
        clock.advance_time_seconds(1)
        planned.note_selection('d', 'pool')
    assert set(planned._selected) == {'a', 'd'}

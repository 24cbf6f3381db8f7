# SPDX-License-Identifier: Apache-2.0
"""An engine plans volumes and servers jointly on the pools of a real
Cinder."""

import threading

import pytest

from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.table.store import PlacementTable
from tests.cinder.planners import planner_of
from tests.cinder.pool_driver import FAILS
from tests.cinder.test_pools import NVME, THICK, THIN
from tests.tables import new_table

FREE_IN_NVME = 90


@pytest.fixture
def engine(cinder, tmp_path):
    cinder.report()
    table = PlacementTable(new_table(tmp_path))
    yield planner_of(cinder, tmp_path, table)
    table.database.close()


def group(size, volumes=1, volume_type='fast', **keys):
    return {'name': 'db', 'policies': [{'type': 'affinity', 'level': 'rack'}],
            'members': [
                {'name': 'node', 'count': 2, 'resources': {'VCPU': 2}},
                {'name': 'data', 'count': volumes, 'kind': 'volume',
                 'size': size, 'volume_type': volume_type, **keys}]}


def places(plan):
    assert isinstance(plan, Plan), plan
    return {path.split('-')[0]: host for path, host in plan.hosts().items()}


def test_volumes_and_servers_are_planned_in_one_rack(engine):
    assert places(engine.plan(group(FREE_IN_NVME, location='r1'))) == {
        'node': 'cmp-1', 'data': NVME}
    assert places(engine.plan(group(FREE_IN_NVME + 1))) == {
        'node': 'cmp-2', 'data': THIN}
    found = places(engine.plan(group(80, volume_type='cheap',
                                     location='r2/storage-1@array#thick')))
    assert found == {'node': 'cmp-2', 'data': THICK}


def test_a_plan_knows_the_volumes_that_cinder_has_created(cinder, engine):
    cinder.volume_type('local', pool_name='nvme')
    local = group(FREE_IN_NVME, volume_type='local')
    assert places(engine.plan(local)) == {'node': 'cmp-1', 'data': NVME}
    volume = cinder.create(1, volume_type='local')
    assert volume['os-vol-host-attr:host'] == NVME
    cinder.report()
    assert isinstance(engine.plan(local), Unplaceable)
    assert isinstance(engine.plan(
        group(FREE_IN_NVME - 1, volume_type='local')), Plan)
    cinder.delete(volume['id'])
    cinder.report()
    assert isinstance(engine.plan(local), Plan)


def test_a_failed_create_uses_no_capacity_of_a_plan(cinder, engine):
    whole = group(80, volume_type='cheap',
                  location='r2/storage-1@array#thick')
    failed = cinder.create(5, name=FAILS, volume_type='cheap')
    cinder.report()
    assert failed['status'] == 'error'
    assert isinstance(engine.plan(whole), Plan)
    cinder.delete(failed['id'])


def test_ten_clients_plan_at_once(cinder, engine):
    found = []
    clients = [threading.Thread(target=lambda: found.append(
        places(engine.plan(group(FREE_IN_NVME, location='r1')))))
        for _ in range(10)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert found == [{'node': 'cmp-1', 'data': NVME}] * 10

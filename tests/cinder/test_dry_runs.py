# SPDX-License-Identifier: Apache-2.0
"""An engine plans volumes and servers jointly on the pools of a real
Cinder."""

import json
import threading

from cinder import context
from cinder.db import api as db
from cinder.volume import volume_types
import pytest

from nova_holistic.cli import main
from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.table.store import PlacementTable
from tests.cinder.planners import planner_of
from tests.cinder.pool_driver import FAILS
from tests.cinder.test_pools import exported  # noqa: F401
from tests.cinder.test_pools import NVME, RBD, THICK, THIN
from tests.tables import new_table

FREE_IN_NVME = 90


@pytest.fixture
def engine(cinder, tmp_path):
    cinder.report()
    table = PlacementTable(new_table(tmp_path))
    yield planner_of(cinder, tmp_path, table)
    table.database.close()


def group(size, volumes=1, volume_type='fast', **keys):
    if volume_type is not None:
        keys['volume_type'] = volume_type
    return {'name': 'db', 'policies': [{'type': 'affinity', 'level': 'rack'}],
            'members': [
                {'name': 'node', 'count': 2, 'resources': {'VCPU': 2}},
                {'name': 'data', 'count': volumes, 'kind': 'volume',
                 'size': size, **keys}]}


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


@pytest.fixture
def default_type(cinder):
    """Set the default volume type of the cloud, or of a project."""
    conf, projects = volume_types.CONF, []

    def set_type(name, project=None):
        if project is None:
            conf.set_override('default_volume_type', name)
            return
        projects.append(project)
        db.project_default_volume_type_set(
            context.get_admin_context(), volume_types.get_volume_type_by_name(
                context.get_admin_context(), name)['id'], project)

    yield set_type
    conf.clear_override('default_volume_type')
    for project in projects:
        db.project_default_volume_type_unset(
            context.get_admin_context(), project)


def test_a_volume_without_a_type_is_planned_as_one_of_the_default_type(
        cinder, engine, default_type):
    in_first_rack = group(10, volume_type=None, location='r1')
    assert places(engine.plan(in_first_rack))['data'] == NVME
    default_type('cheap')
    assert isinstance(engine.plan(in_first_rack), Unplaceable)
    found = places(engine.plan(group(10, volume_type=None)))['data']
    assert found in (THICK, RBD)
    volume = cinder.create(1)
    assert (volume['volume_type'], volume['status']) == ('cheap', 'available')
    assert volume['os-vol-host-attr:host'] in (THICK, RBD)
    cinder.delete(volume['id'])


def test_the_default_type_of_a_project_takes_precedence(engine, default_type):
    untyped = group(10, volume_type=None)
    default_type('cheap')
    default_type('fast', 'p1')
    assert places(engine.plan(untyped, project_id='p1'))['data'] in (
        NVME, THIN)
    assert places(engine.plan(untyped, project_id='p2'))['data'] in (
        THICK, RBD)


def test_a_type_in_the_document_takes_precedence(engine, default_type):
    default_type('cheap')
    assert places(engine.plan(group(10)))['data'] in (NVME, THIN)


def test_a_missing_default_type_allows_all_pools(engine, default_type):
    default_type('missing')
    assert places(engine.plan(group(10, volume_type=None, location='r1'))
                  )['data'] == NVME


def test_no_pool_offers_the_default_type(cinder, engine, default_type):
    cinder.volume_type('tape', media='tape')
    default_type('tape')
    answer = engine.plan(group(10, volume_type=None))
    assert isinstance(answer, Unplaceable)
    assert 'volume type tape' in str(answer.reasons)


@pytest.fixture
def cheap_by_default(default_type):
    default_type('cheap')


def test_an_exported_cloud_has_the_default_type(
        cheap_by_default, exported, tmp_path, capsys):  # noqa: F811
    assert json.loads(exported.read_text())['default_volume_type'] == 'cheap'
    path = tmp_path / 'group.json'
    path.write_text(json.dumps(group(10, volume_type=None)))
    assert main.main(['plan', str(path), '--inventory', str(exported),
                      '--format', 'json']) == 0
    assert {each['host'] for each
            in json.loads(capsys.readouterr().out)['placements']
            if each['member'].startswith('data')} <= {THICK, RBD}

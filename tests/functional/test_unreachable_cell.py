# SPDX-License-Identifier: Apache-2.0
"""Groups are planned in the other cells of Nova while one cell is down."""

import contextlib
import uuid

from nova.compute import api as compute_api
from nova import context as nova_context
from nova.db.main import models
from nova import objects
from oslo_db import exception as db_exception
from oslo_db.sqlalchemy import enginefacade
import pytest
import sqlalchemy as sa

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.embedded.host_insertion import compute_nodes, providers
from nova_holistic.table.records import GroupStatus

NEAR = tuple(EmbeddedHost(f'near-{number}', zone='az1', rack='r1', vcpus=4)
             for number in range(2))
FAR = EmbeddedHost('far', vcpus=4)


@pytest.fixture(scope='module')
def cloud(lend_cloud):
    with lend_cloud(NEAR) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        yield cloud


@pytest.fixture(scope='module')
def other_cell(cloud, tmp_path_factory):
    """The engine of the database of a second cell, which has one host."""
    admin = nova_context.get_admin_context()
    name = str(uuid.uuid4())
    database = enginefacade.transaction_context()
    database.configure(
        connection=f'sqlite:///{tmp_path_factory.mktemp("cell")}/nova.db')
    engine = database.writer.get_engine()
    models.BASE.metadata.create_all(engine)
    databases = nova_context.target_cell.__self__
    databases._ctxt_mgrs[name] = database
    mapping = objects.CellMapping(
        admin, uuid=name, name='far', transport_url='fake://nowhere/',
        database_connection=name)
    mapping.create()
    forget_cells()
    nodes = compute_nodes.insert_nodes(mapping, [FAR])
    providers.insert_providers(
        [(nodes[FAR.name], FAR)], {FAR.name: []},
        compute_nodes.compute_traits())
    yield engine
    objects.HostMapping.get_by_host(admin, FAR.name).destroy()
    mapping.destroy()
    cloud.placement.delete(f'/resource_providers/{nodes[FAR.name]}')
    del databases._ctxt_mgrs[name]
    engine.dispose()
    forget_cells()


def forget_cells():
    """Processes of Nova read the list of cells once."""
    compute_api.CELLS = []
    nova_context.CELLS = []


@contextlib.contextmanager
def down(engine):
    def refuse(*_):
        raise db_exception.DBConnectionError(Exception('no route to host'))

    sa.event.listen(engine, 'before_cursor_execute', refuse)
    try:
        yield
    finally:
        sa.event.remove(engine, 'before_cursor_execute', refuse)


def create(cloud, count):
    return cloud.planner.create(
        {'name': 'web', 'policies': [{'type': 'anti-affinity'}],
         'members': [{'name': 'node', 'flavor': 'small', 'count': count}]},
        project_id=PROJECT, user_id=USER)


def hosts_of(cloud, record):
    return {row.place.host for row in cloud.table.members(record.uuid)
            if row.held}


def plan(cloud, count):
    record = create(cloud, count)
    hosts = hosts_of(cloud, record)
    cloud.lifecycle.delete(record.uuid)
    return record.status, hosts


def test_a_plan_uses_the_hosts_of_the_cells_that_answer(
        cloud, other_cell, caplog):
    near = {host.name for host in NEAR}
    assert plan(cloud, 3) == (GroupStatus.PLANNED, {*near, FAR.name})
    with down(other_cell):
        assert plan(cloud, 2) == (GroupStatus.PLANNED, near)
        assert plan(cloud, 3) == (GroupStatus.UNPLACEABLE, set())
        assert not cloud.inventory.snapshot().by_name()[FAR.name].enabled
    assert ('1 compute services are in cells that do not answer, and count as '
            'disabled: far') in caplog.text
    assert plan(cloud, 3) == (GroupStatus.PLANNED, {*near, FAR.name})


def test_members_planned_in_a_cell_that_does_not_answer_stay_held(
        cloud, other_cell):
    record = create(cloud, 3)
    with down(other_cell):
        assert cloud.reconciler.reconcile() == {}
        assert FAR.name in hosts_of(cloud, record)
        assert cloud.consumers(FAR.name)
    assert cloud.reconciler.reconcile() == {}
    cloud.lifecycle.delete(record.uuid)

# SPDX-License-Identifier: Apache-2.0
"""Servers can be created while a database of a cell of Nova is unavailable."""

import contextlib

from oslo_db import exception as db_exception
import pytest
import sqlalchemy as sa

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.scheduler import connections
from nova_holistic.scheduler.policies import exclusion, server_locations
from tests.functional.nova_records import write_server

HOSTS = tuple(EmbeddedHost(f'cmp-{number}', zone='az1', rack='r1', vcpus=4)
              for number in range(3))
ALONE = {'name': 'alone',
         'policies': [{'type': 'exclusive', 'level': 'host'}],
         'members': [{'name': 'node', 'flavor': 'small', 'count': 2}]}


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        cloud.create_flavor('whole', 4, 4096, 10)
        yield cloud


@pytest.fixture
def cloud(running):
    """The cloud, which must be unchanged after the test."""
    yield running
    running.conf.clear_override('failure_mode', group='holistic')
    running.clear()
    running.run_periodics()


@pytest.fixture
def group(cloud):
    """A group that reserves two of the three hosts, one of them with a
    server."""
    uuid = cloud.planner.create(
        ALONE, project_id=PROJECT, user_id=USER).uuid
    assert host_of(cloud, 'node-0', 'small', {
        'group': uuid, 'member': 'node-0'}) == place_of(cloud, uuid, 'node-0')
    return uuid


def place_of(cloud, group, path):
    return next(row.place.host for row in cloud.table.members(group)
                if row.member.path == path)


def host_of(cloud, name, flavor, pointer=None):
    server = cloud.create_server(name, flavor, pointer)
    cloud.wait_for_status(server, 'ACTIVE')
    return cloud.host_of(server)


def away(*args, **kwargs):
    raise db_exception.DBConnectionError(Exception('no route to host'))


def test_members_in_an_unreachable_cell_count_on_planned_hosts(
        cloud, group, monkeypatch):
    monkeypatch.setattr(server_locations, '_instances', away)
    assert host_of(cloud, 'other-server', 'whole') not in {
        row.place.host for row in cloud.table.members(group)}
    # Servers of the group itself can be created.
    assert host_of(cloud, 'node-1', 'small', {
        'group': group, 'member': 'node-1'}) == place_of(
            cloud, group, 'node-1')


@contextlib.contextmanager
def failing_reads():
    """Let the database of a cell refuse each statement that reads the servers
    of groups. Yields a list of these statements."""
    refused = []

    def refuse(_connection, _cursor, text, parameters, *_):
        if ' AS changed' in text:
            refused.append(text)
            text = text.replace('instances', 'no_such_table')
        return text, parameters

    sa.event.listen(sa.Engine, 'before_cursor_execute', refuse, retval=True)
    try:
        yield refused
    finally:
        sa.event.remove(sa.Engine, 'before_cursor_execute', refuse)


def test_a_database_may_fail_in_the_thread_of_the_request(
        cloud, group, caplog):
    """The planned host is in the only cell that has servers of groups, so no
    other thread reads them: the log names the error."""
    with failing_reads() as refused:
        assert host_of(cloud, 'node-1', 'small', {
            'group': group, 'member': 'node-1'}) == place_of(
                cloud, group, 'node-1')
    assert len(refused) == 1
    cell = cloud.computes.cell.uuid
    assert f'Cell {cell} cannot be read' in caplog.text
    assert 'no such table: no_such_table' in caplog.text
    assert f'Cell {cell} does not respond' in caplog.text
    # The next read finds a server that has moved in the meantime.
    moved = next(row for row in cloud.table.members(group)
                 if row.member.path == 'node-0')
    free, = {host.name for host in HOSTS} - {
        row.place.host for row in cloud.table.members(group)}
    write_server(cloud, moved, host=free)
    assert free in {domain.path[-1] for domain in exclusion.closed_domains(
        connections.get(), None)}
    write_server(cloud, moved, host=moved.place.host)


def test_without_the_api_database_other_servers_stay_off_planned_places(
        cloud, group, monkeypatch):
    monkeypatch.setattr(server_locations, 'by_cell_number', away)
    closed = {row.place.host for row in cloud.table.members(group)}
    assert host_of(cloud, 'other-server', 'whole') not in closed
    late = cloud.create_server('late', 'small')
    fault = cloud.wait_for_status(late, 'ERROR')['fault']['message']
    assert 'No valid host' in fault


@pytest.mark.parametrize('mode', ['reject', 'yield'])
def test_without_the_api_database_a_member_is_refused_or_yields(
        cloud, group, monkeypatch, mode):
    cloud.conf.set_override('failure_mode', mode, group='holistic')
    monkeypatch.setattr(server_locations, 'by_cell_number', away)
    server = cloud.create_server('node-1', 'small', {
        'group': group, 'member': 'node-1'})
    if mode == 'yield':
        cloud.wait_for_status(server, 'ACTIVE')
    else:
        fault = cloud.wait_for_status(server, 'ERROR')['fault']['message']
        assert "Nova's database does not answer" in fault
    row = next(row for row in cloud.table.members(group)
               if row.member.path == 'node-1')
    assert row.instance_uuid is None

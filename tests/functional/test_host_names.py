# SPDX-License-Identifier: Apache-2.0
"""Names of hosts in databases that ignore the case of letters, as MariaDB does
by default."""

from nova import context as nova_context
import pytest
import sqlalchemy as sa

from nova_holistic.scheduler.hosts import compute_records
from nova_holistic.scheduler.hosts.list_statement import ListStatement
from tests.functional.claims import create, document, host_of_active, SMALL


@pytest.fixture
def ignores_case(monkeypatch):
    """The database of the cell compares names as MariaDB does."""
    columns = compute_records._SERVER
    monkeypatch.setattr(compute_records, '_SERVERS', ListStatement.of_column(
        sa.select(columns.host, columns.uuid).where(columns.deleted == 0),
        columns.host.collate('NOCASE')))


def servers(cloud, *hosts):
    found = compute_records.servers(
        nova_context.get_admin_context(), cloud.computes.cell, hosts)
    return {host: list(found[host]) for host in hosts}


@pytest.mark.parametrize('hosts, owners', [
    (['cmp-2'], ['cmp-2']), (['CMP-2'], ['CMP-2']),
    (['CMP-2', 'cmp-1', 'cmp-2'], ['cmp-2'])])
def test_the_servers_of_a_host_are_found_if_the_case_of_its_name_differs(
        cloud, ignores_case, hosts, owners):
    """As in Nova, the database decides whether a server is on a host. If there
    are two such hosts, a server is on the host with exactly its name."""
    group = cloud.plan(document('a'), {'a': 'cmp-2'}, resources=SMALL)
    server = create(cloud, group, 'a')
    assert host_of_active(cloud, server) == 'cmp-2'
    assert servers(cloud, *hosts) == {
        host: [server] if host in owners else [] for host in hosts}

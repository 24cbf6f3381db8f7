# SPDX-License-Identifier: Apache-2.0
"""A scheduler reads changed servers from Nova's table on MariaDB and
PostgreSQL."""

from datetime import datetime, timedelta
from types import SimpleNamespace
from unittest import mock

from nova.db.main import api as main_database
from nova.db.main import models
import pytest
import sqlalchemy as sa

from nova_holistic.scheduler.policies import server_locations
from nova_holistic.scheduler.policies.server_locations import CellRead

NOW = datetime(2026, 5, 17, 12)
SERVERS = 'first', 'second', 'deleted', 'foreign', 'unchanged'


@pytest.fixture
def servers(server, empty_url):
    """Nova's table of servers, which ``_instances`` reads."""
    engine = sa.create_engine(empty_url)
    table = models.Instance.__table__
    table.create(engine)
    with engine.begin() as link:
        link.execute(sa.insert(table), [{
            'uuid': name, 'host': f'on-{name}', 'vm_state': 'active',
            'project_id': 'other' if name == 'foreign' else 'ours',
            'deleted': number if name == 'deleted' else 0,
            'updated_at': NOW - timedelta(days=name == 'unchanged')}
            for number, name in enumerate(SERVERS)])
    with mock.patch.object(
            main_database, 'get_context_manager', lambda _: SimpleNamespace(
                reader=SimpleNamespace(get_engine=lambda: engine))):
        yield
    engine.dispose()


def read(names=(), since=None, projects=('ours',), most=10):
    """UUIDs of the servers, and whether they were read because they have
    changed."""
    found = server_locations._instances(None, CellRead(
        dict.fromkeys(names), since, frozenset(projects), most=most))
    assert all(row.host == f'on-{row.uuid}' for row in found)
    return sorted((row.uuid, bool(row.changed)) for row in found)


def test_changed_and_named_servers_are_read_with_one_statement(servers):
    assert read(['unchanged', 'deleted', 'foreign']) == [
        ('foreign', False), ('unchanged', False)]
    assert read(since=NOW) == [
        ('deleted', True), ('first', True), ('second', True)]
    assert read(['unchanged'], NOW) == [
        ('deleted', True), ('first', True), ('second', True),
        ('unchanged', False)]
    assert len(read(['unchanged'], NOW, most=2)) == 3
    assert read(['unchanged'], NOW + timedelta(seconds=1)) == [
        ('unchanged', False)]


@pytest.mark.parametrize('projects, limit, foreign', [
    (['ours', 'none'], 400, False), (['ours', 'other'], 400, True),
    (['ours', 'none'], 1, True)])
def test_changed_servers_of_several_projects_are_read(
        servers, monkeypatch, projects, limit, foreign):
    """With more projects than the limit, those of all projects are read."""
    monkeypatch.setattr(server_locations, 'MAX_PROJECTS', limit)
    changed = [('deleted', True), ('first', True), ('second', True)]
    if foreign:
        changed.insert(2, ('foreign', True))
    assert read(since=NOW, projects=projects) == changed
    assert read(['unchanged'], NOW, projects) == [
        *changed, ('unchanged', False)]

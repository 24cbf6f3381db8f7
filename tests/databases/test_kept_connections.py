# SPDX-License-Identifier: Apache-2.0
"""Which requests the transactions of the placement table send, and what
happens to connections that the database has closed."""

import pytest
import sqlalchemy as sa

from nova_holistic.table import errors, kept_connections
from nova_holistic.table.records import GroupStatus, Task
from tests.unit.table import builders

NUMBERS = {
    'mysql': 'SELECT CONNECTION_ID()', 'postgresql': 'SELECT pg_backend_pid()'}
CLOSING = {
    'mysql': 'KILL {}', 'postgresql': 'SELECT pg_terminate_backend({})'}

ON_MARIADB = pytest.mark.parametrize('server', ['mariadb'], indirect=True)
"""Only MariaDB counts requests by their kind and lists open transactions."""


@pytest.fixture
def administrator(server, migrated):
    """Another connection to the same server."""
    engine = sa.create_engine(migrated)
    with engine.connect() as link:
        yield link
    engine.dispose()


def test_a_connection_closed_while_idle_is_replaced(
        table, administrator, monkeypatch):
    group = builders.planned(table, web=None)
    monkeypatch.setattr(kept_connections, 'TRUSTED', 0.0)
    _close(table, administrator)
    assert table.get_group(group.uuid) == group


def test_a_connection_closed_after_its_use_fails_one_transaction(
        table, administrator, monkeypatch):
    group = builders.planned(table, web=None)
    # A slow machine does not reach the end of this time.
    monkeypatch.setattr(kept_connections, 'TRUSTED', 3600.0)
    _close(table, administrator)
    with pytest.raises(errors.TableError):
        table.get_group(group.uuid)
    assert table.get_group(group.uuid) == group


@ON_MARIADB
def test_a_transaction_needs_no_request_besides_its_own(
        table, administrator, monkeypatch):
    group = builders.planned(table, web=None)
    monkeypatch.setattr(kept_connections, 'TRUSTED', 3600.0)
    before = _requests(administrator)
    table.get_group(group.uuid)
    assert _difference(administrator, before) == {
        'Com_select': 1, 'Com_rollback': 1}
    before = _requests(administrator)
    table.update_group(group.uuid, [group.status], reasons=[])
    sent = _difference(administrator, before)
    assert sent['Com_commit'] == 1
    assert not sent.keys() & {'Com_rollback', 'Com_admin_commands'}


@ON_MARIADB
@pytest.mark.parametrize('members, statements', [(3, 1), (250, 3)])
def test_the_members_of_a_plan_are_written_100_at_a_time(
        table, administrator, members, statements):
    group = builders.planned(table)
    rows = builders.members_of(group, {'web': members})
    before = _requests(administrator)
    table.write_members(group.uuid, rows)
    # One further statement writes the event.
    assert _difference(administrator, before)['Com_insert'] == statements + 1
    assert [row.hold for row in table.members(group.uuid)] == [
        row.hold for row in rows]


@ON_MARIADB
def test_a_task_is_taken_in_one_transaction(
        table, administrator, monkeypatch):
    group = builders.a_group(
        GroupStatus.PLANNING, task=Task.PLANNING, pending={})
    table.create_group(group)
    monkeypatch.setattr(kept_connections, 'TRUSTED', 3600.0)
    before = _requests(administrator)
    assert table.tasks.take(
        group.uuid, 'one', builders.NOON, builders.NOON).engine == 'one'
    assert _difference(administrator, before) == {
        'Com_update': 1, 'Com_select': 1, 'Com_commit': 1}


@ON_MARIADB
def test_an_error_leaves_no_open_transaction(table, administrator):
    with pytest.raises(errors.TableError), table.database.writer() as session:
        session.execute(sa.text('INSERT INTO holistic_groups VALUES (1)'))
    with pytest.raises(LookupError), table.database.writer() as session:
        session.execute(sa.text('SELECT uuid FROM holistic_groups FOR UPDATE'))
        raise LookupError
    assert administrator.execute(sa.text(
        'SELECT count(*) FROM information_schema.innodb_trx '
        'WHERE trx_mysql_thread_id != CONNECTION_ID()')).scalar() == 0


def test_a_view_leaves_the_isolation_level_as_it_was(table):
    builders.planned(table, web=None)
    with table.database.view() as first:
        seen = first.execute(sa.text(
            'SELECT count(*) FROM holistic_groups')).scalar()
        builders.planned(table, web=None)
        assert first.execute(sa.text(
            'SELECT count(*) FROM holistic_groups')).scalar() == seen
    with table.database.reader() as second:
        seen = second.execute(sa.text(
            'SELECT count(*) FROM holistic_groups')).scalar()
        builders.planned(table, web=None)
        assert second.execute(sa.text(
            'SELECT count(*) FROM holistic_groups')).scalar() == seen + 1


def _close(table, administrator):
    """Let the database close all connections of the table."""
    name = administrator.dialect.name
    with table.database.reader() as session:
        number = session.execute(sa.text(NUMBERS[name])).scalar()
    administrator.execute(sa.text(CLOSING[name].format(number)))
    administrator.rollback()


def _requests(administrator):
    return {name: int(value) for name, value in administrator.execute(sa.text(
        "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_select', "
        "'Com_commit', 'Com_rollback', 'Com_admin_commands', 'Com_insert', "
        "'Com_update')"))}


def _difference(administrator, before):
    return {name: number - before[name] for name, number
            in _requests(administrator).items() if number != before[name]}

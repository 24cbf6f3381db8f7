# SPDX-License-Identifier: Apache-2.0
"""Of two transactions in a deadlock, one is rolled back and retried."""

from concurrent.futures import ThreadPoolExecutor
import threading

import pytest
import sqlalchemy as sa

from nova_holistic.table.database import Database, Deadlock, retried
from nova_holistic.table.schema.models import GroupRow
from tests.unit.table import builders


def crossing(table, first, second, wrap):
    """Two transactions change the same two groups in opposite order. Returns
    the order of the groups for each transaction that has begun.

    A retry begins after the other transaction has committed. Otherwise the
    retry could lock its first group before the other transaction does, and
    the two would be in a deadlock again.

    :param wrap: decorator of each transaction
    """
    meeting = threading.Barrier(2)
    begun = []
    committed = threading.Event()

    def rename(order):
        @wrap
        def work():
            begun.append(order)
            if len(begun) > 2:
                committed.wait(300)
            with table.database.writer() as session:
                for number, uuid in enumerate(order):
                    session.execute(
                        sa.update(GroupRow).where(GroupRow.uuid == uuid)
                        .values(name=order[0])
                        .execution_options(synchronize_session=False))
                    if number == 0 and len(begun) <= 2:
                        meeting.wait(300)
            committed.set()

        return work()

    with ThreadPoolExecutor(2) as pool:
        for result in [pool.submit(rename, (first, second)),
                       pool.submit(rename, (second, first))]:
            result.result(300)
    return begun


def test_a_database_deadlock_raises_deadlock(table):
    groups = [builders.planned(table).uuid for _ in range(2)]
    with pytest.raises(Deadlock):
        crossing(table, *groups, lambda work: work)


def test_a_transaction_rolled_back_by_a_deadlock_is_retried(table):
    groups = [builders.planned(table).uuid for _ in range(2)]
    begun = crossing(table, *groups, retried)
    assert len(begun) == 3
    names = {table.get_group(uuid).name for uuid in groups}
    assert len(names) == 1 and names <= set(groups)


def test_a_view_does_not_see_later_writes(table):
    group = builders.planned(table, web=None)
    with table.database.view() as session:
        assert session.get(GroupRow, group.uuid).name == 'shop'
        session.expire_all()
        table.update_group(group.uuid, [group.status], name='store')
        assert session.get(GroupRow, group.uuid).name == 'shop'
    assert table.get_group(group.uuid).name == 'store'


@pytest.mark.parametrize('retries', [0, 10])
def test_readers_and_writers_use_read_committed(table_url, retries):
    """The isolation level is the same on the first connection, on later ones,
    and after a view has used a connection. Otherwise a lock on a missing row
    would block other transactions."""
    database = Database(table_url, max_retries=retries)
    with database.reader() as first:
        assert level(first) == 'READ COMMITTED'
        with database.reader() as second:
            assert level(second) == 'READ COMMITTED'
    with database.view() as view:
        view.execute(sa.select(GroupRow.uuid)).all()
        # MariaDB does not report the level of a single transaction; the
        # previous test checks that a view sees one point in time.
        if database.engine.dialect.name != 'mysql':
            assert level(view) == 'REPEATABLE READ'
    for _ in range(3):
        with database.writer() as after:
            assert level(after) == 'READ COMMITTED'
    database.close()


def level(session):
    server = session.connection().dialect.name
    return session.scalar(sa.text({
        'mysql': 'SELECT @@tx_isolation',
        'postgresql': 'SHOW transaction_isolation'}[server])).upper().replace(
            '-', ' ')

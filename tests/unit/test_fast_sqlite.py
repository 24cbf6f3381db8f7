# SPDX-License-Identifier: Apache-2.0
"""Transactions of the tests on SQLite begin and end as those of oslo.db."""

from oslo_db.sqlalchemy import engines
import pytest
import sqlalchemy as sa

import tests.fast_sqlite  # noqa: F401


@pytest.fixture
def engine(tmp_path):
    engine = engines.create_engine(f'sqlite:///{tmp_path}/rows.sqlite')
    with engine.begin() as connection:
        connection.execute(sa.text('CREATE TABLE rows (number INTEGER)'))
    yield engine
    engine.dispose()


def insert(connection, number):
    connection.execute(sa.text(f'INSERT INTO rows VALUES ({number})'))


def numbers(engine):
    with engine.connect() as connection:
        return [*connection.execute(sa.text('SELECT number FROM rows'))
                .scalars()]


def test_a_transaction_is_committed_or_rolled_back_as_a_whole(engine):
    with engine.connect() as connection:
        for begin in (1, 3):
            insert(connection, begin)
            insert(connection, begin + 1)
            connection.rollback() if begin == 1 else connection.commit()
    assert numbers(engine) == [3, 4]


def test_other_connections_see_a_transaction_after_its_end(engine):
    with engine.begin() as connection:
        insert(connection, 1)
        assert numbers(engine) == []
    assert numbers(engine) == [1]


def test_begin_is_not_a_statement_of_sqlalchemy(engine):
    sent = []

    @sa.event.listens_for(engine, 'before_cursor_execute')
    def note(_connection, _cursor, text, *_):
        sent.append(text)

    with engine.begin() as connection:
        insert(connection, 1)
        assert connection.connection.driver_connection.in_transaction
    assert sent == ['INSERT INTO rows VALUES (1)']

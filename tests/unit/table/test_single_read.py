# SPDX-License-Identifier: Apache-2.0
"""A connection for one statement that reads leaves no trace for the next
transaction."""

import pytest
import sqlalchemy as sa

from nova_holistic.table.records import MemberState
from nova_holistic.table import single_read
from tests.unit.table import builders


def test_a_single_read_sends_one_statement(table):
    builders.planned(table, web=None)
    sent = []
    sa.event.listen(table.database.engine, 'before_cursor_execute',
                    lambda *arguments: sent.append(arguments[2]))
    with table.database.link() as link:
        assert link.scalar(sa.text('SELECT 1')) == 1
    assert sent == ['SELECT 1']


@pytest.mark.parametrize('statements', [0, 1, 2])
def test_a_transaction_after_a_single_read_can_be_rolled_back(
        table, statements):
    """The connection is the same: it is the only one in the pool."""
    group = builders.planned(table, web=None)
    with table.database.link() as link:
        for _ in range(statements):
            link.scalar(sa.text('SELECT 1'))
    with table.database.engine.connect() as link:
        link.execute(sa.text('DELETE FROM holistic_members'))
        link.rollback()
    assert [member.state for member in table.members(group.uuid)] == [
        MemberState.PLANNED]


def test_threads_that_share_a_connection_send_begin():
    engine = sa.create_engine('sqlite://', poolclass=sa.pool.StaticPool)
    with single_read.connection(engine) as link:
        assert 'in_transaction' not in link.info

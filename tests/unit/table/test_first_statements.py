# SPDX-License-Identifier: Apache-2.0
"""On SQLite, a transaction that reads before it writes fails if another
process has written in between. Therefore, the first statement writes."""

import sqlalchemy as sa

from nova_holistic.table import migration
from nova_holistic.table.store import PlacementTable
from tests.unit.table.every_call import call_everything


def test_every_transaction_that_writes_begins_with_a_write(tmp_path):
    url = f'sqlite:///{tmp_path}/table.sqlite'
    migration.upgrade(url)
    table = PlacementTable(url)
    engine = table.database.engine
    first, reading_first = {}, set()

    @sa.event.listens_for(engine, 'before_cursor_execute')
    def note(link, _cursor, statement, *_):
        verb = statement.split()[0]
        if verb == 'BEGIN':
            return
        begun = first.setdefault(
            id(link.connection.dbapi_connection), statement)
        if verb in ('INSERT', 'UPDATE', 'DELETE') and (
                begun.startswith(('SELECT', 'WITH'))):
            reading_first.add(begun)

    @sa.event.listens_for(engine, 'commit')
    @sa.event.listens_for(engine, 'rollback')
    def end(link):
        first.pop(id(link.connection.dbapi_connection), None)

    call_everything(table)
    assert reading_first == set()

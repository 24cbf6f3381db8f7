# SPDX-License-Identifier: Apache-2.0
"""Every change of a state that a world's table commits."""

import contextlib
import sqlite3

import sqlalchemy as sa


class Transitions:
    """Reads the table after each transaction.

    :ivar members: (before, after) of members, in the order of the changes
    :ivar groups: (before, after) of groups, in the order of the changes
    """

    def __init__(self, world):
        self.members, self.groups = [], []
        self._file = sa.make_url(world.table_url).database
        self._seen = self._read()
        pool = world.table.database.engine.pool
        sa.event.listen(pool, 'checkin', self._look)

    def _look(self, *connection):
        now = self._read()
        for found, table, before in zip(
                (self.members, self.groups), now, self._seen, strict=True):
            found.extend((before[key], state) for key, state in table.items()
                         if before.get(key, state) != state)
        self._seen = now

    def _read(self):
        with contextlib.closing(sqlite3.connect(self._file)) as link:
            return (
                {(row[0], row[1]): row[2] for row in link.execute(
                    'SELECT id, path, state FROM holistic_members')},
                dict(link.execute('SELECT uuid, status FROM holistic_groups')))

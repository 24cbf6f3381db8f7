# SPDX-License-Identifier: Apache-2.0
"""The import of this module makes SQLite no longer wait until its files are on
the disk.

Most transactions of the tests take less time than this wait. A killed process
loses no data. Only a failure of the whole machine would, which no test
provokes.
"""

import sqlite3

import sqlalchemy as sa


@sa.event.listens_for(sa.Engine, 'connect')
def _switch_off(connection, _record):
    if isinstance(connection, sqlite3.Connection):
        connection.execute('PRAGMA synchronous = OFF')

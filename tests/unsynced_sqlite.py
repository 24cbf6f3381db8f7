# SPDX-License-Identifier: Apache-2.0
"""When this module is imported, SQLite no longer waits until its files are on
the disk.

Most transactions of the tests take less time than that. A process that is
killed loses nothing; a failure of the whole machine, which no test provokes,
would.
"""

import sqlite3

import sqlalchemy as sa


@sa.event.listens_for(sa.Engine, 'connect')
def _switch_off(connection, _record):
    if isinstance(connection, sqlite3.Connection):
        connection.execute('PRAGMA synchronous = OFF')

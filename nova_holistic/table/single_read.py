# SPDX-License-Identifier: Apache-2.0
"""Connections for single statements that read."""

from collections.abc import Iterator
import contextlib

import sqlalchemy as sa

_IN_TRANSACTION = 'in_transaction'
"""The mark with which oslo.db notes that it has sent BEGIN on a connection to
SQLite. It does not send BEGIN if the connection has the mark. At the end of
the transaction of SQLAlchemy, it removes the mark."""

_SHARED = sa.pool.StaticPool, sa.pool.SingletonThreadPool


@contextlib.contextmanager
def connection(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A connection for one statement that reads.

    On SQLite, the statement is not preceded by a BEGIN, which takes as long as
    the statement. A single statement always reads one point in time. On other
    databases, the driver decides about BEGIN, and this is ``engine.connect``.
    Several statements each read their own point in time, as at the isolation
    level READ COMMITTED.

    An engine whose threads share one connection, like that of a database in
    memory, is used with BEGIN: the mark would be seen by other threads.
    """
    with engine.connect() as link:
        if engine.dialect.name != 'sqlite' or isinstance(engine.pool, _SHARED):
            yield link
            return
        # The connection of the driver, which stays in the pool, has the mark.
        # Without a statement, SQLAlchemy begins no transaction, and so oslo.db
        # does not remove the mark.
        marks = link.info
        marks[_IN_TRANSACTION] = True
        try:
            yield link
        finally:
            marks.pop(_IN_TRANSACTION, None)

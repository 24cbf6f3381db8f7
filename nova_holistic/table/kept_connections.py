# SPDX-License-Identifier: Apache-2.0
"""Connections that stay open between transactions, and the requests that they
do not need.

SQLAlchemy tests a connection before each transaction, and sends ROLLBACK after
each transaction, even after its COMMIT or ROLLBACK. A transaction with one
statement then needs four requests to the database instead of two.
"""

from collections.abc import Mapping
import math
import os
import time
from typing import Any
import weakref

import sqlalchemy as sa
from sqlalchemy import pool

TRUSTED = 1.0
"""Seconds after a transaction in which its connection is not tested. If the
database closes the connection in this time, one transaction fails, like a
transaction that was running. SQLAlchemy then replaces all connections."""

SERVER_STATUS_IN_TRANS = 1
"""The flag of an open transaction in the status that MariaDB and MySQL send
with each answer. Source: MariaDB documentation, "OK_Packet"."""

_used_at: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
# A child closes the connections that it has from its parent, and the database
# then closes them for the parent as well.
os.register_at_fork(before=_used_at.clear)


def applicable(connection: str | None,
               options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of oslo.db that apply to this database. The pool for SQLite
    has no timeout. oslo.db ignores the other options of pools for SQLite, but
    an engine with this one cannot be created."""
    return {name: value for name, value in options.items()
            if name != 'pool_timeout'
            or not (connection or '').startswith('sqlite')}


def keep_sqlite(engine: sa.Engine) -> None:
    """Keep connections to a SQLite file open. oslo.db would open the file for
    each transaction, which takes longer than the transaction. A file closes no
    connection, so none is tested."""
    opening = engine.pool
    # Like Engine.dispose(), this keeps the listeners that oslo.db has added to
    # the pool. One of them discards connections that were opened before a
    # fork.
    engine.pool = pool.QueuePool(
        opening._creator, max_overflow=-1, _dispatch=opening.dispatch,
        dialect=opening._dialect)


def test_idle_only(engine: sa.Engine) -> None:
    """Test a connection only if no transaction has used it for ``TRUSTED``
    seconds."""
    answers = engine.dialect.do_ping

    def note_use(connection, _record):
        if connection is not None:
            _used_at[connection] = time.monotonic()

    def is_usable(connection):
        idle = time.monotonic() - _used_at.get(connection, -math.inf)
        return idle < TRUSTED or answers(connection)

    sa.event.listen(engine, 'checkin', note_use)
    engine.dialect.do_ping = is_usable


def roll_back_once(engine: sa.Engine) -> None:
    """Do not send ROLLBACK on a connection without an open transaction.

    Only for PyMySQL, which keeps the status of the last answer. That answer
    belongs to a COMMIT or ROLLBACK, because SQLAlchemy ends each transaction
    with one of them, also after an error. psycopg2 compares the status itself.
    """
    # The listener replaces the rollback of the pool. oslo.db does not pass on
    # the parameter pool_reset_on_return.
    engine.pool._reset_on_return = pool.reset_none
    sa.event.listen(engine, 'reset', _roll_back_open)


def _roll_back_open(connection, _record, state) -> None:
    if state.terminate_only or state.transaction_was_reset:
        return
    if connection.server_status & SERVER_STATUS_IN_TRANS:
        connection.rollback()

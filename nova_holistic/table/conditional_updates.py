# SPDX-License-Identifier: Apache-2.0
"""Conditional changes of rows: each is one statement."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from nova_holistic.table.database import Database, retried
from nova_holistic.table.history.events import Transaction


@retried
def update_rows(database: Database, row: Any, where: Sequence[Any],
                values: Mapping[str, Any]) -> int:
    """Change rows in one statement.

    :param row: class of the rows
    :returns: number of rows that satisfied the conditions and were changed
    """
    with database.link_writer() as transaction:
        return update_in(transaction, row, where, values)


def update_in(transaction: Transaction, row: Any, where: Sequence[Any],
              values: Mapping[str, Any]) -> int:
    """Like ``update_rows``, but in a transaction of the caller."""
    return transaction.execute(
        sa.update(row).where(*where).values(values)
        .execution_options(synchronize_session=False)).rowcount


def returned(attempts: Any, counted: bool) -> Mapping[str, Any]:
    """The new number of attempts of work that an engine returns.

    :param attempts: column with the number of attempts, which contains this
        one
    :param counted: whether this attempt remains counted
    """
    return {} if counted else {attempts.key: attempts - 1}


def without_living_engine(engine: Any, engine_at: Any,
                          stale_before: datetime) -> sa.ColumnElement[bool]:
    """The condition that no engine works on a row, or only an engine without a
    recent heartbeat.

    :param engine: column with the UUID of the engine
    :param engine_at: column with the time of its last heartbeat
    :param stale_before: naive UTC; earlier heartbeats are not recent
    """
    return sa.or_(is_unset(engine), engine_at < stale_before)


def is_unset(column: Any) -> sa.ColumnElement[bool]:
    """The condition that a column of text has no value.

    Databases do not use an index of the column for it. For "is null", SQLite
    does, and reads all rows without work instead of the few rows that another
    condition selects.
    """
    return sa.func.coalesce(column, '') == ''

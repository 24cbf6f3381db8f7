# SPDX-License-Identifier: Apache-2.0
"""The current time of the database, as an SQL expression."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext import compiler
from sqlalchemy.sql import expression


class DatabaseNow(expression.FunctionElement):
    """The current time in naive UTC, with microseconds; on SQLite, with
    milliseconds."""

    type = sa.DateTime()
    inherit_cache = True


@compiler.compiles(DatabaseNow, 'sqlite')
def _of_sqlite(*_: Any, **__: Any) -> str:
    # SQLite compares times as text, so the text needs the same number of
    # digits as the times that SQLAlchemy writes.
    return "(strftime('%Y-%m-%d %H:%M:%f', 'now') || '000')"


@compiler.compiles(DatabaseNow, 'mysql')
@compiler.compiles(DatabaseNow, 'mariadb')
def _of_mysql(*_: Any, **__: Any) -> str:
    return 'UTC_TIMESTAMP(6)'


@compiler.compiles(DatabaseNow, 'postgresql')
def _of_postgresql(*_: Any, **__: Any) -> str:
    return "(clock_timestamp() AT TIME ZONE 'UTC')"

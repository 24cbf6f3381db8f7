# SPDX-License-Identifier: Apache-2.0
"""Times of the database, as SQL expressions."""

import sqlite3
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


class Microseconds(expression.FunctionElement):
    """The microseconds from 1970 to the time of a column, as an integer; 0 if
    there is no time."""

    type = sa.BigInteger()
    inherit_cache = True


def _compiled(template: str) -> Any:
    def text(element: Any, compiler_: Any, **options: Any) -> str:
        return template.format(compiler_.process(element.clauses, **options))
    return text


def sqlite_microseconds(version: tuple[int, ...]) -> str:
    """The expression of a version of SQLite. A group is read for each of its
    servers, and the times of all its members are added up. Since 3.38, SQLite
    has a function that takes half the time of ``strftime``."""
    seconds = ('unixepoch({0})' if version >= (3, 38)
               else "CAST(strftime('%s', {0}) AS INTEGER)")
    return (f'coalesce({seconds} * 1000000'
            ' + CAST(substr({0}, 21) AS INTEGER), 0)')


compiler.compiles(Microseconds, 'sqlite')(_compiled(
    sqlite_microseconds(sqlite3.sqlite_version_info)))
compiler.compiles(Microseconds, 'mysql', 'mariadb')(_compiled(
    "coalesce(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {0}), 0)"))
compiler.compiles(Microseconds, 'postgresql')(_compiled(
    'coalesce(CAST(EXTRACT(EPOCH FROM {0}) * 1000000 AS BIGINT), 0)'))

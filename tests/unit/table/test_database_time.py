# SPDX-License-Identifier: Apache-2.0
"""Times of the database are compared with each other to the microsecond."""

from datetime import datetime, timedelta, timezone
import sqlite3

import pytest
import sqlalchemy as sa

from nova_holistic.table.schema.database_time import (
    DatabaseNow, Microseconds, sqlite_microseconds)

TIMES = [datetime(2026, 11, 28, 22, 59, 59, 999_000),
         datetime(2026, 11, 28, 23), datetime(1970, 1, 1),
         datetime(1969, 12, 31, 23, 59, 58, 1),
         datetime(2028, 2, 29, 12, 30, 15, 123_456)]


def microseconds(time):
    return (time - datetime(1970, 1, 1)) // timedelta(microseconds=1)


@pytest.mark.parametrize('time', TIMES, ids=str)
def test_every_version_of_sqlite_counts_the_same_microseconds(time):
    """The statement for old versions works with the installed one."""
    with sa.create_engine('sqlite://').connect() as link:
        text = time.isoformat(' ', 'microseconds')
        for version in (3, 37, 9), sqlite3.sqlite_version_info:
            found = link.scalar(sa.text('SELECT ' + sqlite_microseconds(
                version).format(':time')), {'time': text})
            assert found == microseconds(time)
        assert link.scalar(sa.select(Microseconds(sa.literal(
            time, sa.DateTime())))) == microseconds(time)


def test_a_missing_time_is_0():
    with sa.create_engine('sqlite://').connect() as link:
        assert link.scalar(sa.select(Microseconds(
            sa.cast(sa.null(), sa.DateTime())))) == 0


def test_the_time_of_sqlite_is_now():
    with sa.create_engine('sqlite://').connect() as link:
        now = link.scalar(sa.select(Microseconds(DatabaseNow())))
    assert abs(now - microseconds(datetime.now(timezone.utc).replace(
        tzinfo=None))) < 60_000_000

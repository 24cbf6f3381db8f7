# SPDX-License-Identifier: Apache-2.0
"""The clock of the database, which all processes that use it share."""

from collections.abc import Callable
from datetime import datetime, timedelta
import math
import threading
import time

from oslo_log import log as logging
from oslo_utils import timeutils
import sqlalchemy as sa

from nova_holistic.table.database import Database
from nova_holistic.table import errors

LOG = logging.getLogger(__name__)

READ_INTERVAL = 60.0
"""Interval in seconds between two reads of the clock of the database."""

REPORTED_DIFFERENCE = timedelta(seconds=1)
"""Maximum change of the difference between the clock of this machine and the
clock of the database that is not logged."""

_NOW = {
    'mysql': 'SELECT UTC_TIMESTAMP(6)',
    'postgresql': "SELECT clock_timestamp() AT TIME ZONE 'UTC'",
    'sqlite': "SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')",
}


class DatabaseClock:
    """Returns the time of the database's clock in naive UTC, so that engines,
    APIs and schedulers on machines with different clocks agree on leases,
    heartbeats and other times.

    Between two reads of the database, a monotonic timer measures the time, so
    that changes to the clock of the machine have no effect. If the database is
    unavailable, the timer continues. Until the first read succeeds, a call
    returns the time of the machine, and every call tries the read again,
    because its caller needs the database anyway. Threads may share an
    instance.
    """

    def __init__(self, database: Database,
                 local: Callable[[], datetime] = timeutils.utcnow,
                 timer: Callable[[], float] = time.monotonic):
        """
        :param local: returns naive UTC by the clock of this machine
        :param timer: returns seconds since any point in time, and never goes
            back
        """
        self._database = database
        self._local = local
        self._timer = timer
        # The time of the database, and the value of the timer at that time.
        self._known: tuple[datetime, float] | None = None
        self._last_read_at = -math.inf
        self._reported = timedelta()
        self._read_lock = threading.Lock()

    def __call__(self) -> datetime:
        known, last_read_at = self._known, self._last_read_at
        if known is None or self._timer() - last_read_at > READ_INTERVAL:
            # One comparison is sufficient; callers wait only for the first
            # result.
            if self._read_lock.acquire(blocking=known is None):
                try:
                    if self._last_read_at == last_read_at:
                        self._compare()
                finally:
                    self._read_lock.release()
        return self._local() if self._known is None else self._now(self._known)

    def _now(self, known: tuple[datetime, float]) -> datetime:
        database_time, read_at = known
        return database_time + timedelta(seconds=self._timer() - read_at)

    def _compare(self) -> None:
        try:
            database_time, before, after = self._read()
        except errors.TableError as error:
            LOG.warning('The clock of the database cannot be read: %s', error)
        else:
            self._update_offset((database_time, (before + after) / 2),
                                timedelta(seconds=after - before))
        self._last_read_at = self._timer()

    def _update_offset(self, found: tuple[datetime, float],
                       took: timedelta) -> None:
        # The duration of the query itself does not count as a difference.
        if self._known is None or abs(
                self._now(found) - self._now(self._known)) > took:
            self._known = found
        ahead = self._local() - self._now(self._known)
        if abs(ahead - self._reported) > REPORTED_DIFFERENCE + took:
            self._reported = ahead
            LOG.warning('The clock of this machine is %.1f s ahead of the '
                        'clock of the database. The clock of the database is '
                        'used.',
                        ahead.total_seconds())

    def _read(self) -> tuple[datetime, float, float]:
        """The time of the database, and the timer before and after the
        query."""
        with self._database.reader() as session:
            # This connects before the timer is read, because connecting may
            # take several attempts.
            question = sa.text(_NOW[session.connection().dialect.name])
            before = self._timer()
            found = session.scalar(question)
            after = self._timer()
        database_time = (datetime.fromisoformat(found) if isinstance(found,
                                                                     str)
                         else found)
        return database_time, before, after

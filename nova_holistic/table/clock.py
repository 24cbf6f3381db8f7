# SPDX-License-Identifier: Apache-2.0
"""The time, as all who share a database have it."""

from collections.abc import Callable
from datetime import datetime, timedelta
import threading
import time

from oslo_log import log as logging
from oslo_utils import timeutils
import sqlalchemy as sa

from nova_holistic.table.database import Database
from nova_holistic.table import errors

LOG = logging.getLogger(__name__)

LOOK_AGAIN = 60.0
"""Seconds between two looks at the clock of the database."""

WORTH_A_WORD = timedelta(seconds=1)
"""By how much a machine's clock may be wrong without anybody being told."""

_NOW = {
    'mysql': 'SELECT UTC_TIMESTAMP(6)',
    'postgresql': "SELECT clock_timestamp() AT TIME ZONE 'UTC'",
    'sqlite': "SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')",
}


class DatabaseClock:
    """Naive UTC by the clock of the database, to which that of this machine
    is corrected: so that leases, signs of life and the like mean the same to
    engines, APIs and schedulers on machines whose clocks differ.

    Where the database does not answer the last correction stays. Threads may
    share one.
    """

    def __init__(self, database: Database,
                 local: Callable[[], datetime] = timeutils.utcnow,
                 timer: Callable[[], float] = time.monotonic):
        """
        :param local: gives naive UTC, as this machine has it
        :param timer: gives seconds since whenever
        """
        self._database = database
        self._local = local
        self._timer = timer
        self._ahead = timedelta()
        self._looked_at: float | None = None
        self._looking = threading.Lock()

    def __call__(self) -> datetime:
        looked_at = self._looked_at
        if looked_at is None or self._timer() - looked_at > LOOK_AGAIN:
            # One is enough; only the first look is waited for.
            if self._looking.acquire(blocking=looked_at is None):
                try:
                    if self._looked_at == looked_at:
                        self._look()
                finally:
                    self._looking.release()
        return self._local() - self._ahead

    def _look(self) -> None:
        try:
            before = self._local()
            there = self._read()
            after = self._local()
        except errors.TableError as error:
            LOG.warning('The clock of the database cannot be read: %s', error)
        else:
            ahead = before + (after - before) / 2 - there
            # What the question itself has taken is no difference.
            if abs(ahead - self._ahead) > after - before:
                self._ahead = ahead
                if abs(ahead) > WORTH_A_WORD:
                    LOG.warning(
                        'The clock of this machine is %.1f s ahead of that '
                        'of the database, by which it is corrected',
                        ahead.total_seconds())
        self._looked_at = self._timer()

    def _read(self) -> datetime:
        with self._database.reader() as session:
            found = session.scalar(sa.text(
                _NOW[session.get_bind().dialect.name]))
        return (datetime.fromisoformat(found) if isinstance(found, str)
                else found)

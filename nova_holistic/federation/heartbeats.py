# SPDX-License-Identifier: Apache-2.0
"""Heartbeats for the groups and plans on which this process works."""

from collections.abc import Callable, Iterator
import contextlib
from datetime import datetime
import threading

from oslo_log import log as logging

from nova_holistic import exceptions
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)


class Heartbeats:
    """Writes heartbeats in a thread. The thread starts with the first work, so
    that the process may fork before, and ends when all work has ended."""

    def __init__(self, table: PlacementTable, owner: Callable[[], str],
                 interval: float,
                 clock: Callable[[], datetime]):
        """
        :param owner: returns the name of this process
        :param interval: seconds between two heartbeats
        :param clock: returns naive UTC
        """
        self._table = table
        self._owner = owner
        self._interval = interval
        self._clock = clock
        self._work: set[tuple[str, str]] = set()
        self._lock = threading.Lock()
        self._ended = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def during(self, kind: str, uuid: str) -> Iterator[None]:
        """The context during which heartbeats for a group or plan are written.

        :param kind: ``group`` or ``plan``
        """
        job = (kind, uuid)
        with self._lock:
            self._work.add(job)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, daemon=True, name='heartbeats')
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._work.discard(job)
                self._ended.notify_all()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._work:
                    self._thread = None
                    return
                self._ended.wait(self._interval)
                work = list(self._work)
            try:
                self._send(work)
            except exceptions.HolisticError as error:
                LOG.warning('Heartbeats are not written: %s', error)

    def _send(self, work: list[tuple[str, str]]) -> None:
        now = self._clock()
        groups = [uuid for kind, uuid in work if kind == 'group']
        plans = [uuid for kind, uuid in work if kind == 'plan']
        if groups:
            self._table.tasks.write_heartbeat(groups, self._owner(), now)
        if plans:
            self._table.plans.write_heartbeat(plans, self._owner(), now)

# SPDX-License-Identifier: Apache-2.0
"""Threads that work on the records of the work queues."""

from collections.abc import Callable, Collection, Mapping
from concurrent import futures
import random
import threading
import time

import futurist
from oslo_log import log as logging

from nova_holistic import crash_points, exceptions
from nova_holistic.engine import errors
from nova_holistic.inventory import received_work
from nova_holistic.service.retries import Job, Retries
from nova_holistic.service.work_queues import WorkQueue

LOG = logging.getLogger(__name__)

WITHIN = 8
"""For each worker, the number of records that have waited longest among which
it chooses."""


class Workers:
    """An engine takes each record in the table before it works on it.

    So a record may be offered twice, or after another engine has taken it.
    """

    def __init__(self, queues: Mapping[str, WorkQueue], count: int,
                 timer: Callable[[], float] = time.monotonic):
        """
        :param queues: work queues by their names
        :param count: maximum number of records that are worked on at the same
            time
        :param timer: returns seconds, for the intervals between attempts
        """
        self._queues = queues
        self._retries = Retries(timer)
        self._count = count
        self._threads = futurist.ThreadPoolExecutor(count)
        self._lock = threading.Lock()
        # When each job was offered last.
        self._offered: dict[Job, float] = {}
        self._at_work: set[Job] = set()
        self._to_poll: set[str] = set()
        # Failed jobs, and whether their attempts count.
        self._to_return: dict[Job, bool] = {}
        self._pending: set[futures.Future] = set()
        self._stopping = threading.Event()

    def offer(self, kind: str, uuid: str) -> None:
        """A record may wait for an engine, for example because a user has
        requested a change. It is also tried if it has failed before."""
        job = (kind, uuid)
        with self._lock:
            if self._stopping.is_set():
                return
            waits = job in self._offered
            self._offered[job] = time.monotonic()
            if waits:
                return
            pending = self._threads.submit(self._serve, job)
            self._pending.add(pending)
        pending.add_done_callback(self._ended)

    def pick_up(self, kinds: Collection[str] | None = None) -> None:
        """Search the table for records without a message. Those that have
        failed are left out until they are due again.

        :param kinds: names of the queues; None means all
        :raises TableError: the table does not answer
        """
        for kind in self._queues if kinds is None else kinds:
            queues = self._queues[kind]
            with self._lock:
                self._to_poll.discard(kind)
            # Delayed records must not keep others out of the search.
            waiting = self._retries.due(kind, queues.waiting(
                WITHIN * self._count + len(self._retries.delayed(kind))))
            begun = min(len(waiting), queues.at_once or 2 * self._count)
            if begun < len(waiting):
                with self._lock:
                    self._to_poll.add(kind)
            # Engines that look at the same time choose different records.
            for uuid in random.sample(waiting, begun):
                self.offer(kind, uuid)

    def send_heartbeats(self) -> None:
        """Write a heartbeat for all records that are worked on.

        :raises TableError: the table does not answer
        """
        with self._lock:
            at_work = set(self._at_work)
        for kind, queues in self._queues.items():
            uuids = [uuid for each, uuid in at_work if each == kind]
            if uuids:
                queues.write_heartbeat(uuids)
        self._return_failed(at_work)

    def return_work(self) -> None:
        """Let other engines do all that this engine has taken.

        :raises TableError: the table does not answer
        """
        self._return_failed(frozenset())
        for queues in self._queues.values():
            queues.return_work()
            crash_points.reached('stop.work-returned')

    def stop(self) -> None:
        """Begin no further work."""
        with self._lock:
            self._stopping.set()
            pending = set(self._pending)
        for task in pending:
            task.cancel()
        self._threads.shutdown(wait=False)

    def wait(self, deadline: float) -> bool:
        """Whether all work has ended at the deadline, after ``stop``.

        :param deadline: by the clock of ``time.monotonic``
        """
        with self._lock:
            pending = set(self._pending)
        return not futures.wait(
            pending, max(0.0, deadline - time.monotonic())).not_done

    def _return_failed(self, except_for: Collection[Job]) -> None:
        with self._lock:
            to_return = dict(self._to_return)
        for job, counted in to_return.items():
            if job not in except_for:
                self._queues[job[0]].return_work(job[1], counted)
                with self._lock:
                    self._to_return.pop(job, None)

    def _ended(self, pending: futures.Future) -> None:
        with self._lock:
            self._pending.discard(pending)

    def _serve(self, job: Job) -> None:
        if self._stopping.is_set():
            return
        try:
            if self._do(job):
                self._continue(job[0])
        except exceptions.HolisticError as error:
            LOG.warning('Work is left in the table for now: %s', error)
        except Exception:
            LOG.exception('The worker continues after an error')

    def _continue(self, kind: str) -> None:
        """Search for the next records after a job of this kind.

        Messages and the periodic poll report all other records. So a queue is
        polled only if its last poll has left records there, or if jobs add
        records to it without a message.
        """
        with self._lock:
            self._to_poll.update(
                self._queues[kind].followed_by & self._queues.keys())
            if self._offered:
                # Another job follows, and polls then.
                return
            kinds = tuple(self._to_poll)
        self.pick_up(kinds)

    def _do(self, job: Job) -> bool:
        """
        :returns: whether there was anything to do
        """
        kind, uuid = job
        queues = self._queues[kind]
        with self._lock:
            # From now on it may be offered again.
            offered_at = self._offered.pop(job)
            if job in self._at_work:
                return False
            self._at_work.add(job)
        try:
            record = queues.take(uuid)
            if record is None:
                return False
            with (queues.context(record).logged(),
                  received_work.received(offered_at)):
                self._finish(job, record)
        finally:
            with self._lock:
                self._at_work.discard(job)
        return True

    def _finish(self, job: Job, record) -> None:
        try:
            self._queues[job[0]].do(record)
        except errors.OwnershipLost as lost:
            LOG.warning('%s %s is left to another engine: %s', *job, lost)
        except exceptions.HolisticError as error:
            self._failed(job, record, error, counted=False)
        except Exception as error:
            # Each attempt may fail with the same error, so the number of
            # attempts is limited. The end of this engine may also cause it.
            self._failed(job, record, error,
                         counted=not self._stopping.is_set())
        else:
            self._retries.succeeded(job)

    def _failed(self, job: Job, record, error: Exception,
                counted: bool) -> None:
        """Repeat the work later. The record belongs to this engine until the
        next heartbeat."""
        first = self._retries.failed(job, error)
        try:
            if first:
                self._queues[job[0]].note_failure(record, error)
        except exceptions.HolisticError as unwritten:
            LOG.warning('The failure of %s %s is only in the log: %s', *job,
                        unwritten)
        finally:
            with self._lock:
                self._to_return[job] = counted

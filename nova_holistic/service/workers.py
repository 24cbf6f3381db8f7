# SPDX-License-Identifier: Apache-2.0
"""Threads that work on the records of the work queues."""

from collections.abc import Mapping
import queue
import random
import threading
import time

from oslo_log import log as logging

from nova_holistic.engine import errors
from nova_holistic import exceptions
from nova_holistic.service.work_queues import WorkQueue

LOG = logging.getLogger(__name__)

Job = tuple[str, str]
"""Name of a work queue, and the UUID of one of its records."""

WITHIN = 8
"""Among how many a worker chooses, of those that have waited longest."""


class Workers:
    """Nothing is done here that was not taken in the table first.

    What somebody told of, and what was found in the table, is the same: it
    may be told of twice, or in vain.
    """

    def __init__(self, queues: Mapping[str, WorkQueue], count: int):
        """
        :param queues: work queues by their names
        :param count: how many are done at once
        """
        self._queues = queues
        self._count = count
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._known: set[Job] = set()
        self._at_work: set[Job] = set()
        self._to_return: set[Job] = set()
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._serve, daemon=True,
                             name=f'worker-{number}')
            for number in range(count)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def offer(self, kind: str, uuid: str) -> None:
        """There may be something to do."""
        job = (kind, uuid)
        with self._lock:
            if self._stopping.is_set() or job in self._known:
                return
            self._known.add(job)
        self._queue.put(job)

    def pick_up(self) -> None:
        """Look for what nobody has told of.

        :raises TableError: the table does not answer
        """
        for kind, queues in self._queues.items():
            waiting = queues.waiting(WITHIN * self._count)
            # Engines that look at once do not all want the same.
            for uuid in random.sample(
                    waiting, min(len(waiting), 2 * self._count)):
                self.offer(kind, uuid)

    def beat(self) -> None:
        """Give a sign of life for all that is being done.

        :raises TableError: the table does not answer
        """
        with self._lock:
            at_work, to_return = set(self._at_work), set(self._to_return)
        for kind, queues in self._queues.items():
            uuids = [uuid for each, uuid in at_work if each == kind]
            if uuids:
                queues.keep(uuids)
        for job in to_return - at_work:
            self._queues[job[0]].hand_back(job[1])
            with self._lock:
                self._to_return.discard(job)

    def stop(self) -> None:
        """Begin nothing new."""
        with self._lock:
            self._stopping.set()
        for _ in self._threads:
            self._queue.put(None)

    def wait(self, deadline: float) -> bool:
        """Whether all is done by then, after ``stop``.

        :param deadline: by the clock of ``time.monotonic``
        """
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _serve(self) -> None:
        while not self._stopping.is_set():
            job = self._queue.get()
            if job is None or self._stopping.is_set():
                return
            try:
                if self._do(job) and self._queue.empty():
                    self.pick_up()
            except exceptions.HolisticError as error:
                LOG.warning('Work is left in the table for now: %s', error)
            except Exception:
                LOG.exception('Worker goes on after a fault')

    def _do(self, job: Job) -> bool:
        """Whether there was anything to do."""
        kind, uuid = job
        queues = self._queues[kind]
        with self._lock:
            # Told of from now on, it is new.
            self._known.discard(job)
            if job in self._at_work:
                return False
            self._at_work.add(job)
        try:
            record = queues.take(uuid)
            if record is None:
                return False
            with queues.context(record).logged():
                self._see_through(job, record)
        finally:
            with self._lock:
                self._at_work.discard(job)
        return True

    def _see_through(self, job: Job, record) -> None:
        try:
            self._queues[job[0]].do(record)
        except errors.OwnershipLost as lost:
            LOG.warning('%s %s is left to another engine: %s', *job, lost)
        except exceptions.HolisticError as error:
            LOG.warning('%s %s is tried again: %s', *job, error)
            with self._lock:
                self._to_return.add(job)
        except Exception:
            LOG.exception('%s %s came to a bad end', *job)
            with self._lock:
                self._to_return.add(job)

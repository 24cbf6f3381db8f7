# SPDX-License-Identifier: Apache-2.0
"""Sends events to the message bus, in its own thread.

The table contains every event. An unavailable message bus blocks no caller:
beyond a limit of waiting events, further events are not sent.

The thread is a daemon thread. With an executor of futurist, the process could
not exit while the bus is unavailable.
"""

import atexit
from collections.abc import Sequence
import os
import queue
import socket
import threading
import time

from oslo_log import log as logging
import oslo_messaging as messaging

from nova_holistic.messaging import transport
from nova_holistic.metrics import instruments
from nova_holistic.notifications import payload
from nova_holistic.table.database import Database
from nova_holistic.table.history.events import Event

LOG = logging.getLogger(__name__)

MAX_WAITING = 10_000
"""Maximum number of events that wait for the bus."""

CLOSE_TIMEOUT = 3.0
"""Seconds for which an exiting process sends the waiting events."""

WARNING_INTERVAL = 60.0
"""Seconds between two warnings that events are not sent."""

OFF = ('', 'noop')
"""Drivers of oslo.messaging that send nothing."""


class Publisher:
    """Called with events, it returns immediately. Threads may share an
    instance."""

    def __init__(self, notifier: messaging.Notifier,
                 waiting: int = MAX_WAITING):
        """
        :param waiting: maximum number of events that wait for the bus
        """
        self._notifier = notifier
        self._waiting = waiting
        self._lock = threading.Lock()
        self._process: int | None = None
        self._warned_at: float | None = None

    def __call__(self, events: Sequence[Event]) -> None:
        self._start()
        for event in events:
            try:
                self._queue.put_nowait(event)
            except queue.Full:
                instruments.NOTIFICATIONS.add(result='dropped')
                self._warn()

    def close(self, timeout: float) -> None:
        """Send the waiting events, until the timeout in seconds has passed."""
        with self._lock:
            if self._process != os.getpid():
                return
        until = time.monotonic() + timeout
        while self._queue.unfinished_tasks and time.monotonic() < until:
            time.sleep(0.01)

    def _start(self) -> None:
        """Start the thread. A forked process starts its own thread."""
        with self._lock:
            if self._process == os.getpid():
                return
            self._queue: queue.Queue[Event] = queue.Queue(self._waiting)
            threading.Thread(target=self._serve, args=(self._queue,),
                             daemon=True, name='notifications').start()
            self._process = os.getpid()

    def _serve(self, waiting: 'queue.Queue[Event]') -> None:
        while True:
            event = waiting.get()
            try:
                # The payload contains the user and the project; the request
                # may have ended.
                self._notifier.info({}, payload.event_type(event),
                                    payload.of_event(event))
                # The drivers of oslo.messaging log their errors, and raise
                # none. So it is not known whether the bus has the event.
                instruments.NOTIFICATIONS.add(result='handed-over')
            except Exception:
                instruments.NOTIFICATIONS.add(result='failed')
                LOG.exception('An event of group %s could not be sent',
                              event.group_uuid)
            finally:
                waiting.task_done()

    def _warn(self) -> None:
        now = time.monotonic()
        if self._warned_at is None or now - self._warned_at > WARNING_INTERVAL:
            self._warned_at = now
            LOG.warning('More than %d events wait for the message bus: '
                        'further events are not sent', self._waiting)


def follow(conf, database: Database, service: str) -> Publisher | None:
    """Publish the events of a database that this process writes.

    :param service: name of the service in the publisher's id
    :returns: None if [oslo_messaging_notifications] driver sends nothing
    :raises BadTransport: there is no such transport
    """
    bus = transport.get_notification_transport(conf)
    if all(driver in OFF
           for driver in conf.oslo_messaging_notifications.driver):
        # The transport has no connection yet. It is not cleaned up, because
        # the in-memory driver would empty the queues of the whole process.
        return None
    publisher = Publisher(messaging.Notifier(
        bus, publisher_id=f'nova-holistic-{service}:{socket.gethostname()}',
        topics=conf.holistic_notifications.topics))
    database.listen(publisher)
    atexit.register(publisher.close, CLOSE_TIMEOUT)
    return publisher

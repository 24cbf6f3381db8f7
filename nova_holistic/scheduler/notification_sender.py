# SPDX-License-Identifier: Apache-2.0
"""Sends notifications of Nova in a thread, so that an answer does not wait for
the message broker."""

from collections.abc import Callable
import queue
import threading

from oslo_log import log as logging

LOG = logging.getLogger(__name__)

MAX_WAITING = 128
"""Number of unsent notifications from which further requests send their own
notifications themselves, as stock Nova does. It bounds the memory, and lets
several requests send at the same time if one thread is too slow for all."""

MAX_STOP_SECONDS = 10.0
"""Maximum time in seconds that the stop of a scheduler waits for the message
broker to accept the unsent notifications."""

Call = Callable[[], None]
"""Sends one notification."""


class NotificationSender:
    """Sends the notifications of one scheduler process in the order of the
    calls. Its thread starts with the first of them, because threads do not
    survive the fork of a worker."""

    def __init__(self) -> None:
        self._calls: 'queue.Queue[Call | None]' = queue.Queue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def has_room(self) -> bool:
        """Whether a request may leave its notifications to the thread."""
        return not self._is_closed and self._calls.qsize() < MAX_WAITING

    def send(self, call: Call) -> None:
        """Let the thread make the call. After ``close``, this thread makes it,
        after all calls before it."""
        with self._lock:
            if not self._is_closed:
                if self._thread is None:
                    self._thread = threading.Thread(
                        target=self._run, name='notifications', daemon=True)
                    self._thread.start()
                self._calls.put(call)
                return
        self._wait()
        call()

    def close(self) -> None:
        """Wait until all notifications are sent, for at most
        ``MAX_STOP_SECONDS``."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._calls.put(None)
        if not self._wait():
            LOG.warning('%d notifications are not sent, because the message '
                        'broker does not accept them', self._calls.qsize())

    def _wait(self) -> bool:
        if self._thread is not None:
            self._thread.join(MAX_STOP_SECONDS)
        return self._thread is None or not self._thread.is_alive()

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            try:
                call()
            except Exception:
                LOG.exception('A notification cannot be sent')

# SPDX-License-Identifier: Apache-2.0
"""Limits the requests of this process to one child, for all users."""

from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
import threading
from typing import Any, TypeVar

from nova_holistic.federation.errors import ChildUnreachable
from nova_holistic.messaging.bounded_calls import BoundedCalls

T = TypeVar('T')


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """The limits of the requests to one child.

    :ivar seconds: time limit of one HTTP request, in addition to the time that
        the child may wait before it answers
    :ivar most_bytes: maximum size of one answer in bytes
    :ivar per_second: average rate limit of requests per second
    :ivar at_once: maximum number of requests at the same time
    :ivar pause: seconds without requests for offers after a child has
        exceeded a time limit, so that it does not delay every group
    """

    seconds: float = 30.0
    most_bytes: int = 16 * 2**20
    per_second: float = 20.0
    at_once: int = 16
    pause: float = 30.0


@dataclass(slots=True)
class Counters:
    """Totals since the process started."""

    requests: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0


class Traffic:
    """Limits the requests to one child. Threads share it.

    :ivar counters: totals of all requests
    """

    def __init__(self, limits: HttpLimits, timer: Callable[[], float],
                 sleep: Callable[[float], None]):
        """
        :param timer: returns seconds since an arbitrary time
        :param sleep: waits for a number of seconds
        """
        self.limits = limits
        self.counters = Counters()
        self.timer = timer
        self._sleep = sleep
        self._lock = threading.Lock()
        self._calls = BoundedCalls(limits.at_once)
        self._running: dict[Hashable, Future[Any]] = {}
        self._next = timer() - 1
        self._paused_until = self._next

    def pause(self, seconds: float) -> None:
        """Wait before the next request."""
        self._sleep(seconds)

    @property
    def is_paused(self) -> bool:
        """Whether the child exceeded a time limit shortly before."""
        return self.timer() < self._paused_until

    def call(self, work: Callable[[], T], seconds: float) -> T:
        """Run one HTTP request within the limits of rate and time.

        :param seconds: time limit
        :raises ChildUnreachable: the time limit or the rate limit is exceeded.
            The child may have carried out the request
        """
        end = self.timer() + seconds
        with self._lock:
            # A request reserves the next free time. As in a token bucket, all
            # requests of one second may follow each other without a wait.
            spacing = 1 / self.limits.per_second
            self._next = max(self._next, self.timer() - 1) + spacing
            wait = self._next - self.timer()
        if wait > seconds:
            raise ChildUnreachable('the rate limit of requests is reached')
        if wait > 0:
            self._sleep(wait)
        try:
            return self._calls(work, max(0.0, end - self.timer()))
        except TimeoutError:
            self._paused_until = self.timer() + self.limits.pause
            raise ChildUnreachable(
                f'no answer within {seconds:g} s') from None
        except Exception:
            # The time limit of the connection may end first.
            if self.timer() >= end:
                self._paused_until = self.timer() + self.limits.pause
            raise

    def count(self, sent: int, received: int) -> None:
        """Add a request to the totals.

        :param sent: number of bytes of the request body
        :param received: number of bytes of the response body
        """
        with self._lock:
            self.counters.requests += 1
            self.counters.bytes_sent += sent
            self.counters.bytes_received += received

    def share(self, key: Hashable, work: Callable[[], T]) -> T:
        """The result of ``work``. If another thread already runs the work for
        the same key, both share the result.

        :param key: contains the identity of the user and the whole request
        """
        with self._lock:
            running = self._running.get(key)
            mine = running is None
            if running is None:
                running = self._running[key] = Future()
        if not mine:
            return running.result()
        try:
            running.set_result(work())
        except BaseException as error:
            running.set_exception(error)
        finally:
            with self._lock:
                del self._running[key]
        return running.result()

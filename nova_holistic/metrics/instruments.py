# SPDX-License-Identifier: Apache-2.0
"""Every counter and timing of the project.

Code that counts an event calls an instrument. Until ``exporter.start`` has
bound it, an instrument does nothing, and prometheus_client need not be
installed.
"""

from collections.abc import Callable, Iterator
import contextlib
import functools
import time
from typing import Any

PREFIX = 'nova_holistic_'

FAST = (.005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30)
"""Upper bounds in seconds for requests."""
SLOW = (.1, .2, .5, 1, 2, 5, 10, 30, 60, 120, 300, 600)
"""Upper bounds in seconds for planning and for passes."""


class Instrument:
    """
    :ivar name: name in Prometheus, without the prefix
    :ivar labels: names of the labels
    """

    def __init__(self, name: str, text: str, *labels: str):
        """:param text: description of the metric"""
        self.name = PREFIX + name
        self.text = text
        self.labels = labels
        self._bound: Any = None

    def bind(self, metric: Any) -> None:
        """:param metric: metric of prometheus_client; None disables the
        instrument"""
        self._bound = metric

    def _with(self, labels: dict[str, str]) -> Any:
        return self._bound.labels(**labels) if labels else self._bound


class Counter(Instrument):
    """The number of occurrences of an event."""

    def add(self, number: int = 1, **labels: str) -> None:
        if self._bound is not None:
            self._with(labels).inc(number)


class Timing(Instrument):
    """The duration of an operation in seconds."""

    def __init__(self, name: str, text: str, *labels: str,
                 buckets: tuple[float, ...] = FAST):
        """:param buckets: upper bounds in seconds"""
        super().__init__(name, text, *labels)
        self.buckets = buckets

    def observe(self, seconds: float, **labels: str) -> None:
        if self._bound is not None:
            self._with(labels).observe(seconds)

    @contextlib.contextmanager
    def timed(self, **labels: str) -> Iterator[None]:
        """Measure the duration of a block, even if it raises an exception."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.observe(time.perf_counter() - begin, **labels)

    def of(self, **labels: str) -> Callable[[Callable], Callable]:
        """Measure each call of a function."""
        def wrap(function: Callable) -> Callable:
            @functools.wraps(function)
            def measured(*args: Any, **kwargs: Any) -> Any:
                with self.timed(**labels):
                    return function(*args, **kwargs)

            return measured

        return wrap


CHANGES = Counter(
    'changes_total', 'Changes of groups and members, as in the history of '
    'groups; an event of many members counts each of them.',
    'kind', 'to_state')
NOTIFICATIONS = Counter(
    'notifications_total', 'Events for the message bus. Those that were '
    'handed over to oslo.messaging may be lost.', 'result')

REQUESTS = Counter(
    'api_requests_total', 'Requests to the API.',
    'method', 'route', 'status')
REQUEST_SECONDS = Timing(
    'api_request_seconds', 'Time of a request to the API, including any wait '
    'that it requested.', 'method', 'route', buckets=FAST + (60, 300))

LOOKUPS = Counter(
    'lookups_total', 'Requests of servers with a pointer, answered by '
    'nova-scheduler.', 'result')
LOOKUP_SECONDS = Timing(
    'lookup_seconds', 'Time of a request of servers with a pointer.')
CLAIMS = Counter(
    'claims_total', 'Claims of members by servers.', 'result')

PLANS = Counter(
    'plans_total', 'Decisions of the solver.', 'outcome')
SOLVE_SECONDS = Timing(
    'solve_seconds', 'Time of a decision of the solver.', 'outcome',
    buckets=SLOW)
SNAPSHOT_SECONDS = Timing(
    'snapshot_seconds', 'Time to read the inventory.', buckets=SLOW)
ALTERNATES_SECONDS = Timing(
    'alternates_seconds', 'Time to choose the alternates of a plan.',
    buckets=SLOW)
SNAPSHOTS = Counter(
    'snapshots_total', 'Snapshots: "complete" ones read everything, "kept" '
    'ones read what has changed.', 'kind')
HOSTS_READ = Counter(
    'hosts_read_total', 'Hosts that were read: because they were reported to '
    'have changed, in the background comparison, or for a complete snapshot.',
    'why')
HOLD_SECONDS = Timing(
    'hold_seconds', 'Time of changes of holds in Placement.', 'operation')
RECONCILER_SECONDS = Timing(
    'reconciler_pass_seconds', 'Time of a pass of the reconciler.',
    buckets=SLOW)
RECONCILED = Counter(
    'reconciled_total', 'Cases that the reconciler has corrected.', 'case')

ALL = tuple(each for each in list(globals().values())
            if isinstance(each, Instrument))

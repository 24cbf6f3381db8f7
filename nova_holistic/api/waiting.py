# SPDX-License-Identifier: Apache-2.0
"""A request waits until the work on a record is finished.

It polls the table, in a separate transaction each time; requests that wait for
groups share these transactions (``pending_groups``). The number of waiting
requests of a process is limited, because each of them occupies a thread of the
server.
"""

from collections.abc import Callable
from typing import TypeVar

from nova_holistic.api.call import Call, Service

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 1.0
"""Limits in seconds of the interval between two reads."""
SHARE = 0.1
"""The interval is this share of the time waited so far, within these limits.
The response is therefore at most a tenth later than possible
(``benchmarks/README.rst``, on the step *answer*)."""

Record = TypeVar('Record')


def wait_until_settled(call: Call, read: Callable[[], Record | None],
                       is_settled: Callable[[Record], bool],
                       is_pending: Callable[[], bool] = lambda: False
                       ) -> tuple[Record | None, bool]:
    """
    :param read: reads the table; returns None if the record no longer exists
    :param is_pending: whether the work continues; it reads less than ``read``,
        which is then called only after the work or the wait has ended
    :returns: the last result of ``read``, and whether the work is finished
    """
    service = call.service
    seconds = min(call.query.get('wait', 0),
                  service.conf.holistic_api.wait_max)
    until, record = service.timer() + seconds, read()
    if not seconds or record is None:
        return record, False
    if is_settled(record):
        return record, True
    if not service.waiters.acquire(blocking=False):
        return record, False
    try:
        return _waited(service, read, is_settled, (is_pending, until))
    finally:
        service.waiters.release()


def _waited(service: Service, read: Callable[[], Record | None],
            is_settled: Callable[[Record], bool],
            limits: tuple[Callable[[], bool], float]
            ) -> tuple[Record | None, bool]:
    """:param limits: ``is_pending``, and the end of the wait by the service's
        timer"""
    is_pending, until = limits
    since = service.timer()
    while True:
        now = service.timer()
        pause = min(max(FIRST_PAUSE, SHARE * (now - since)), LONGEST_PAUSE)
        service.sleep(min(pause, max(0.0, until - now)))
        if service.timer() < until and is_pending():
            continue
        record = read()
        if record is None or is_settled(record):
            return record, record is not None
        if service.timer() >= until:
            return record, False

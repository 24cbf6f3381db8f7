# SPDX-License-Identifier: Apache-2.0
"""A request waits until something in the table is settled.

It looks now and then, in a transaction of its own each time.
"""

from collections.abc import Callable
from typing import TypeVar

from nova_holistic.api.call import Call

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 1.0

Record = TypeVar('Record')


def settled(call: Call, read: Callable[[], Record | None],
            done: Callable[[Record], bool]) -> tuple[Record | None, bool]:
    """
    :param read: looks into the table; None for what is not there any more
    :returns: what was read last, and whether it is done
    """
    service = call.service
    seconds = min(call.query.get('wait', 0),
                  service.conf.holistic_api.wait_max)
    until, pause = service.timer() + seconds, FIRST_PAUSE
    while True:
        record = read()
        if record is None or (seconds and done(record)):
            return record, record is not None
        left = until - service.timer()
        if left <= 0:
            return record, False
        service.sleep(min(pause, left))
        pause = min(2 * pause, LONGEST_PAUSE)

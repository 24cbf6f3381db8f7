# SPDX-License-Identifier: Apache-2.0
"""Asking again until something has come about."""

from collections.abc import Callable
import time
from typing import Any

from nova_holistic.client import errors

LONGEST = 2.0
"""Seconds between two questions at most."""


def until(ask: Callable[[], Any], settled: Callable[[Any], bool],
          timeout: float, told: Callable[[Any], None] | None = None) -> Any:
    """The first answer that is settled.

    Questions come less and less often, so that many clients that wait do not
    keep the API busy. One that finds nobody to answer it is asked again.

    :param timeout: seconds
    :param told: is given each answer, e.g. for a progress bar
    :raises TimedOut: after the timeout
    """
    end = time.monotonic() + timeout
    pause = 0.1
    while True:
        unanswered = ''
        try:
            found = ask()
        except errors.Refused as error:
            if not error.passing:
                raise
            unanswered = f'; at last, {error}'
        else:
            if told is not None:
                told(found)
            if settled(found):
                return found
        left = end - time.monotonic()
        if left <= 0:
            raise errors.TimedOut(
                f'not settled within {timeout:g} s{unanswered}')
        time.sleep(min(pause, left))
        pause = min(LONGEST, pause * 1.5)

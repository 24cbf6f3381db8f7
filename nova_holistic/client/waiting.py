# SPDX-License-Identifier: Apache-2.0
"""Repeat a request until the answer is final."""

from collections.abc import Callable
import time
from typing import Any

from nova_holistic.client import errors

LONGEST = 2.0
"""Maximum interval in seconds between two requests."""


def poll_until(ask: Callable[[], Any], settled: Callable[[Any], bool],
               timeout: float,
               report: Callable[[Any], None] | None = None) -> Any:
    """The first final answer.

    The interval grows, so that many waiting clients do not overload the API. A
    request is repeated if the service is unavailable.

    :param timeout: seconds
    :param report: called with each answer, e.g. for a progress bar
    :raises TimedOut: after the timeout
    """
    end = time.monotonic() + timeout
    pause = 0.1
    while True:
        unanswered, earliest = '', 0
        try:
            response = ask()
        except errors.Refused as error:
            if not error.is_repeatable:
                raise
            unanswered = f'; last error: {error}'
            earliest = error.retry_after
        else:
            if report is not None:
                report(response)
            if settled(response):
                return response
        remaining = end - time.monotonic()
        if remaining <= 0:
            raise errors.TimedOut(
                f'not finished within {timeout:g} s{unanswered}')
        time.sleep(min(max(pause, earliest), remaining))
        pause = min(LONGEST, pause * 1.5)

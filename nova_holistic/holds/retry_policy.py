# SPDX-License-Identifier: Apache-2.0
"""When a change is sent to Placement again.

Placement refuses a change with 409 if others change the same consumers or
resource providers at that moment. The wait before each further attempt is
random, and its limit doubles: requests that collided do not collide again.
"""

from collections.abc import Callable
import itertools
import time

import tenacity

ATTEMPTS = 5
"""Attempts at one change."""
FIRST_WAIT = 0.05
"""Longest wait after the first attempt, in seconds."""
LONGEST_WAIT = 1.0
"""Longest wait after any attempt, in seconds."""

Sleep = Callable[[float], None]


def retry_until_success(attempt: Callable[[], bool],
                        sleep: Sleep = time.sleep) -> bool:
    """Repeat an attempt until it succeeds, at most ``ATTEMPTS`` times.

    An exception of the attempt ends the repetition.

    :param attempt: returns whether it succeeded
    :param sleep: waits for a number of seconds
    :returns: False if all attempts failed
    """
    if attempt():
        # The first attempt usually succeeds: no retries are prepared.
        return True
    outcomes = itertools.chain([False], iter(attempt, None))
    return tenacity.Retrying(
        sleep=sleep, stop=tenacity.stop_after_attempt(ATTEMPTS),
        wait=tenacity.wait_random_exponential(
            multiplier=FIRST_WAIT, max=LONGEST_WAIT),
        retry=tenacity.retry_if_result(_failed),
        retry_error_callback=_no_more_attempts)(outcomes.__next__)


def _failed(succeeded: bool) -> bool:
    return not succeeded


def _no_more_attempts(state: tenacity.RetryCallState) -> bool:
    return False

# SPDX-License-Identifier: Apache-2.0
"""Retries of changes in Placement.

Placement refuses a change with 409 if other requests change the same consumers
or resource providers at the same time. The wait before each retry is random,
and its maximum doubles, so that conflicting requests are unlikely to conflict
again.
"""

from collections.abc import Callable
import itertools
import time

import tenacity

from nova_holistic.holds import errors

ATTEMPTS = 5
"""Maximum number of attempts at one change."""
FIRST_WAIT = 0.05
"""Maximum wait after the first attempt, in seconds."""
LONGEST_WAIT = 1.0
"""Maximum wait after any attempt, in seconds."""

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
        # The first attempt usually succeeds, and then needs no Retrying
        # object.
        return True
    outcomes = itertools.chain([False], iter(attempt, None))
    return tenacity.Retrying(
        sleep=sleep, stop=tenacity.stop_after_attempt(ATTEMPTS),
        wait=tenacity.wait_random_exponential(
            multiplier=FIRST_WAIT, max=LONGEST_WAIT),
        retry=tenacity.retry_if_result(_failed),
        retry_error_callback=_no_more_attempts)(outcomes.__next__)


def retry_or_raise(attempt: Callable[[], bool], sleep: Sleep) -> None:
    """Repeat an attempt as ``retry_until_success`` does.

    :raises HoldsError: all attempts failed, because other requests changed
        the same hosts
    """
    if not retry_until_success(attempt, sleep):
        raise errors.HoldsError(
            'Placement refused every attempt because of concurrent changes to '
            'the hosts')


def _failed(succeeded: bool) -> bool:
    return not succeeded


def _no_more_attempts(state: tenacity.RetryCallState) -> bool:
    return False

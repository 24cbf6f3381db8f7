# SPDX-License-Identifier: Apache-2.0
"""What is waited for is looked at until it is there, never for a while."""

from collections.abc import Callable
import time
from typing import TypeVar

WAIT_SECONDS = 300
"""Seconds after which a wait fails; far more than a busy machine needs."""

Found = TypeVar('Found')


class WaitTimeout(Exception):
    """What is waited for does not come."""


def wait_for(what: str, condition: Callable[[], Found],
             wait_seconds: float = WAIT_SECONDS, pause: float = 0.1) -> Found:
    """The first true answer of the condition.

    :raises WaitTimeout: there is none in so many seconds
    """
    until = time.monotonic() + wait_seconds
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(pause)
    raise WaitTimeout(f'{what}: not in {wait_seconds} s')

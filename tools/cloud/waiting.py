# SPDX-License-Identifier: Apache-2.0
"""Wait for a condition instead of for a fixed time."""

from collections.abc import Callable
import time
from typing import TypeVar

WAIT_SECONDS = 300
"""Seconds after which a wait fails. A busy machine needs far less."""

Value = TypeVar('Value')


class WaitTimeout(Exception):
    """A condition did not become true in time."""


def wait_for(description: str, condition: Callable[[], Value],
             wait_seconds: float = WAIT_SECONDS, pause: float = 0.1) -> Value:
    """Return the first true value of the condition.

    :raises WaitTimeout: the condition is not true within ``wait_seconds``
    """
    until = time.monotonic() + wait_seconds
    while time.monotonic() < until:
        value = condition()
        if value:
            return value
        time.sleep(pause)
    raise WaitTimeout(f'{description}: not in {wait_seconds} s')

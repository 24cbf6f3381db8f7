# SPDX-License-Identifier: Apache-2.0
"""What is waited for is looked at until it is there, never for a while."""

from collections.abc import Callable
import time
from typing import TypeVar

PATIENCE = 120
"""Seconds after which what should be there is at fault."""

Found = TypeVar('Found')


class NotThere(Exception):
    """What is waited for does not come."""


def wait_for(what: str, condition: Callable[[], Found],
             patience: float = PATIENCE, pause: float = 0.1) -> Found:
    """The first true answer of the condition.

    :raises NotThere: there is none in so many seconds
    """
    until = time.monotonic() + patience
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(pause)
    raise NotThere(f'{what}: not in {patience} s')

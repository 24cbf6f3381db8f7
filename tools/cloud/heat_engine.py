# SPDX-License-Identifier: Apache-2.0
"""heat-engine with shorter pauses.

Heat waits a second between two requests for the state of a server or of a
nested stack, and after each resource that it starts first. No option changes
these pauses, which would be most of the time of a small stack. All other code
is Heat's.
"""

import time

from heat.cmd import engine
from heat.engine import scheduler

PAUSE = 0.5
"""Seconds in place of one second."""


def _sleep(_task: scheduler.TaskRunner, seconds: float | None) -> None:
    time.sleep(min(seconds or 0, PAUSE))


if __name__ == '__main__':
    scheduler.ENABLE_SLEEP = False
    scheduler.TaskRunner._sleep = _sleep
    engine.main()

# SPDX-License-Identifier: Apache-2.0
"""Named points at which a process can be killed, for tests of crashes.

The table and Placement are two databases, so no change of both is atomic.
There is a point between every two writes that outlive the process. If the
environment variable ``NOVA_HOLISTIC_CRASH_POINT`` is ``name`` or ``name:n``
when this module is imported, the process kills itself with SIGKILL when it
reaches that point for the n-th time.
"""

import os
import signal

from nova_holistic.crash_point_names import POINTS

VARIABLE = 'NOVA_HOLISTIC_CRASH_POINT'


class _Armed:
    """The point at which this process crashes."""

    def __init__(self, setting: str):
        """
        :raises SystemExit: the variable does not name a point
        """
        self.name, colon, number = setting.partition(':')
        if self.name not in POINTS:
            raise SystemExit(
                f'{VARIABLE}: there is no crash point {self.name!r}')
        if colon and not (number.isascii() and number.isdecimal()
                          and int(number)):
            raise SystemExit(
                f'{VARIABLE}: {number!r} is not a positive number')
        self._left = int(number or 1)

    def reached(self, name: str) -> None:
        if name == self.name:
            self._left -= 1
            if not self._left:
                os.kill(os.getpid(), signal.SIGKILL)


_armed = _Armed(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None


def reached(name: str) -> None:
    """The process is at this point; it ends here if the point is armed.

    :param name: one of ``POINTS``
    """
    if _armed is not None:
        _armed.reached(name)

# SPDX-License-Identifier: Apache-2.0
"""A process that is killed between two of its external calls."""


class ProcessKilled(BaseException):
    """Raised by each call of a killed process."""


class CallBudget:
    """A number of calls that succeed. The next call, and all later ones, are
    never carried out.

    :ivar over: whether the process was killed
    """

    def __init__(self, calls):
        self._left = calls
        self.over = False

    def spend(self):
        self.over = self.over or self._left == 0
        if self.over:
            raise ProcessKilled
        self._left -= 1

    def end(self):
        """Kill the process now."""
        self.over = True
        raise ProcessKilled


class KillableProxy:
    """An object whose method calls, including those of its parts, count as
    external calls."""

    def __init__(self, life, thing):
        self._life = life
        self._thing = thing

    def __getattr__(self, name):
        method = getattr(self._thing, name)
        if not callable(method):
            return KillableProxy(self._life, method)

        def call(*args, **kwargs):
            self._life.spend()
            return method(*args, **kwargs)

        return call

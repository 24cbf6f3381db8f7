# SPDX-License-Identifier: Apache-2.0
"""A process that dies between two of its calls to the world outside."""


class ProcessKilled(BaseException):
    """What kill -9 looks like from inside: no call succeeds any more."""


class CallBudget:
    """Lasts for so many calls; whatever is called then, and later, is never
    carried out.

    :ivar over: the process died
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
        """Die now."""
        self.over = True
        raise ProcessKilled


class KillableProxy:
    """An object all of whose methods, and those of its parts, are calls to
    the world outside."""

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

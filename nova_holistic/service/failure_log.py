# SPDX-License-Identifier: Apache-2.0
"""Log messages about a call that is repeated until it succeeds.

A service that is down for an hour must not fill the log with the same line.
"""

from collections.abc import Callable
import time

from oslo_log import log as logging
import tenacity

from nova_holistic import exceptions

LOG = logging.getLogger(__name__)

FIRST_INTERVAL = 10.0
"""Seconds between the first message about failures and the second one."""
LONGEST_INTERVAL = 600.0
"""Maximum interval in seconds between two messages."""

_INTERVAL = tenacity.wait_exponential(
    multiplier=FIRST_INTERVAL, max=LONGEST_INTERVAL)


class FailureLog:
    """The first failure is logged, then failures at intervals that double, and
    finally the first success. An error of another type is logged immediately.

    For one thread at a time.
    """

    def __init__(self, name: str, timer: Callable[[], float] = time.monotonic):
        """
        :param name: of the call
        :param timer: returns seconds
        """
        self._name = name
        self._timer = timer
        self._reset()

    def _reset(self) -> None:
        self._failures = 0
        self._types: set[type[Exception]] = set()
        self._next = 0.0
        # Its number of attempts is the number of messages.
        self._state = tenacity.RetryCallState(
            tenacity.Retrying(), None, (), {})

    def failed(self, error: Exception) -> None:
        """The call has failed."""
        self._failures += 1
        now = self._timer()
        if type(error) in self._types and now < self._next:
            return
        self._types.add(type(error))
        self._next = now + _INTERVAL(self._state)
        self._state.attempt_number += 1
        if isinstance(error, exceptions.HolisticError):
            LOG.warning('"%s" failed (%d times in a row) and is repeated '
                        'later: %s', self._name, self._failures, error)
        else:
            LOG.error('"%s" failed (%d times in a row) and is repeated later',
                      self._name, self._failures, exc_info=error)

    def succeeded(self) -> None:
        """The call has succeeded."""
        if self._failures:
            LOG.info('"%s" succeeds again, after %d failures', self._name,
                     self._failures)
            self._reset()

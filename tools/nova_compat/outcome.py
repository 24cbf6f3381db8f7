# SPDX-License-Identifier: Apache-2.0
"""The outcome of one test on one manager."""

from dataclasses import dataclass

NOT_RUN = 'not run'
"""The outcome of a test that was interrupted or did not start."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one test.

    :ivar test: ID of the test: module, class and method
    :ivar outcome: ``passed``, ``failed``, ``error``, ``skipped``, ``expected
        failure``, ``unexpected success`` or ``not run``
    :ivar seconds: duration of the test
    :ivar details: log and traceback of a test that did not pass
    """

    test: str
    outcome: str
    seconds: float = 0.0
    details: str = ''

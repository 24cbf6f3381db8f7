# SPDX-License-Identifier: Apache-2.0
"""Counts and times what the solver decides."""

from collections.abc import Iterator
import contextlib
import time

from nova_holistic.metrics import instruments
from nova_holistic.model.plan import Plan, Unknown, Unplaceable

OUTCOMES = {Plan: 'planned', Unplaceable: 'unplaceable', Unknown: 'unknown'}


class Outcome:
    """
    :ivar name: error until the solver has answered
    """

    def __init__(self):
        self.name = 'error'

    def of(self, answer: Plan | Unplaceable | Unknown,
           ) -> Plan | Unplaceable | Unknown:
        """Remember what the answer is; returns the answer."""
        self.name = OUTCOMES[type(answer)]
        return answer


@contextlib.contextmanager
def measured() -> Iterator[Outcome]:
    """Measure one decision, also if the solver raises."""
    begin, outcome = time.perf_counter(), Outcome()
    try:
        yield outcome
    finally:
        instruments.PLANS.add(outcome=outcome.name)
        instruments.SOLVE_SECONDS.observe(
            time.perf_counter() - begin, outcome=outcome.name)

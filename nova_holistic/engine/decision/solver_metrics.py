# SPDX-License-Identifier: Apache-2.0
"""Metrics of the solver: numbers and durations of its results."""

from collections.abc import Iterator
import contextlib
from dataclasses import replace
import time
from typing import TypeVar

from nova_holistic.metrics import instruments
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.plan import Plan, Unknown, Unplaceable

Solved = TypeVar('Solved', Plan, Unplaceable, Unknown)

OUTCOMES = {Plan: 'planned', Unplaceable: 'unplaceable', Unknown: 'unknown'}


class Outcome:
    """The outcome of one run of the solver, as a label of metrics.

    :ivar name: ``error`` until the solver has returned
    """

    def __init__(self):
        self.name = 'error'

    def of(self, answer: Plan | Unplaceable | Unknown,
           ) -> Plan | Unplaceable | Unknown:
        """Record the kind of the result, and return the result."""
        self.name = OUTCOMES[type(answer)]
        return answer


@contextlib.contextmanager
def measured() -> Iterator[Outcome]:
    """Measure one run of the solver, even if the solver raises an error."""
    begin, outcome = time.perf_counter(), Outcome()
    try:
        yield outcome
    finally:
        instruments.PLANS.add(outcome=outcome.name)
        instruments.SOLVE_SECONDS.observe(
            time.perf_counter() - begin, outcome=outcome.name)


def with_seconds(answer: Solved, snapshot: float) -> Solved:
    """The result with the duration of reading the snapshot.

    :param snapshot: duration in seconds
    """
    total = answer.seconds.get('total', 0.0) + snapshot
    return replace(answer, seconds=FrozenMapping(
        {**answer.seconds, 'snapshot': snapshot, 'total': total}))

# SPDX-License-Identifier: Apache-2.0
"""Deadlines and tasks for tests that call parts of the solver directly."""

from nova_holistic.solver.milp.backend import load_backend
from nova_holistic.solver.milp.task import Task
from nova_holistic.solver.problem.deadline import Deadline
from tests.unit.solver.clocks import standing


def in_time(limit=60.0):
    """Return a deadline that never expires. Backends may use ``limit``
    seconds."""
    return Deadline(standing, limit)


def task(known, limit=60.0):
    """Return a task to improve the incumbent, which has time until its end."""
    return Task(known, load_backend('highs'), in_time(limit))

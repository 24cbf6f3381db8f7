# SPDX-License-Identifier: Apache-2.0
"""Deadlines for tests that call parts of the solver themselves."""

from nova_holistic.solver.problem.deadline import Deadline
from tests.unit.solver.clocks import standing


def in_time(limit=60.0):
    """A deadline that is never reached; solvers may take that many seconds.
    """
    return Deadline(standing, limit)

# SPDX-License-Identifier: Apache-2.0
"""Deadlines for tests that call parts of the solver directly."""

from nova_holistic.solver.problem.deadline import Deadline
from tests.unit.solver.clocks import standing


def in_time(limit=60.0):
    """Return a deadline that never expires. Backends may use ``limit``
    seconds."""
    return Deadline(standing, limit)

# SPDX-License-Identifier: Apache-2.0
"""Bounds that one phase of the solver proves alone."""

from nova_holistic.model.binding import bind
from nova_holistic.objectives import load_objective
from nova_holistic.solver.problem.incumbent import Incumbent
from tests.unit.solver.internal.deadlines import in_time


def unlimited_bound(prove, wanted, snapshot, placed, objective):
    """Return the unrounded bound of all plans with any cost of preferences.

    :param prove: a phase; takes an incumbent and a deadline
    """
    return _bounds(prove, wanted, snapshot, placed, objective).at(float('inf'))


def preferred_bound(prove, wanted, snapshot, placed, objective):
    """Return the unrounded bound of all plans that violate no preference."""
    return _bounds(prove, wanted, snapshot, placed, objective).at(0)


def _bounds(prove, wanted, snapshot, placed, objective):
    reduced = snapshot.without_servers(placed.values())
    known = Incumbent(bind(wanted, reduced), reduced, placed,
                      load_objective(objective), 0.01)
    prove(known, in_time())
    return known._bounds

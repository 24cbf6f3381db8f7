# SPDX-License-Identifier: Apache-2.0
"""Programs given to HiGHS as arrays."""

import numpy as np
import pytest

from nova_holistic.solver.backend import Status
from nova_holistic.solver.linear import Linear


def given(*entries):
    """Cheapest x and y of up to 10 with one row of at least 6."""
    program = Linear(np.array([1.0, 3.0]), np.array([10.0, 10.0]))
    columns, values = zip(*entries)
    program.add(np.zeros(len(entries)), np.array(columns), np.array(values),
                6.0, np.inf, 1)
    return program


def test_what_is_added_to_one_place_twice_is_there_as_its_sum():
    program = given((0, 1.0), (1, 2.0), (0, 2.0))
    assert program.loaded().getNumNz() == 2
    outcome, values = program.solve(10.0)
    assert outcome.status is Status.OPTIMAL
    assert values == pytest.approx([2.0, 0.0])


def test_what_comes_to_nothing_is_not_there():
    program = given((0, 1.0), (1, 2.0), (0, -1.0))
    assert program.loaded().getNumNz() == 1
    outcome, values = program.solve(10.0)
    assert outcome.status is Status.OPTIMAL
    assert values == pytest.approx([0.0, 3.0])

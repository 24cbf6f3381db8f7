# SPDX-License-Identifier: Apache-2.0
"""Programs that are passed to HiGHS as arrays."""

import numpy as np
import pytest

from nova_holistic.solver.milp.backend import Status
from nova_holistic.solver.milp.linear import Linear


def given(*entries):
    """Return a program that minimises x + 3 y, with x and y up to 10 and one
    row of at least 6.

    :param entries: (column, coefficient) of the row
    """
    program = Linear(np.array([1.0, 3.0]), np.array([10.0, 10.0]))
    columns, values = zip(*entries)
    program.add(np.zeros(len(entries)), np.array(columns), np.array(values),
                6.0, np.inf, 1)
    return program


def test_entries_at_the_same_position_are_summed():
    program = given((0, 1.0), (1, 2.0), (0, 2.0))
    assert program.loaded().getNumNz() == 2
    outcome, values = program.solve(10.0)
    assert outcome.status is Status.OPTIMAL
    assert values == pytest.approx([2.0, 0.0])


def test_entries_that_sum_to_zero_are_dropped():
    program = given((0, 1.0), (1, 2.0), (0, -1.0))
    assert program.loaded().getNumNz() == 1
    outcome, values = program.solve(10.0)
    assert outcome.status is Status.OPTIMAL
    assert values == pytest.approx([0.0, 3.0])


@pytest.mark.parametrize('least, proved', [(20.0, False), (21.0, True)])
def test_a_program_without_a_solution_is_proved_to_have_none(least, proved):
    program = given((0, 1.0), (1, 1.0))
    program.add_row([(np.arange(2), 1.0)], least, np.inf)
    assert program.is_impossible(10.0) is proved

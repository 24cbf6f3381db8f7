# SPDX-License-Identifier: Apache-2.0
"""Dual bounds of linear programs are valid for any multipliers, exactly."""

from fractions import Fraction
import random

import highspy
import numpy as np
import pytest

from nova_holistic.solver.milp.backend import Status
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.milp.weak_duality import DualProgram

SIZE, ROWS = 6, 4
NUMBERS = (0.1, 0.7, 1.0, 1 / 3, 1e6, 1e-6, 123456.789)


def _program(chance):
    """Return a random program with coefficients of any magnitude, and a
    solution that satisfies its rows."""
    matrix = np.array([[chance.choice((0.0, 1.0, -1.0)) * chance.choice(
        NUMBERS) for _ in range(SIZE)] for _ in range(ROWS)])
    cost = np.array([chance.uniform(-1, 1) * chance.choice(NUMBERS)
                     for _ in range(SIZE)])
    solution = np.array([chance.choice((0.0, 0.1, 3.3, 7.0))
                         for _ in range(SIZE)])
    rows, columns = np.nonzero(matrix)
    activity = [_exact_sum(row, solution) for row in matrix]
    least = np.array([np.nextafter(float(a), -np.inf) if chance.random() < 0.7
                      else -np.inf for a in activity])
    most = np.array([np.nextafter(float(a), np.inf) if chance.random() < 0.7
                     else np.inf for a in activity])
    return DualProgram(cost, rows, columns, matrix[rows, columns],
                       least, most), solution


def _exact_sum(factors, values):
    return sum((Fraction(f) * Fraction(v) for f, v in zip(
        factors.tolist(), values.tolist())), Fraction(0))


def test_no_multipliers_prove_more_than_a_solution_costs():
    proved = 0
    for seed in range(300):
        chance = random.Random(seed)
        program, solution = _program(chance)
        duals = np.array([chance.uniform(-2, 2) * chance.choice(NUMBERS)
                          for _ in range(ROWS)])
        # With limits equal to the solution, rounding has no tolerance.
        bound = program.bound(duals, solution, solution)
        cost = _exact_sum(program.cost, solution)
        assert Fraction(bound) <= cost
        proved += bound > float(cost) - 1e-3 * (1 + abs(float(cost)))
        assert Fraction(program.bound(
            duals, np.zeros(SIZE), np.full(SIZE, 7.0))) <= cost
    assert proved > 30


def test_a_variable_without_a_limit_proves_nothing():
    program = DualProgram(
        np.array([1.0]), np.array([0]), np.array([0]), np.array([1.0]),
        np.array([3.0]), np.array([np.inf]))
    no_limit = np.array([0.0]), np.array([np.inf])
    assert program.bound(np.array([2.0]), *no_limit) is None
    assert program.bound(np.array([0.5]), *no_limit) == pytest.approx(1.5)


@pytest.mark.parametrize('excess, proved', [
    (1e-12, False), (1e-3, True)])
def test_a_rounded_coefficient_is_no_proof_that_no_solution_exists(
        excess, proved):
    program = DualProgram(
        np.array([5.0]), np.array([0]), np.array([0]), np.array([1.0]),
        np.array([3.0 + excess]), np.array([np.inf]))
    limits = np.array([0.0]), np.array([3.0])
    assert program.is_impossible(np.array([2.0]), *limits) is proved
    assert not program.is_impossible(np.array([-2.0]), *limits)


def test_a_linear_program_is_bounded_by_its_multipliers(monkeypatch):
    """The bound does not depend on the objective value that the solver
    reports."""
    program = Linear(np.array([1.0, 3.0]), np.array([10.0, 10.0]))
    program.add(np.zeros(2), np.array([0, 1]), np.array([1.0, 1.0]),
                12.0, np.inf, 1)
    monkeypatch.setattr(highspy.HighsInfo, 'objective_function_value',
                        property(lambda info: 99.0), raising=False)
    outcome, values = program.solve(10.0)
    assert outcome.status is Status.OPTIMAL
    assert values == pytest.approx([10.0, 2.0])
    assert outcome.bound == pytest.approx(16.0)
    assert outcome.bound <= 16.0

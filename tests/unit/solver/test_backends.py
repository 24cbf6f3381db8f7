# SPDX-License-Identifier: Apache-2.0
"""All backends have equal results for small programs. They write no output
and no temporary files."""

import os
import tempfile

import highspy
import pulp
import pytest

from nova_holistic.solver.milp.backend import load_backend, Outcome, Status

SOLVERS = ('highs', 'cbc')


def _knapsack():
    """Return a knapsack of capacity 10 with three items, as a minimization
    with optimum -13 + 100, and the variables of the items."""
    problem = pulp.LpProblem('bag')
    things = [problem.add_variable(f't{n}', 0, 1, pulp.LpInteger)
              for n in range(3)]
    problem.addConstraint(pulp.LpAffineExpression(
        list(zip(things, (6, 5, 5)))) <= 10)
    problem.setObjective(pulp.LpAffineExpression(
        list(zip(things, (-8, -6, -7))), constant=100))
    return problem, things


@pytest.mark.parametrize('solver', SOLVERS)
def test_an_optimum_is_found_and_proved(solver):
    problem, things = _knapsack()
    outcome = load_backend(solver).solve(problem, seconds=10, gap=0)
    assert outcome.status is Status.OPTIMAL
    assert [round(t.varValue) for t in things] == [0, 1, 1]
    assert outcome.bound == pytest.approx(87)


@pytest.mark.parametrize('solver', SOLVERS)
def test_a_start_solution_is_improved(solver):
    problem, things = _knapsack()
    outcome = load_backend(solver).solve(
        problem, seconds=10, gap=0, start={things[0]: 1, things[1]: 0})
    assert outcome.status is Status.OPTIMAL
    assert [round(t.varValue) for t in things] == [0, 1, 1]


STEPS = {'h0': [(0.25, 0.2), (1, 0.25)],
         'h1': [(18 / 49, (2 * n + 1) / 13) for n in range(7)],
         'h2': [(0.6, 0.52), (0.6, 0.61)]}
"""Width and cost of each step of the piecewise linear cost of a host."""


def _fill(steps, load):
    """The cost of a load."""
    cost = 0.0
    for width, price in steps:
        used = min(load, width)
        cost, load = cost + used * price, load - used
    return cost


@pytest.mark.parametrize('solver', SOLVERS)
def test_the_optimum_of_piecewise_linear_costs_is_proved(solver):
    """Two members use h1. A third member uses one of three hosts."""
    problem = pulp.LpProblem('steps')
    pair = problem.add_variable('pair', 0, 2, pulp.LpInteger)
    third = {host: problem.add_variable(f'third-{host}', 0, 1, pulp.LpInteger)
             for host in STEPS}
    problem.addConstraint(pair == 2)
    problem.addConstraint(pulp.lpSum(third.values()) == 1)
    costs = []
    for host, steps in STEPS.items():
        used = [problem.add_variable(f'{host}-{n}', 0, width)
                for n, (width, _) in enumerate(steps)]
        load = pair + 27 / 49 * third[host] if host == 'h1' else third[host]
        problem.addConstraint(pulp.lpSum(used) == load)
        costs += [price * step for step, (_, price) in zip(
            used, steps, strict=True)]
    problem.setObjective(pulp.lpSum(costs))
    outcome = load_backend(solver).solve(problem, seconds=10, gap=0)
    best = min(_fill(STEPS['h1'], 2) + _fill(STEPS['h0'], 1),
               _fill(STEPS['h1'], 2) + _fill(STEPS['h2'], 1),
               _fill(STEPS['h1'], 2 + 27 / 49))
    assert outcome.status is Status.OPTIMAL
    assert pulp.value(problem.objective) == pytest.approx(best)
    assert outcome.bound == pytest.approx(best, abs=1e-3)


@pytest.mark.parametrize('solver', SOLVERS)
def test_infeasibility_is_proved(solver):
    problem, things = _knapsack()
    problem.addConstraint(pulp.LpAffineExpression(
        [(t, 1) for t in things]) >= 3)
    outcome = load_backend(solver).solve(problem, seconds=10, gap=0)
    assert outcome.status is Status.INFEASIBLE
    assert not outcome.solved


@pytest.mark.parametrize('solver', SOLVERS)
def test_a_violated_row_without_variables_proves_infeasibility(solver):
    problem, _ = _knapsack()
    problem.addConstraint(pulp.LpAffineExpression(constant=1.0) <= 0)
    outcome = load_backend(solver).solve(problem, seconds=10, gap=0)
    assert outcome.status is Status.INFEASIBLE


@pytest.mark.parametrize('solver', SOLVERS)
@pytest.mark.parametrize('seconds', [0, -1.5])
def test_without_time_nothing_is_solved(solver, seconds):
    """HiGHS solves so small a program before it checks its time limit.
    Therefore a limit of 0 or less must not call HiGHS at all."""
    problem, things = _knapsack()
    outcome = load_backend(solver).solve(problem, seconds=seconds, gap=0)
    assert outcome == Outcome(Status.NOTHING)
    assert [t.varValue for t in things] == [None] * 3


def test_infeasibility_without_time_to_confirm_it_is_no_proof(monkeypatch):
    """HiGHS reports infeasibility of numbers within its tolerance. The backend
    solves again to confirm, and reports nothing if the time is over."""
    problem, things = _knapsack()
    problem.addConstraint(pulp.LpAffineExpression(
        list(zip(things, (10**6, 10**6 + 1, 1)))) <= -1)
    assert load_backend('highs').solve(
        problem, seconds=10, gap=0).status is Status.INFEASIBLE
    monkeypatch.setattr(highspy.Highs, 'getRunTime', lambda self: 10.0)
    assert load_backend('highs').solve(
        problem, seconds=10, gap=0) == Outcome(Status.NOTHING)


@pytest.mark.parametrize('solver', SOLVERS)
def test_solvers_print_nothing_and_keep_no_file(solver, capfd, monkeypatch,
                                                tmp_path):
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    monkeypatch.setenv('TMPDIR', str(tmp_path))
    monkeypatch.chdir(tmp_path)
    load_backend(solver).solve(_knapsack()[0], seconds=10, gap=0)
    assert capfd.readouterr() == ('', '')
    assert os.listdir(tmp_path) == []

# SPDX-License-Identifier: Apache-2.0
"""A linear program that grows, solved from its last basis."""

import random

import highspy
import numpy as np
import pytest

from nova_holistic.solver.milp.growing_basis import GrowingBasis
from nova_holistic.solver.milp.linear import Linear

SUPPLY = [random.Random(number).randint(5, 20) for number in range(12)]
COSTS = {(source, sink): random.Random(100 * source + sink).randint(1, 50)
         for source in range(12) for sink in range(12)}


@pytest.fixture
def iterations(monkeypatch):
    """The numbers of simplex iterations of all solutions."""
    found, run = [], highspy.Highs.run

    def counted(model):
        run(model)
        found.append(model.getInfo().simplex_iteration_count)

    monkeypatch.setattr(highspy.Highs, 'run', counted)
    return found


def _transport(sinks):
    """Return a transport of one unit from one of the sources to each sink, and
    the names of its variables and rows."""
    columns = [(source, sink) for sink in range(sinks)
               for source in range(len(SUPPLY))]
    rows = [*(('from', source) for source in range(len(SUPPLY))),
            *(('to', sink) for sink in range(sinks))]
    program = Linear(np.array([COSTS[each] for each in columns], float),
                     np.full(len(columns), np.inf))
    for kind, (position, lower, upper) in {
            'from': (0, -np.inf, [s / 4 for s in SUPPLY]),
            'to': (1, 1.0, np.inf)}.items():
        number = sum(name == kind for name, _ in rows)
        program.add(np.array([each[position] for each in columns]),
                    np.arange(len(columns)), np.ones(len(columns)),
                    lower, upper, number)
    return program, (columns, rows)


def _solve(basis, sinks):
    program, names = _transport(sinks)
    program.basis = basis.start(*names)
    outcome, _ = program.solve(10.0)
    basis.keep(*names, program.basis)
    return outcome.bound


def test_the_same_program_takes_no_iteration(iterations):
    basis = GrowingBasis()
    assert _solve(basis, 12) == pytest.approx(_solve(basis, 12))
    assert iterations[0] > 0
    assert iterations[1] == 0


def test_a_larger_program_takes_fewer_iterations(iterations):
    basis = GrowingBasis()
    _solve(basis, 10)
    larger = _solve(basis, 12)
    assert larger == pytest.approx(_solve(GrowingBasis(), 12))
    assert iterations[1] < iterations[2]


def test_nothing_is_known_at_first():
    assert GrowingBasis().start(['x'], ['r']) is None

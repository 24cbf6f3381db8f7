# SPDX-License-Identifier: Apache-2.0
"""A clock of effort: equal runs have equal answers, on machines of any load.

Each reading of the clock, each run of HiGHS, each simplex iteration and each
node of a search tree takes a fixed time. Inside ``effort_clock``, HiGHS has
limits of iterations and nodes in place of its time limit. Therefore, a
difference between two answers is an effect of what was changed between them.

The constants are about right on one core of the machine where the figures of
README.rst were measured; a second of effort took 0.2 to 2 s there.
"""

from collections.abc import Iterator
import contextlib
from unittest import mock

import highspy

READING = 1e-4
"""Seconds of one reading, with the work since the reading before."""

RUN = {False: 2e-4, True: 1e-3}
"""Seconds of the start of a program, without and with integer variables."""

ENTRY = {False: 2e-7, True: 2e-6}
"""Seconds for each coefficient of the program."""

ITERATION = {False: (1e-5, 5e-8), True: (3e-5, 1.5e-7)}
"""Seconds of one iteration, and in addition for each row and column."""

NODE = 20
"""Iterations whose time a node takes."""

LARGEST = 2 ** 31 - 1


class EffortClock:
    """A timer for ``solve``.

    :ivar now: seconds of effort so far
    """

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += READING
        return self.now


@contextlib.contextmanager
def effort_clock() -> Iterator[EffortClock]:
    """Provide a clock that also measures and limits HiGHS in this block."""
    clock, solve = EffortClock(), highspy.Highs.run

    def run(model):
        program = model.getLp()
        whole = len(program.integrality_) > 0
        fixed, each = ITERATION[whole]
        iteration = fixed + each * (program.num_row_ + program.num_col_)
        before = model.__dict__.get('effort', 0.0)
        left = max(1e-3, min(model.getOptionValue('time_limit')[1], 1e6)
                   - before)
        with _options(model, _limits(model, whole, left / iteration)):
            status = solve(model)
        info = model.getInfo()
        spent = (RUN[whole] + ENTRY[whole] * len(program.a_matrix_.value_)
                 + iteration * max(0, info.simplex_iteration_count))
        if whole:
            spent += NODE / 2 * iteration * max(0, info.mip_node_count)
        spent = min(spent, max(left, 0.05))
        clock.now += spent
        model.__dict__['effort'] = before + spent
        return status

    with mock.patch.object(highspy.Highs, 'run', run), mock.patch.object(
            highspy.Highs, 'getRunTime',
            lambda model: model.__dict__.get('effort', 0.0)):
        yield clock


def _limits(model: highspy.Highs, whole: bool,
            iterations: float) -> dict[str, float]:
    """Options that limit the effort to this number of iterations."""
    if not whole:
        return {'time_limit': 1e30, 'simplex_iteration_limit': int(
            min(LARGEST, max(10, iterations)))}
    nodes = min(LARGEST, iterations / NODE)
    asked = model.getOptionValue('mip_max_nodes')[1]
    # The root of the tree has no limit but time.
    return {'time_limit': 20.0,
            'mip_max_nodes': int(max(1, min(asked, nodes))),
            'mip_max_stall_nodes': int(max(10, nodes / 2)),
            'mip_max_improving_sols': 30}


@contextlib.contextmanager
def _options(model: highspy.Highs, chosen: dict[str, float]) -> Iterator[None]:
    """Set options inside the block, and restore them after it."""
    before = {name: model.getOptionValue(name)[1] for name in chosen}
    for name, value in chosen.items():
        model.setOptionValue(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            model.setOptionValue(name, value)

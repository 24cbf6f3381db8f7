# SPDX-License-Identifier: Apache-2.0
"""Fix and optimise: improve a known plan with programs of fewer places, which
find better plans far sooner than the complete program.

The first program contains the places that the linear relaxation uses. Each
following program moves a part of the members, while all others stay.
"""

from typing import TYPE_CHECKING

from nova_holistic.solver.limits.current import milp as limits
from nova_holistic.solver.milp.backend import Status
from nova_holistic.solver.milp.free_classes import free_classes
from nova_holistic.solver.milp.program import Program
from nova_holistic.solver.problem.bound import gap as gap_of
from nova_holistic.solver.problem.deadline import Deadline

if TYPE_CHECKING:
    from nova_holistic.solver.milp.search import Search


def fix_and_optimise(search: 'Search', program: Program, deadline: Deadline,
                     gap: float) -> None:
    """Improve the search's best plan while this is worthwhile, and not much
    longer than the search took so far.

    :param program: the program of all members and hosts
    """
    _set_objective(search, program)
    if search.solve_relaxation(program).status is Status.OPTIMAL:
        program.restrict_to({*program.used_places(), *(
            (c, h) for c, here in enumerate(search.best) for h in here)})
        search.solve(program, limits().rounding_share, gap)
    elapsed, left = deadline.elapsed(), deadline.left()
    end = elapsed + max(limits().steps_share * elapsed, limits().step_share
                        * left)
    for turn in range(limits().turns):
        before = search.worth
        _in_parts(search, program, deadline, gap, end, turn)
        if deadline.elapsed() >= end or (
                search.worth[0] >= before[0] and gap_of(
                    before[1], search.worth[1]) <= gap):
            break
    program.unfix()


def _in_parts(search: 'Search', program: Program, deadline: Deadline,
              gap: float, end: float, turn: int) -> None:
    for free in free_classes(search.case, lambda: search.best, turn):
        elapsed, left = deadline.elapsed(), deadline.left()
        if elapsed >= end or not left:
            break
        program.fix_all_but(free, search.best)
        _set_objective(search, program)
        search.solve(program, min((end - elapsed) / left, limits().step_share),
                     gap)


def _set_objective(search: 'Search', program: Program) -> None:
    """Minimise preferences and cost; any preference outweighs all cost."""
    cost = max(1.0, abs(search.worth[1]) / program.cost_unit)
    program.minimise_both(limits().preference_factor * cost
                          / program.least_preference())

# SPDX-License-Identifier: Apache-2.0
"""The minimum cost of preferences, and its proof.

Weights that solvers cannot distinguish in one row are minimised in tiers, the
heaviest first. This leads to good plans, but proves nothing if many light
preferences outweigh a heavy one. The proof is an infeasible program: it
requires a plan whose cost is lower by the smallest possible step.
"""

from fractions import Fraction

from nova_holistic.solver.milp.backend import Outcome, Status
from nova_holistic.solver.milp.preference_rows import CostRow, Penalty
from nova_holistic.solver.milp.program import Program
from nova_holistic.solver.milp.solver_calls import SolverCalls
from nova_holistic.solver.numerics.exact_weights import common_step
from nova_holistic.solver.numerics.tolerances import BOUND_ERROR
from nova_holistic.solver.problem.preference_cost import preference_cost


def least_preferences(calls: SolverCalls, program: Program, share: float,
                      prove: bool) -> Status:
    """Improve the best plan until the cost of its preferences is minimal.

    :param share: share of the remaining time for each program
    :param prove: whether to solve a separate program for the proof
    :returns: OPTIMAL if no plan has a lower cost of preferences, INFEASIBLE if
        no plan exists, FEASIBLE if a plan is known, else NOTHING
    """
    found = program.tiers()
    trial = program.rebuild() if len(found) > 1 else program
    for tier in found:
        row = trial.minimise_tier(tier)
        outcome = calls.solve(trial, share, 0.0)
        if calls.best is None:
            return (Status.INFEASIBLE if outcome.status is Status.INFEASIBLE
                    else Status.NOTHING)
        if not outcome.solved:
            break
        cost = _cost(calls, tier)
        if len(found) == 1 and _is_least(outcome, row, cost):
            return Status.OPTIMAL
        if len(found) > 1:
            trial.limit_tier(row, cost)
    if calls.plan_cost[0] == 0:
        return Status.OPTIMAL
    return _proved(calls, program, share) if prove else Status.FEASIBLE


def _cost(calls: SolverCalls, tier: tuple[Penalty, ...]) -> Fraction:
    """Cost of these preferences in the best plan."""
    case = calls.case
    return preference_cost((each.carried for each in tier),
                           case.placement(calls.best), case.snapshot)


def _is_least(outcome: Outcome, row: CostRow, cost: Fraction) -> bool:
    """Whether the solver's bound excludes a cost that is one step lower."""
    if outcome.status is not Status.OPTIMAL or outcome.bound is None:
        return False
    unit = row.step * row.largest
    error = BOUND_ERROR * max(1.0, abs(outcome.bound))
    return float((cost - row.step) / unit) < outcome.bound - error


def _proved(calls: SolverCalls, program: Program, share: float) -> Status:
    """Require a plan with a lower cost until no such plan exists.

    :returns: OPTIMAL if this is proved, else FEASIBLE
    """
    trial = program.rebuild()
    step = common_step(each.weight for each in trial.penalties)
    while True:
        cost = calls.plan_cost[0]
        trial.limit_preferences(cost - step)
        trial.minimise_preferences()
        outcome = calls.solve(trial, share, 0.0)
        if outcome.status is Status.INFEASIBLE or calls.plan_cost[0] == 0:
            return Status.OPTIMAL
        if not outcome.solved or calls.plan_cost[0] >= cost:
            return Status.FEASIBLE

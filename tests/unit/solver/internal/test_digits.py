# SPDX-License-Identifier: Apache-2.0
"""Safeguards for amounts that floats hardly distinguish: digits in the
program, a second call of the solver, or another method."""

from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.solver.milp.backend import Backend
from nova_holistic.solver.milp import cost_limits
from nova_holistic.solver.milp import highs
from nova_holistic.solver.solve import solve
from tests.unit.solver.test_exact_amounts import hardly_apart


def test_one_of_three_safeguards_is_needed(monkeypatch):
    """Without any safeguard, the solver "proves" that a group with a plan has
    no plan. Each of the first two safeguards leads to the plan. With another
    method alone, the answers contradict each other, and nothing is proved."""
    wanted, snapshot = hardly_apart()
    digits, asks = cost_limits.FAR_APART, highs.is_ill_conditioned
    again, confirmed = highs.HiGHS.solve_again, Backend.solve_again
    for far_apart, delicate, other, shown in (
            (2**62, lambda problem: False, confirmed, Unplaceable),
            (digits, lambda problem: False, confirmed, Plan),
            (2**62, asks, confirmed, Plan),
            (2**62, lambda problem: False, again, Unknown)):
        monkeypatch.setattr(cost_limits, 'FAR_APART', far_apart)
        monkeypatch.setattr(highs, 'is_ill_conditioned', delicate)
        monkeypatch.setattr(highs.HiGHS, 'solve_again', other)
        assert isinstance(solve(wanted, snapshot), shown)

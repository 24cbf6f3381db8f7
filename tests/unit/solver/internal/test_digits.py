# SPDX-License-Identifier: Apache-2.0
"""What keeps apart amounts that floats hardly tell apart: digits in the
program, or a second question to the solver."""

from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.solver.milp import cost_limits
from nova_holistic.solver.milp import highs
from nova_holistic.solver.solve import solve
from tests.unit.solver.test_exact_amounts import hardly_apart


def test_one_of_two_safeguards_is_needed_and_enough(monkeypatch):
    """Neither digits nor the second question: and there is a "proof" that a
    group with a plan has none. One of the two is enough here."""
    wanted, snapshot = hardly_apart()
    digits, asks = cost_limits.FAR_APART, highs.is_ill_conditioned
    for far_apart, delicate, told in (
            (2**62, lambda problem: False, Unplaceable),
            (digits, lambda problem: False, Plan), (2**62, asks, Plan)):
        monkeypatch.setattr(cost_limits, 'FAR_APART', far_apart)
        monkeypatch.setattr(highs, 'is_ill_conditioned', delicate)
        assert isinstance(solve(wanted, snapshot), told)

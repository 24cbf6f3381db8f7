# SPDX-License-Identifier: Apache-2.0
"""Comparisons of an answer of the solver with the answer of the oracle."""

import pytest

from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.solver.check import check
from nova_holistic.solver.solve import solve
from tests.unit.solver import oracle

GAP = 1.001e-6
"""Largest gap of a proved plan: bounds are reduced by 1e-6 of their value, and
by the rounding errors of sums, which are about 1e-12."""


def answered(case, objective, **options):
    """Solve the case, and assert that the solver and the oracle agree on
    whether a plan exists.

    :param case: (group, snapshot, placed)
    :param options: options of ``solve``, such as ``solver`` and ``settings``
    :returns: (plan, weighted violations, best (violations, value)), or None if
        no plan exists
    """
    group, snapshot, placed = case
    expected = oracle.best(group, snapshot, placed, objective)
    answer = solve(group, snapshot, placed=placed, objective=objective,
                   **options)
    if expected is None:
        assert isinstance(answer, Unplaceable), answer
        assert answer.reasons
        return None
    assert isinstance(answer, Plan), answer
    assert check(group, snapshot, answer.hosts(), placed) == ()
    weights = [p.weight for scope in group.scopes()
               for p in scope.group.rules if p.weight is not None]
    assert len(weights) == len(answer.preferences)
    cost = sum(w * p.violations for w, p in zip(weights, answer.preferences))
    return answer, cost, expected


def agrees(case, objective, **options):
    """Assert that the plan is optimal and proved so; return whether a plan
    exists."""
    found = answered(case, objective, **options)
    if found is None:
        return False
    plan, cost, expected = found
    assert cost == pytest.approx(expected[0], abs=1e-9)
    assert plan.objective.value == pytest.approx(expected[1], abs=1e-7)
    assert plan.objective.bound <= expected[1] + 1e-7
    assert plan.objective.gap == pytest.approx(0, abs=GAP)
    if plan.preferences:
        assert plan.preference_cost.gap == pytest.approx(0, abs=GAP)
    return True


def is_sound(case, objective, **options):
    """Assert that the plan is valid, and that its bounds do not exceed the
    values of the best plan."""
    found = answered(case, objective, **options)
    if found is None:
        return
    plan, cost, expected = found
    assert cost >= expected[0] - 1e-9
    if plan.preferences:
        assert plan.preference_cost.bound <= expected[0] * (1 + 1e-9) + 1e-9
    if cost == pytest.approx(expected[0], abs=1e-9):
        assert plan.objective.value >= expected[1] - 1e-7
        assert plan.objective.bound <= expected[1] + 1e-7

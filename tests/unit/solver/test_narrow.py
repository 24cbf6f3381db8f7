# SPDX-License-Identifier: Apache-2.0
"""Programs of fewer hosts: found by them is good, proved only of all."""

import pytest

from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.solver.check import check
from nova_holistic.solver import search
from nova_holistic.solver.solve import solve
from tests.unit.solver import oracle
from tests.unit.solver.test_oracle import OBJECTIVES, random_case


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    """As if every group were too large, and one host a class enough."""
    monkeypatch.setattr(search, 'WHOLE', -1)
    monkeypatch.setattr(search, 'NARROW', 1)
    monkeypatch.setattr(search, '_NARROWEST', 1)


def _judge(seed, objective):
    group, snapshot, placed = random_case(seed)
    expected = oracle.best(group, snapshot, placed, objective)
    answer = solve(group, snapshot, placed=placed, objective=objective)
    if expected is None:
        assert isinstance(answer, Unplaceable), answer
        return
    assert isinstance(answer, Plan), answer
    assert check(group, snapshot, answer.hosts(), placed) == ()
    weights = [p.weight for scope in group.scopes()
               for p in scope.group.policies if p.weight is not None]
    cost = sum(w * p.violations for w, p in zip(weights, answer.preferences))
    assert cost >= expected[0] - 1e-9
    if cost == pytest.approx(expected[0], abs=1e-9):
        assert answer.objective.value >= expected[1] - 1e-7
        assert answer.objective.bound <= expected[1] + 1e-7


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_widened_until_there_is_a_plan_or_a_proof(objective, monkeypatch):
    monkeypatch.setattr(search, 'RELAXED', -1)
    for seed in range(2000, 2150):
        _judge(seed, objective)


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_a_relaxation_never_promises_too_much(objective):
    for seed in range(3000, 3150):
        _judge(seed, objective)

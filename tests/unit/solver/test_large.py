# SPDX-License-Identifier: Apache-2.0
"""Groups of which a few hosts are chosen first: good plans, true bounds."""

import pytest

from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.solver.check import check
from nova_holistic.solver import large
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit.solver import oracle, test_oracle_policies
from tests.unit.solver.strategies import seeded
from tests.unit.solver.test_oracle import OBJECTIVES, random_case


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch):
    """As if every group were too large to be written down as a whole."""
    monkeypatch.setattr(large, 'LARGE', -1)


def _judge(case, objective):
    group, snapshot, placed = case
    expected = oracle.best(group, snapshot, placed, objective)
    answer = solve(group, snapshot, placed=placed, objective=objective)
    if expected is None:
        assert isinstance(answer, Unplaceable), answer
        return
    assert isinstance(answer, Plan), answer
    assert check(group, snapshot, answer.hosts(), placed) == ()
    weights = [p.weight for scope in group.scopes()
               for p in scope.group.rules if p.weight is not None]
    cost = sum(w * p.violations for w, p in zip(weights, answer.preferences))
    assert cost >= expected[0] - 1e-9
    if cost == pytest.approx(expected[0], abs=1e-9):
        assert answer.objective.value >= expected[1] - 1e-7
        assert answer.objective.bound <= expected[1] + 1e-7


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_a_bound_of_merged_hosts_never_promises_too_much(objective):
    for seed in range(4000, 4150):
        _judge(random_case(seed), objective)


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_nor_where_policies_of_every_type_are(objective):
    for seed in range(4000, 4100):
        _judge(test_oracle_policies.random_case(seed), objective)


def test_nor_in_the_whole_language():
    for seed in range(70_000, 70_000 + times(120)):
        case = seeded(seed)
        _judge((*case.read(), case.placed), OBJECTIVES[seed % 3])

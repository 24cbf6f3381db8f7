# SPDX-License-Identifier: Apache-2.0
"""The restricted master returns valid plans, and its proofs hold for all
hosts."""

import pytest

from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit.solver.agreement import is_sound
from tests.unit.solver import oracle
from tests.unit.solver.strategies import OBJECTIVES, seeded
from tests.unit.solver.test_oracle import OBJECTIVES as SUMS
from tests.unit.solver.test_oracle import random_case
from tests.unit.solver.test_oracle_language import cost_of


@pytest.mark.parametrize('objective', SUMS)
def test_it_grows_until_there_is_a_plan_or_a_proof(objective):
    for seed in range(2000, 2150):
        is_sound(random_case(seed), objective,
                 settings=Settings('restricted'))


def test_a_restricted_master_ends_where_the_whole_program_does():
    for seed in range(92_000, 92_000 + times(120)):
        given = seeded(seed)
        group, snapshot = given.read()
        name = OBJECTIVES[seed % 4]
        expected = oracle.best(group, snapshot, given.placed, name)
        answer = solve(group, snapshot, placed=given.placed, objective=name,
                       settings=Settings('restricted'))
        if expected is None:
            assert isinstance(answer, Unplaceable), seed
            continue
        assert isinstance(answer, Plan), seed
        cost = cost_of(group, answer)
        assert cost >= expected[0] - 1e-6, seed
        if cost == pytest.approx(expected[0], abs=1e-6):
            assert answer.objective.value >= expected[1] - 1e-6, seed
            assert answer.objective.bound <= expected[1] + 1e-6, seed

# SPDX-License-Identifier: Apache-2.0
"""A mistaken claim of infeasibility by one method of the backend does not make
a group unplaceable, because another method must confirm it."""

import pytest

from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.milp.backend import Outcome, Status
from nova_holistic.solver.milp import highs, search
from nova_holistic.solver.settings import Settings
from nova_holistic.solver import solve as top
from nova_holistic.solver.solve import solve
from tests.unit.builders import group, servers, two_racks
from tests.unit.solver.clocks import ENOUGH

WHOLE = Settings('whole', time_limit=ENOUGH)
APART = group(servers('web', 4), policies=[AntiAffinity()])
FULL = group(servers('web', 3, vcpus=9), servers('db', 2, vcpus=10))


@pytest.fixture
def wrong(monkeypatch):
    """Disable greedy construction and the counting of contradictions, and let
    the first method report every program as infeasible."""
    monkeypatch.setattr(top, 'propagated', lambda case, check: (
        None, case))
    monkeypatch.setattr(search, 'greedy', lambda *_: None)
    monkeypatch.setattr(highs.HiGHS, 'solve', lambda *_, **__: Outcome(
        Status.INFEASIBLE))


def test_another_method_finds_the_plan(wrong):
    assert isinstance(solve(APART, two_racks(), settings=WHOLE), Plan)


def test_another_method_confirms_that_no_plan_exists(wrong, monkeypatch):
    asked = []
    again = highs.HiGHS.solve_again

    def counted(self, problem, *, seconds):
        asked.append(again(self, problem, seconds=seconds))
        return asked[-1]

    monkeypatch.setattr(highs.HiGHS, 'solve_again', counted)
    assert isinstance(solve(FULL, two_racks(), settings=WHOLE), Unplaceable)
    assert [each.status for each in asked] == [Status.INFEASIBLE]


def test_a_doubtful_answer_without_confirmation_is_no_proof(
        wrong, monkeypatch):
    """The other method has no time, and the program is ill-conditioned."""
    run = highs._run
    monkeypatch.setattr(highs, '_run', lambda problem, start, _, options:
                        run(problem, start, 0.0, options))
    monkeypatch.setattr(highs, 'is_ill_conditioned', lambda problem: True)
    assert isinstance(solve(APART, two_racks(), settings=WHOLE), Unknown)


def test_a_clear_answer_stays_if_the_other_method_has_no_time(
        wrong, monkeypatch):
    monkeypatch.setattr(highs, '_run', lambda *_: (
        Outcome(Status.NOTHING), 0.0))
    assert isinstance(solve(FULL, two_racks(), settings=WHOLE), Unplaceable)

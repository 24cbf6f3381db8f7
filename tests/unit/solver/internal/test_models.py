# SPDX-License-Identifier: Apache-2.0
"""The aggregated and the disaggregated model have the same plans for
groups with any rules."""

from dataclasses import replace
import itertools

import numpy as np
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.objectives import load_objective
from nova_holistic.solver.milp.backend import load_backend
from nova_holistic.solver.milp import search
from nova_holistic.solver.problem.case import Case as Solved
from nova_holistic.solver.problem.deadline import Deadline
from tests.effort import times
from tests.unit.solver.strategies import OBJECTIVES, seeded


def prepared(seed):
    """Return a random case, its group and snapshot, and the case of the
    solver."""
    case = seeded(seed)
    group, snapshot = case.read()
    lessened = snapshot.without_servers(case.placed.values())
    return case, group, snapshot, Solved.of(
        bind(group, lessened), lessened, case.placed)


def in_time():
    return Deadline(itertools.repeat(0.0).__next__, 60.0)


def disaggregated(case):
    """Return the case with a class, and thus a binary for each host, per
    member."""
    numbers = [c for c, each in enumerate(case.classes) for _ in each.members]
    return replace(
        case, classes=tuple(
            replace(each, members=(member,)) for each in case.classes
            for member in each.members),
        room=np.minimum(case.room[numbers], 1))


def best(case, objective):
    """Return (cost of preferences, objective value) that the whole program
    proves optimal, or None."""
    looked = search.Search(
        case, objective, load_backend('highs'), in_time(), 0.0)
    status = looked.run()
    if looked.best is None:
        assert status is search.SearchStatus.INFEASIBLE
        return None
    assert status is search.SearchStatus.OPTIMAL
    where = case.placement(looked.best)
    placed = {path: case.table.hosts[h].name
              for path, h in case.placed.items()}
    return (case.preference_cost(where), objective.value(
        case.members, where, placed, case.snapshot))


def test_the_aggregated_and_disaggregated_models_agree():
    more = 0
    for seed in range(90_000, 90_000 + times(150)):
        _, group, _, case = prepared(seed)
        objective = load_objective(OBJECTIVES[seed % 4]).for_group(case.group)
        apart = disaggregated(case)
        more += len(apart.classes) > len(case.classes)
        assert best(apart, objective) == pytest.approx(
            best(case, objective), abs=1e-6), seed
    assert more > times(150) / 4, 'the cases are lopsided'

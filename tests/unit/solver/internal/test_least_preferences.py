# SPDX-License-Identifier: Apache-2.0
"""Lower bounds of the cost of preferences, for clouds too large for an exact
model."""

import itertools
import random

import numpy as np
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.objectives import load_objective
from nova_holistic.solver.decomposition.aggregation import HostAggregation
from nova_holistic.solver.decomposition.cells import cells
from nova_holistic.solver.milp.backend import Status
from nova_holistic.solver.milp.branching import Branching
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.milp import search
from nova_holistic.solver.numerics.cost_rounding import rounded_up
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver.internal.limited import limited
from tests.unit.solver import oracle
from tests.unit.solver.strategies import seeded
from tests.unit.solver.test_decomposed import (
    CONTRARY, DECOMPOSED, full_zone, JOINED, ONE_ZONE, two_zones)
from tests.unit.solver import test_oracle_policies
from tests.unit.solver import test_oracle_relationships


@pytest.fixture
def written_down(monkeypatch):
    """Record the exact models of chosen hosts."""
    made = []

    class Counted(search.Program):
        def __init__(self, *rest):
            made.append(self)
            super().__init__(*rest)

    monkeypatch.setattr(search, 'Program', Counted)
    return made


def relaxed(case, objective='fewest-hosts'):
    """Return the relaxation of all hosts, or None if no member is left to
    place or the hosts have too little room."""
    wanted, snapshot, placed = case
    snapshot = snapshot.without_servers(placed.values())
    kinds = Kinds.of(bind(wanted, snapshot), snapshot, placed)
    if kinds is None or not kinds.kinds or (
            kinds.room.sum(axis=1) < kinds.numbers).any():
        return None
    aggregation = HostAggregation(kinds, cells(kinds, lambda: None),
                                  load_objective(objective).host_cost(),
                                  in_time(10.0))
    aggregation.run()
    return aggregation


def random_cases():
    for seed in range(4000, 4000 + times(150)):
        yield test_oracle_policies.random_case(seed)
        yield test_oracle_relationships.random_case(seed)
    for seed in range(71_000, 71_000 + times(100)):
        case = seeded(seed)
        yield (*case.read(), case.placed)


def test_the_bound_on_preference_costs_is_valid():
    shown = 0
    for number, case in enumerate(random_cases()):
        objective = ('fewest-hosts', 'stack', 'spread')[number % 3]
        aggregation = relaxed(case, objective)
        best = oracle.best(*case, objective)
        if aggregation is None or best is None:
            continue
        assert not aggregation.impossible
        assert aggregation.least <= best[0] + 1e-9
        within = aggregation.within(best[0])
        assert within is None or within <= best[1] + 1e-6
        shown += aggregation.least > 0
    assert shown >= times(150) // 15


@pytest.mark.parametrize('wanted, objective', [
    (ONE_ZONE, 'fewest-hosts'), (ONE_ZONE, 'stack'), (ONE_ZONE, 'spread'),
    (JOINED, 'fewest-hosts'), (CONTRARY, 'fewest-hosts')])
def test_no_program_is_needed_to_meet_preferences(
        wanted, objective, written_down):
    with limited('small_groups', pattern_members=0):
        solve(wanted, two_zones(), objective=objective, settings=DECOMPOSED)
    assert not written_down


def test_the_cheaper_of_two_contrary_preferences_is_the_least_cost():
    assert relaxed((CONTRARY, two_zones(), {})).least == 1.0


def test_a_group_in_one_zone_is_known_to_need_hosts_for_its_limit_there():
    wanted, snapshot = full_zone()
    aggregation = relaxed((wanted, snapshot, {}))
    assert (aggregation.least,
            aggregation.bound) == (0.0, pytest.approx(8.5, abs=.6))


@pytest.mark.parametrize('bound, weights, proved', [
    (0.0, (2.0,), 0.0), (1e-7, (1.0,), 0.0), (0.2, (1.0,), 1.0),
    (1.0 + 1e-7, (1.0,), 1.0), (0.9, (2.0, 3.0), 1.0),
    (2.1, (2.0, 4.0), 4.0), (0.25, (0.1, 0.2), 0.3)])
def test_a_bound_is_rounded_up_to_a_possible_cost(bound, weights, proved):
    assert rounded_up(bound, weights) == pytest.approx(proved, abs=1e-9)


def test_nearly_equal_costs_are_not_rounded_up():
    assert rounded_up(10.0, (1.0, 1e-7)) == pytest.approx(10.0, abs=1e-3)
    assert rounded_up(10.0, (1.0, 1e-7)) < 10.0


def test_branching_agrees_with_an_integer_solver():
    kinds = set()
    for seed in range(times(60)):
        chance = np.random.default_rng(seed)
        size, few = 8, np.arange(8) < 4
        program = Linear(chance.normal(size=size), np.where(few, 1.0, 3.0))
        for _ in range(4):
            program.add(np.zeros(size), np.arange(size),
                        chance.integers(-3, 4, size), -np.inf,
                        float(random.Random(seed).randint(-6, 2)), 1)
        branching = Branching(program, few)
        ours = branching.solve(0.0, itertools.repeat(10.0).__next__)
        program.integer = few
        theirs, _ = program.solve(10.0)
        kinds.add(ours.status)
        assert ours.status is theirs.status
        if ours.solved:
            assert ours.bound == pytest.approx(theirs.bound, abs=1e-5)
            assert program.cost @ branching.solution == pytest.approx(
                ours.bound, abs=1e-6)
    assert kinds == {Status.OPTIMAL, Status.INFEASIBLE}

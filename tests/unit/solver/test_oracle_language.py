# SPDX-License-Identifier: Apache-2.0
"""Every type of rule against exhaustive search: the solver accepts no invalid
plan, refuses no feasible group, and finds the optimum."""

import random

import pytest

from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.solver.check import check
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit.solver import oracle
from tests.unit.solver.strategies import OBJECTIVES, seeded, TYPES


def cost_of(group, answer):
    """Return the weighted violations that the plan lists."""
    weights = [rule.weight for scope in group.scopes()
               for rule in scope.group.rules if not rule.hard]
    return sum(weight * each.violations for weight, each in zip(
        weights, answer.preferences, strict=True))


def agrees(case, objective, solver='highs'):
    """Assert that the answer equals the oracle's; return whether a plan
    exists."""
    group, snapshot = case.read()
    expected = oracle.best(group, snapshot, case.placed, objective)
    answer = solve(group, snapshot, placed=case.placed, objective=objective,
                   settings=Settings(solver=solver, time_limit=60))
    if expected is None:
        assert isinstance(answer, Unplaceable), answer
        assert answer.reasons
        return False
    assert isinstance(answer, Plan), answer
    assert cost_of(group, answer) == pytest.approx(expected[0])
    assert answer.objective.value == pytest.approx(expected[1], abs=1e-6)
    assert answer.objective.bound == pytest.approx(expected[1], abs=1e-6)
    return True


def _rules(case):
    """Generate (whether it is a policy, type, whether hard) of each rule."""
    group, _ = case.read()
    for scope in group.scopes():
        for rules in (scope.group.policies, scope.group.relationships):
            for rule in rules:
                yield rules is scope.group.policies, rule.type, rule.hard


@pytest.mark.parametrize('part', range(4))
def test_small_cases_agree_with_exhaustive_search(part):
    number = times(240)
    planned = sum(agrees(seeded(seed), OBJECTIVES[part])
                  for seed in range(part * number, (part + 1) * number))
    assert number / 4 < planned < number * 3 / 4, 'the cases are lopsided'


def test_larger_cases_agree_with_exhaustive_search():
    """Cases have up to six members on up to six hosts."""
    for seed in range(50_000, 50_000 + times(40)):
        agrees(seeded(seed, 6, 6), OBJECTIVES[seed % 4])


def test_cbc_agrees_with_exhaustive_search():
    for seed in range(60_000, 60_000 + times(60)):
        agrees(seeded(seed), OBJECTIVES[seed % 4], solver='cbc')


def test_the_cases_use_every_type_hard_and_weighted():
    tried = {rule for seed in range(300) for rule in _rules(seeded(seed))}
    soft = {name for name in TYPES.policies if name.startswith('soft-')}
    assert tried == {
        *((True, name, hard) for name in TYPES.policies
          for hard in (True, False) if not (hard and name in soft)),
        *((False, name, hard) for name in TYPES.relationships
          for hard in (True, False))}


def test_check_and_oracle_agree_on_any_placement():
    """The random placements include many that no solver would choose."""
    good = 0
    for seed in range(70_000, 70_000 + times(300)):
        case, chance = seeded(seed), random.Random(seed)
        group, snapshot = case.read()
        for _ in range(8):
            where = {m.path: case.placed.get(
                m.path, chance.choice(snapshot.hosts).name)
                for m in group.all_members()}
            fine = oracle.evaluate(
                group, snapshot, case.placed, where) is not None
            assert (check(group, snapshot, where, case.placed) == ()
                    ) == fine, (seed, where)
            good += fine
    assert good > times(300) / 2, 'the cases are lopsided'

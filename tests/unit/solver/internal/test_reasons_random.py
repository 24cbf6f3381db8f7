# SPDX-License-Identifier: Apache-2.0
"""The conflicting elements leave no plan, and without any one of them a plan
exists. Exhaustive search verifies this on random cases with all types of
rules."""

import pytest

from nova_holistic.model.binding import bind
from nova_holistic.solver.diagnosis.contradiction import contradiction
from nova_holistic.solver.diagnosis.elements import elements, keeping
from nova_holistic.solver.diagnosis.iis import find_iis
from nova_holistic.solver.diagnosis.wording import reasons
from nova_holistic.solver.milp.backend import load_backend
from nova_holistic.solver.problem.case import Case
from tests.effort import times
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver import oracle
from tests.unit.solver.strategies import seeded


def _possible(group, snapshot, placed):
    # The question is only whether a plan exists, so any objective will do.
    return oracle.best(group, snapshot, placed, 'fewest-hosts') is not None


def _case(group, snapshot, placed):
    # Placed servers do not count as servers from outside the group.
    return Case.of(group, snapshot.without_servers(placed.values()), placed)


def _paths(group):
    return {scope.path for scope in group.scopes()} | {
        member.description for member in group.all_members()}


def _blames_rightly(seed):
    """Return whether the case has no plan, and verify its conflict in this
    case."""
    case = seeded(seed)
    group, snapshot = case.read()
    group = bind(group, snapshot)
    if _possible(group, snapshot, case.placed):
        return False
    solved = _case(group, snapshot, case.placed)
    deadline = in_time()
    found = find_iis(solved, load_backend('highs'), deadline,
                     contradiction(solved))
    assert found.minimal
    assert set(found.elements) <= set(elements(group))
    assert not _possible(
        keeping(group, found.elements), snapshot, case.placed)
    for each in found.elements:
        rest = [other for other in found.elements if other is not each]
        assert _possible(keeping(group, rest), snapshot, case.placed), each
    shown = reasons(found)
    assert shown
    for reason in shown:
        assert reason.message
        assert set(reason.at.split(', ')) <= _paths(group) | {''}
    return True


@pytest.mark.parametrize('part', range(2))
def test_the_reasons_are_a_minimal_conflict(part):
    number = times(200)
    unplaceable = sum(_blames_rightly(seed) for seed in range(
        part * number, (part + 1) * number))
    assert number / 4 < unplaceable < number, 'the cases are lopsided'


def test_counting_finds_no_contradiction_in_feasible_cases():
    counted = 0
    for seed in range(10_000, 10_000 + times(300)):
        case = seeded(seed)
        group, snapshot = case.read()
        group = bind(group, snapshot)
        if contradiction(_case(group, snapshot, case.placed)) is not None:
            assert not _possible(group, snapshot, case.placed), seed
            counted += 1
    assert counted > times(300) / 10, 'the cases are lopsided'

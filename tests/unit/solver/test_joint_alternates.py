# SPDX-License-Identifier: Apache-2.0
"""Any members may use any of their alternates at the same time, and the hard
policies still hold. The tests try all combinations."""

from dataclasses import replace
import itertools

from nova_holistic.model.plan import Plan
from nova_holistic.solver.alternates.alternates import alternates
from nova_holistic.solver.check import check
from nova_holistic.solver.planned_group import PlannedGroup
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit.solver import oracle, test_outsiders
from tests.unit.solver.strategies import seeded

MOST = 3
"""Maximum number of alternates of a member."""


def choices(where, others):
    """Generate every placement with each member on its host or on an
    alternate."""
    places = [(name, *others.get(path, ())) for path, name in where.items()]
    for hosts in itertools.product(*places):
        yield dict(zip(where, hosts))


def roomy(seed):
    """Return a case in which every host has enough capacity, so that only hard
    rules exclude placements."""
    case = seeded(seed, 6, 4)
    case = replace(case.copy(), placed={}, unknown=frozenset())
    for each in case.inventory['hosts']:
        each.update(
            resources={'VCPU': {'total': 99}, 'MEMORY_MB': {'total': 99}},
            traits=['T', 'U'], aggregates=['ssd', 'fast'], enabled=True)
    _harden(case.group)
    return case.read()


def _harden(group):
    for rule in (*group.get('policies', ()), *group.get('relationships', ())):
        rule['type'] = rule['type'].removeprefix('soft-')
        rule.pop('weight', None)
    for nested in group.get('groups', ()):
        _harden(nested)


def planned(group, snapshot, placed):
    answer = solve(group, snapshot, placed=placed)
    return answer if isinstance(answer, Plan) else None


def test_any_choice_of_alternates_satisfies_all_policies():
    found = possible = 0
    for seed in range(90_000, 90_000 + times(150)):
        group, snapshot = roomy(seed)
        plan = planned(group, snapshot, {})
        if plan is None:
            continue
        where = plan.hosts()
        others = alternates(PlannedGroup(group, snapshot, plan), MOST)
        for chosen in choices(where, others):
            assert oracle.violations(
                group, snapshot, {}, chosen) is not None, (seed, chosen)
        found += sum(map(len, others.values()))
        possible += sum(min(MOST, sum(
            oracle.evaluate(group, snapshot, {}, {
                **where, path: h.name}) is not None
            for h in snapshot.hosts if h.name != where[path]))
            for path in where)
    assert found > possible / 2, 'hardly any is left'


def test_any_choice_of_alternates_satisfies_external_policies():
    found = 0
    for seed in range(2000, 2000 + times(100)):
        group, snapshot, placed = test_outsiders.random_case(seed)
        plan = planned(group, snapshot, placed)
        if plan is None:
            continue
        others = alternates(PlannedGroup(group, snapshot, plan, placed), MOST)
        found += sum(map(len, others.values()))
        for chosen in choices(plan.hosts(), others):
            assert test_outsiders.cost(
                group, snapshot, chosen) is not None, (seed, chosen)
    assert found > times(100) / 4


def test_alternates_of_a_replanned_member_respect_those_of_others():
    found = 0
    for seed in range(95_000, 95_000 + times(100)):
        group, snapshot = roomy(seed)
        plan = planned(group, snapshot, {})
        if plan is None or len(plan.hosts()) < 2:
            continue
        where = plan.hosts()
        before = alternates(PlannedGroup(group, snapshot, plan), 1)
        lost = [*where][0]
        fixed = {path: name for path, name in where.items() if path != lost}
        given = {path: before[path] for path in fixed}
        others = alternates(PlannedGroup(group, snapshot, plan, fixed), MOST,
                            existing_alternates=given)
        assert not any(others[path] for path in fixed)
        found += len(others[lost])
        for chosen in choices(where, {**given, lost: others[lost]}):
            assert oracle.violations(
                group, snapshot, {}, chosen) is not None, (seed, chosen)
    assert found > times(100) / 5


def test_each_alternate_has_enough_capacity_for_its_member():
    for seed in range(97_000, 97_000 + times(50)):
        case = seeded(seed)
        group, snapshot = case.read()
        plan = planned(group, snapshot, case.placed)
        if plan is None:
            continue
        others = alternates(PlannedGroup(group, snapshot, plan, case.placed),
                            MOST)
        for path, names in others.items():
            for name in names:
                assert check(group, snapshot, {
                    **plan.hosts(), path: name}, case.placed) == (), seed

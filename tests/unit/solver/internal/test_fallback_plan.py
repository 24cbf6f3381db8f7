# SPDX-License-Identifier: Apache-2.0
"""When the time limit of a large group is reached, the answer is the best plan
so far."""

from fractions import Fraction
import itertools

import numpy as np
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.plan import Plan, Unknown
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity, SoftAffinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.check import check
from nova_holistic.solver.column_generation import diving
from nova_holistic.solver.column_generation.generation import ColumnGeneration
from nova_holistic.solver.construct.disaggregation import (
    disaggregate, KindPlaces)
from nova_holistic.solver.construct import disaggregation, fallback_plan
from nova_holistic.solver.decomposition.aggregation import HostAggregation
from nova_holistic.solver.decomposition import class_counts
from nova_holistic.solver.phases import large, relaxed_hosts
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.clocks import Stopping
from tests.unit.solver.internal.deadlines import in_time

OBJECTIVES = ('fewest-hosts', 'stack', 'spread')

SHORT = 2.0
"""Time limit in seconds for tests that accept any plan. HiGHS has its own
clock and would use most of a longer limit to seek a better plan."""


class Clock:
    """A clock that is stopped until ``run_out`` or ``pass_by`` is called."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def run_out(self):
        self.now = 1e9

    def pass_by(self, seconds):
        self.now += seconds


def _tier(name, *policies):
    return group(servers('small', 8), servers('large', 4, vcpus=4), name=name,
                 policies=[AntiAffinity(max_per_domain=4), *policies])


def _shop():
    """Return tiers in racks of three zones. Two of the tiers may not share a
    host."""
    return group(
        groups=[_tier('web', SoftAffinity(level='az', weight=2.0)),
                _tier('app'), _tier('db', Spread(level='az', max_skew=2))],
        policies=[AntiAffinity(level='rack', max_per_domain=Fraction(1, 4)),
                  Spread(level='az', max_skew=6)],
        relationships=[RelationshipAntiAffinity(
            level='host', between=('app', 'db'))])


def _cloud():
    return cloud(*(host(f'h{n:03}', f'az{n % 3}', f'r{n // 10}', inventories={
        'VCPU': Inventory(32, used=n * 7 % 31)}) for n in range(240)),
        levels=('az', 'rack', 'host'))


@pytest.fixture
def hurry(set_limits):
    """Start the search for a fallback plan immediately, as on a very slow
    machine."""
    set_limits('phases', fallback_after=0.0)


def _solved(clock, objective='fewest-hosts', time_limit=10.0):
    return solve(
        _shop(), _cloud(), objective=objective,
        settings=Settings('decomposed', time_limit=time_limit, timer=clock))


def _is_a_plan(answer):
    assert isinstance(answer, Plan), answer
    assert check(_shop(), _cloud(), answer.hosts()) == ()
    assert len(answer.placements) == 36
    assert 0 <= answer.objective.bound <= answer.objective.value


def _plan_cost(answer):
    """Return (violations of preferences, objective value)."""
    return (sum(p.violations for p in answer.preferences),
            answer.objective.value)


def _stops(monkeypatch, clock, owner, name, after=True):
    """Let the clock run out after a call of the function, or before it."""
    known = getattr(owner, name)

    def instead(*arguments, **named):
        if after:
            found = known(*arguments, **named)
            clock.run_out()
            return found
        clock.run_out()
        return known(*arguments, **named)

    monkeypatch.setattr(owner, name, instead)


STAGES = {
    'rules are read': (relaxed_hosts, 'cells', True),
    'the first relaxation': (HostAggregation, 'run', True),
    'domain_branches': (large, 'domain_branches', True),
    'the first prices': (ColumnGeneration, '_warm_start', True),
    'patterns': (ColumnGeneration, 'run', True),
    'the first dive': (diving.Dive, '_dive', True),
    'seats': (large, 'place_patterns', True),
    'giving them away': (large, 'class_counts', False),
    'rest of it': (class_counts, 'assigned_counts', True),
}


@pytest.mark.parametrize('objective', OBJECTIVES)
@pytest.mark.parametrize('stage', STAGES.values(), ids=STAGES)
def test_at_the_deadline_the_known_plan_is_the_answer(
        stage, objective, hurry, monkeypatch):
    clock = Clock()
    _stops(monkeypatch, clock, *stage)
    _is_a_plan(_solved(clock, objective))


def test_a_deadline_without_any_plan_is_unknown(monkeypatch):
    clock = Clock()
    _stops(monkeypatch, clock, relaxed_hosts, 'cells')
    assert isinstance(_solved(clock), Unknown)


@pytest.mark.parametrize('stage', [
    (relaxed_hosts, 'cells'), (HostAggregation, 'run'),
    (ColumnGeneration, 'run')])
def test_after_half_of_the_time_any_plan_is_sought_first(
        stage, monkeypatch):
    clock, sought = Clock(), []
    owner, name = stage
    known, quick = getattr(owner, name), fallback_plan._plan_without_checks

    def slowly(*arguments, **named):
        found = known(*arguments, **named)
        clock.pass_by(3.0)
        return found

    def shown(*arguments):
        sought.append(clock.now)
        return quick(*arguments)

    monkeypatch.setattr(owner, name, slowly)
    monkeypatch.setattr(fallback_plan, '_plan_without_checks', shown)
    # The later assignment of seats then exceeds the time limit.
    _stops(monkeypatch, clock, large, 'class_counts', after=False)
    _is_a_plan(_solved(clock))
    # First with hard policies in place of the preferences, then without.
    assert sought == [3.0, 3.0]


def test_with_enough_time_no_quick_plan_is_sought(monkeypatch):
    monkeypatch.setattr(fallback_plan, '_plan_without_checks', None)
    _is_a_plan(_solved(Clock(), time_limit=SHORT))


def test_a_better_plan_replaces_the_early_one(hurry, monkeypatch):
    found = []
    quick = fallback_plan._plan_without_checks
    monkeypatch.setattr(
        fallback_plan, '_plan_without_checks', lambda *arguments: found.append(
            quick(*arguments)) or found[-1])
    answer = _solved(Clock(), 'stack')
    _is_a_plan(answer)
    assert found[-1] is not None
    monkeypatch.setattr(large, '_plan_by_relaxations', lambda *arguments: None)
    worse = _solved(Clock(), 'stack')
    _is_a_plan(worse)
    assert _plan_cost(answer) < _plan_cost(worse)


# For ``spread``, patterns use too few hosts for the members that are kept
# together.
@pytest.mark.parametrize('objective', ['fewest-hosts', 'stack'])
def test_partly_used_hosts_provide_seats_if_no_dive_ends(
        objective, monkeypatch):
    seats, first = [], itertools.count()
    price, place_patterns = diving.Dive._price, large.place_patterns
    monkeypatch.setattr(
        diving.Dive, '_price', lambda self, *arguments: next(first) == 0
        and price(self, *arguments))
    monkeypatch.setattr(
        large, 'place_patterns', lambda *arguments: seats.append(
            place_patterns(*arguments)) or seats[-1])
    _is_a_plan(_solved(Clock(), objective, SHORT))
    taken, _ = seats[0]
    # The majority of the members has a seat. A member without a seat goes to
    # any host with room.
    assert 24 <= taken.sum() <= 36


def _places_on_one_host():
    """Return a case, the kind of each class, and the places of each kind."""
    case = Case.of(bind(_shop(), _cloud()), _cloud(), {}, in_time().check)
    kinds = [int(dict(each.demands)['VCPU'] == 4) for each in case.classes]
    roomy = int(np.argmax(case.room.sum(axis=0)))
    return case, kinds, [{roomy: 24}, {roomy: 12}]


def test_members_without_a_seat_go_to_hosts_with_capacity():
    """One host has seats for all members, but takes four members of each tier
    at most, and not members of both exclusive tiers."""
    deadline = Deadline(Clock(), 10.0)
    case, kinds, seats = _places_on_one_host()
    counts = class_counts.assigned_counts(case, kinds, seats, deadline)
    assert 4 <= sum(sum(here.values()) for here in counts) <= 8
    everyone = class_counts._assigned(case, KindPlaces(
        kinds, seats, np.zeros(len(case.table), dtype=np.int64)), deadline)
    assert case.fits(everyone)
    assert not case.violates_policy(case.placement(everyone))


def test_exchanges_of_places_leave_time_for_the_other_members(monkeypatch):
    """The places on one host suit few members. Exchanges that would take all
    the time end early, so that the other members get other hosts."""
    clock, tried = Clock(), []

    def slowly(*exchange):
        tried.append(exchange)
        clock.pass_by(3.0)
        return False

    monkeypatch.setattr(disaggregation, '_exchange', slowly)
    case, kinds, places = _places_on_one_host()
    counts = disaggregate(case, KindPlaces(
        kinds, places, np.zeros(len(case.table), dtype=np.int64)),
        Deadline(clock, 10.0))
    assert tried
    assert case.is_plan(counts)


def test_equal_places_without_an_exchange_are_tried_once(monkeypatch):
    tried = []
    monkeypatch.setattr(disaggregation, '_exchange', lambda *exchange: (
        tried.append(exchange[1:])))
    case, kinds, places = _places_on_one_host()
    assert disaggregate(case, KindPlaces(
        kinds, places, np.zeros(len(case.table), dtype=np.int64)), in_time())
    assert len(tried) == len(set(tried)) > 0


def _one_zone_and_others(affinity):
    """Return a group: the zones have the same number of members, but for one,
    and the affinity is that of the first members."""
    return bind(group(
        groups=[group(servers('m', 12), name='first', policies=[affinity]),
                group(servers('m', 24), name='others')],
        policies=[Spread(level='az', max_skew=1)]), _cloud())


def _affine_case():
    wanted = _one_zone_and_others(Affinity(level='az'))
    return Case.of(wanted, _cloud(), {}, in_time().check)


def test_members_wait_until_the_other_zones_have_members():
    """The members of the first group would exceed the skew before the zones
    have other members."""
    case = _affine_case()
    counts = fallback_plan._plan_without_checks(case, in_time())
    assert counts is not None
    assert not case.violates_policy(case.placement(counts))


def test_members_without_a_place_wait_until_the_other_zones_have_members():
    case = _affine_case()
    counts = disaggregate(case, KindPlaces(
        [0] * len(case.classes), [{}], np.zeros(len(case.table), dtype=int)),
        in_time())
    assert counts is not None
    assert not case.violates_policy(case.placement(counts))


@pytest.mark.parametrize('readings', [2, 5, 20, 100])
def test_an_assignment_is_given_up_at_the_time_limit(readings):
    case, kinds, seats = _places_on_one_host()
    clock = Stopping(readings)
    assert class_counts.assigned_counts(
        case, kinds, seats, Deadline(clock, 10.0)) is None
    assert clock.late == 1


def test_a_preference_with_a_term_for_each_host_is_read_in_time():
    snapshot = cloud(*(host(f'h{n}', f'r{n}', servers=1) for n in range(50)))
    checks = []
    for policies in ([], [Exclusive(weight=1.0)]):
        wanted = bind(group(servers('m', 2), policies=policies), snapshot)
        checks.append(0)

        def count():
            checks[-1] += 1

        Case.of(wanted, snapshot, {}, count)
    assert checks[1] >= checks[0] + 50


def test_the_fallback_plan_violates_no_preference_if_possible():
    """One member after another, the cheapest zone is that of the first
    members until it exceeds the skew, and then another one."""
    wanted = _one_zone_and_others(Affinity(level='az', weight=2.0))
    known = Incumbent(wanted, _cloud(), {}, load_objective(
        'spread').for_group(wanted), 0.01)
    fallback_plan.FallbackPlan(
        Kinds.of(wanted, _cloud(), {}), known, in_time(), None
    ).construct_after(0.0)
    assert known.plan_cost[0] == 0


@pytest.mark.parametrize('first', [False, True])
def test_a_single_member_has_a_place_before_one_of_many(first):
    """There are three places for five members, whose classes have any order.
    """
    groups = [group(servers('m', 4), name='many', policies=[
        AntiAffinity(level='rack', max_per_domain=3)])]
    groups.insert(0 if first else 1, group(servers('m', 1), name='single'))
    wanted = bind(group(groups=groups), _cloud())
    case = Case.of(wanted, _cloud(), {}, in_time().check)
    counts = class_counts.assigned_counts(
        case, [0] * len(case.classes), [{0: 3}], in_time())
    assert {each.members[0].path: sum(here.values()) for each, here in zip(
        case.classes, counts, strict=True)} == {
            'single/m-0': 1, 'many/m-0': 2}


def test_a_failed_quick_search_at_the_deadline_is_unknown(monkeypatch, hurry):
    def never(*arguments):
        raise OutOfTime

    monkeypatch.setattr(fallback_plan, '_plan_without_checks', never)
    clock = Clock()
    _stops(monkeypatch, clock, relaxed_hosts, 'cells')
    assert isinstance(_solved(clock), Unknown)

# SPDX-License-Identifier: Apache-2.0
"""The first plan is constructed even if the time limit has passed, but only
for a limited time."""

import numpy as np
import pytest

from nova_holistic.cli import plan
from nova_holistic.conf import planner
from nova_holistic.model.binding import bind
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.objectives import load_objective
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.check import check
from nova_holistic.solver.construct.first_plan import first_plan
from nova_holistic.solver.limits.current import construct as limits
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.relaxations.trials import Trials, unconstrained
from nova_holistic.solver.settings import Settings, Strategy
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers, two_racks
from tests.unit.solver.clocks import Stopping
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver.strategies import seeded
from tests.unit.solver.test_deadline import LOOKS, racks, SHAPES
from tests.unit.solver.test_trees import card, member, wants, with_cards

LIMIT = 0.01
LATE = 1.0
"""A time after the limit, and before the first plan has to be complete."""

FITS = ['no two members alike', 'many groups', 'many relationships',
        'groups that want hosts of their own', 'more skew than members']


def late(wanted, snapshot, readings, limit=LIMIT, then=LATE, **options):
    """Solve with a clock that shows a later time after these readings."""
    return solve(wanted, snapshot, settings=Settings(
        time_limit=limit, timer=Stopping(readings, then)), **options)


def readings_of(wanted, snapshot, **options):
    """The number of readings without a time limit."""
    clock = Stopping(10**9)
    solve(wanted, snapshot, settings=Settings(
        time_limit=LIMIT, timer=clock), **options)
    return 10**9 - clock.left


@pytest.mark.parametrize('name', FITS)
def test_a_plan_is_found_whenever_the_limit_passes(name):
    wanted, snapshot = SHAPES[name], racks(30)
    looks = readings_of(wanted, snapshot)
    for share in np.linspace(0, 1, times(5), endpoint=False):
        answer = late(wanted, snapshot, 1 + int(share * looks))
        assert isinstance(answer, Plan)
        assert check(wanted, snapshot, answer.hosts()) == ()
        assert answer.objective.bound <= answer.objective.value


@pytest.mark.parametrize('strategy', list(Strategy))
def test_each_strategy_has_a_late_plan(strategy):
    wanted = group(servers('db', 2), policies=[AntiAffinity(level='rack')])
    answer = solve(wanted, two_racks(), settings=Settings(
        strategy, time_limit=LIMIT, timer=Stopping(1, LATE)))
    assert check(wanted, two_racks(), answer.hosts()) == ()


def test_random_groups_are_unknown_only_if_no_plan_can_be_constructed():
    planned = 0
    for seed in range(147310, 147310 + times(60)):
        case = seeded(seed)
        wanted, snapshot = case.read()
        whole = solve(wanted, snapshot, placed=case.placed,
                      settings=Settings(timer=Stopping(10**9)))
        for readings in (1, 20):
            answer = late(wanted, snapshot, readings, placed=case.placed)
            if isinstance(answer, Plan):
                planned += 1
                assert isinstance(whole, Plan)
                assert check(wanted, snapshot, answer.hosts(),
                             placed=case.placed) == ()
            elif isinstance(answer, Unknown):
                assert not _can_be_constructed(case)
            else:
                assert isinstance(whole, Unplaceable)
    assert planned >= times(60) // 4


def _can_be_constructed(case):
    wanted, snapshot = case.read()
    reduced = snapshot.without_servers(case.placed.values())
    bound = bind(wanted, reduced)
    known = Incumbent(bound, reduced, case.placed,
                      load_objective('spread').for_group(bound), 0.01)
    first_plan(known, in_time())
    return known.where is not None


def test_members_with_nested_providers_have_a_late_plan():
    """Six GPUs fit on the two cards of one host only if no member divides
    its GPUs between them, so that a second problem is solved."""
    snapshot = cloud(*(with_cards(
        f'h{number}', card('a', VGPU=4), card('b', VGPU=4))
        for number in range(3)))
    wanted = group(member('large', wants(VGPU=3), count=2),
                   member('small', wants(VGPU=2)))
    answer = late(wanted, snapshot, 1, objective='fewest-hosts')
    assert isinstance(answer, Plan)
    assert check(wanted, snapshot, answer.hosts()) == ()
    assert len(set(answer.hosts().values())) == 2


def test_the_additional_time_is_limited():
    wanted, snapshot = SHAPES['many groups'], racks(30)
    end = limits().first_plan_seconds
    # The limit passes at the second reading, and the additional time with it.
    assert isinstance(late(wanted, snapshot, 1, then=end), Unknown)
    # The additional time ends while the plan is constructed.
    for clock in (_Steps(end / 20), _Steps(end / 80)):
        answer = solve(wanted, snapshot, settings=Settings(
            time_limit=LIMIT, timer=clock))
        assert isinstance(answer, Unknown)
        assert end / 2 < clock.now <= end + LOOKS * clock.step
        assert (f'within the time limit of {LIMIT:g} s, which is extended to '
                f'{end:g} s for the first plan;') in answer.message


class _Steps:
    """A clock that advances by the same step at each reading."""

    def __init__(self, step):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


def test_a_long_limit_is_not_exceeded():
    limit = limits().first_plan_seconds
    answer = late(SHAPES['many groups'], racks(30), 1, limit, then=limit)
    assert isinstance(answer, Unknown)
    assert f'hosts was found within {limit:g} s;' in answer.message


def test_the_help_texts_state_the_additional_time():
    option = next(each for each in planner.OPTS if each.name == 'time_limit')
    parser = plan.Plan(None, None).get_parser('plan')
    for text in option.help, parser.format_help():
        assert f'until {limits().first_plan_seconds:g} seconds' in (
            ' '.join(text.split()))


def test_without_additional_time_the_answer_is_unknown(set_limits):
    set_limits('construct', first_plan_seconds=0.0)
    answer = late(SHAPES['many groups'], racks(30), 1)
    assert isinstance(answer, Unknown)
    assert f'hosts was found within {LIMIT:g} s;' in answer.message


def test_a_trial_has_no_additional_time():
    wanted = group(servers('db', 2))
    clock = Stopping(3, LATE)
    trials = Trials.of(unconstrained, Settings(time_limit=LIMIT, timer=clock))
    assert isinstance(trials.plan(wanted, two_racks()), Unknown)
    assert clock.late
    assert isinstance(solve(wanted, two_racks(), settings=Settings(
        time_limit=LIMIT, timer=Stopping(2, LATE))), Plan)


def test_a_group_that_does_not_fit_has_no_late_plan():
    wanted = group(servers('node', 9, vcpus=16))
    for readings in range(1, 40, 6):
        answer = late(wanted, two_racks(), readings)
        assert isinstance(answer, Unplaceable | Unknown)
    snapshot = cloud(host('h1', 'r1', vcpus=2))
    answer = late(group(servers('node', vcpus=4)), snapshot, 1)
    assert isinstance(answer, Unplaceable | Unknown)

# SPDX-License-Identifier: Apache-2.0
"""Whenever the deadline passes, the answer follows soon. It is a plan that
passes the check, a proof that no plan exists, or Unknown.

The tests measure no seconds: the clock is stopped for a given number of
readings. The work after the deadline is counted in function calls, whose
number is the same on every machine.
"""

import sys

import numpy as np
import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.check import check
from nova_holistic.solver.diagnosis.explain import explain
from nova_holistic.solver.planned_group import PlannedGroup
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.clocks import Stopping
from tests.unit.solver.strategies import seeded

ANSWER = 1500
"""Maximum number of calls after the deadline for each member: the solver
evaluates the plan, or collects the reasons."""

STEP = 200
"""Maximum number of calls between two readings of the clock, for each member
and host."""

LOOKS = 10
"""Maximum number of readings after the deadline: each stage ends at its first
reading."""


class Counted(Stopping):
    """A clock that counts calls of Python functions as steps of the solver.

    :ivar longest: maximum number of calls between two readings of the clock
    :ivar after: number of calls since the deadline passed
    """

    def __init__(self, looks):
        super().__init__(looks)
        self.longest = self.after = self._now = 0

    def __call__(self):
        self.longest, self._now = max(self.longest, self._now), 0
        return super().__call__()

    def count(self, frame, event, argument):
        if event == 'call':
            self._now += 1
            self.after += self.late > 0


def racks(hosts):
    return cloud(*(host(f'h{n:03}', f'r{n % 10}', inventories={
        'VCPU': Inventory(16, used=n % 5)}) for n in range(hosts)))


def _alone(number):
    return [group(servers('m', 2), name=f'g{n}', policies=[AntiAffinity()])
            for n in range(number)]


SHAPES = {
    'no two members alike': group(*(
        servers(f'm{n}', forbidden_traits=frozenset({f'T{n}'}))
        for n in range(60)),
        policies=[AntiAffinity(max_per_domain=9)]),
    'many groups': group(groups=_alone(40)),
    'many relationships': group(groups=_alone(20), relationships=[
        RelationshipAntiAffinity(level='host', between=(
            f'g{n}', f'g{(n + 1) % 20}')) for n in range(20)]),
    'groups that want hosts of their own': group(groups=[
        group(servers('m', 2), name=f'g{n}', policies=[Exclusive()])
        for n in range(12)]),
    'more skew than members': group(
        servers('m', 30), policies=[Spread(level='rack', max_skew=10**9)]),
    'too little room': group(*(
        servers(f'm{n}', 3, vcpus=9 + n % 3) for n in range(16))),
    'one rule too many': group(groups=[group(
        servers('m', 12), name=f'g{n}', policies=[
            AntiAffinity(level='rack'), Affinity(level='rack', weight=1.0)])
        for n in range(10)]),
}


def _answered(wanted, snapshot, clock):
    """Return the answer of the solver. A plan must pass the check, and any
    other answer must be Unknown or have reasons."""
    sys.setprofile(clock.count)
    try:
        answer = solve(wanted, snapshot,
                       settings=Settings(time_limit=1.0, timer=clock))
    finally:
        sys.setprofile(None)
    if isinstance(answer, Plan):
        assert check(wanted, snapshot, answer.hosts()) == ()
        assert answer.objective.bound <= answer.objective.value
    else:
        assert isinstance(answer, Unplaceable | Unknown)
        assert not isinstance(answer, Unplaceable) or answer.reasons
    return answer


@pytest.mark.parametrize('name', list(SHAPES))
def test_the_answer_follows_soon_after_any_deadline(name):
    wanted, snapshot = SHAPES[name], racks(30)
    members = len(wanted.all_members())
    clock = Counted(10**9)
    whole = _answered(wanted, snapshot, clock)
    assert clock.longest < STEP * members * len(snapshot.hosts)
    looks = 10**9 - clock.left
    for share in np.linspace(0, 1, times(6), endpoint=False):
        clock = Counted(1 + int(share * looks))
        answer = _answered(wanted, snapshot, clock)
        assert clock.late <= LOOKS
        assert clock.after < ANSWER * members
        # A proof in less time must agree with the answer without a deadline.
        assert isinstance(answer, Unknown) or (
            isinstance(answer, Plan) == isinstance(whole, Plan))


def test_random_groups_get_a_true_answer_at_any_deadline():
    for seed in range(7000, 7000 + times(20)):
        case = seeded(seed)
        wanted, snapshot = case.read()
        clock = Counted(10**9)
        whole = solve(wanted, snapshot, placed=case.placed,
                      settings=Settings(timer=clock))
        looks = 10**9 - clock.left
        for share in (0.1, 0.3, 0.5, 0.7, 0.9):
            clock = Counted(1 + int(share * looks))
            answer = solve(wanted, snapshot, placed=case.placed,
                           settings=Settings(timer=clock))
            assert clock.late <= LOOKS
            assert isinstance(answer, Unknown) or (
                isinstance(answer, Plan) == isinstance(whole, Plan))


@pytest.mark.parametrize('strategy', ['auto', 'whole', 'decomposed'])
def test_traffic_is_planned_with_any_number_of_readings(strategy):
    """The deadline passes at each reading of the clock, until the search is
    complete."""
    wanted = group(servers('web', 2), servers('db', 2), relationships=[
        Bandwidth(between=('web', 'db'), mbps=100)])
    snapshot = cloud(*(host(f'h{n}', f'r{n // 2}', vcpus=2)
                       for n in range(3)))
    answers = []
    for readings in range(200):
        clock = Stopping(readings)
        answers.append(solve(
            wanted, snapshot, objective='network',
            settings=Settings(strategy, timer=clock)))
        assert isinstance(answers[-1], Plan | Unknown)
        if isinstance(answers[-1], Plan):
            assert check(wanted, snapshot, answers[-1].hosts()) == ()
            assert answers[-1].objective.value >= 400
            assert answers[-1].objective.bound <= 400
        if clock.left >= 0:
            break
    assert len(answers) > 20
    assert clock.left >= 0
    assert answers[-1].objective.value == 400
    assert answers[-1].objective.gap == 0


def test_a_plan_is_explained_as_far_as_time_allows():
    wanted, snapshot = SHAPES['many groups'], racks(30)
    plan = solve(wanted, snapshot)
    clock = Counted(10**9)
    whole = explain(PlannedGroup(wanted, snapshot, plan), 'spread',
                    settings=Settings(time_limit=1.0, timer=clock))
    looks = 10**9 - clock.left
    shown = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        clock = Counted(1 + int(share * looks))
        shown.append(explain(PlannedGroup(wanted, snapshot, plan), 'spread',
                             settings=Settings(time_limit=1.0, timer=clock)))
        assert clock.late <= LOOKS
    # The explanation is a prefix of the whole one. Members without time are
    # left out.
    assert [len(each) for each in shown] == sorted(len(each) for each in shown)
    assert shown[0] == () and shown[-1] == whole
    assert 0 < len(shown[-2]) < len(whole)
    for each in shown:
        assert [e.member for e in each] == (
            [e.member for e in whole[:len(each)]])

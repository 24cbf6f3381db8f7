# SPDX-License-Identifier: Apache-2.0
"""Copies of a group that have the same hosts as other copies."""

from hypothesis import assume, given
import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.snapshot import Link
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.check import check
from nova_holistic.solver.observer import observing
from nova_holistic.solver.relaxations.copies import copies
from nova_holistic.solver.relaxations import headroom as headrooms
from nova_holistic.solver.relaxations.headroom import headroom
from nova_holistic.solver.relaxations.most_copies import most_copies
from nova_holistic.solver.relaxations.repeated import (
    can_repeat, RepeatedCopies, repetitions)
from nova_holistic.solver.relaxations.trials import Trials, unconstrained
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.effort import examples
from tests.unit.builders import cloud, group, host, servers, two_racks
from tests.unit.solver.clocks import standing, Stopping
from tests.unit.solver.outsiders import FewOthers
from tests.unit.solver.strategies import cases
from tests.unit.solver.test_relaxations_oracle import possible
from tests.unit.solver.test_trees import card, member, wants, with_cards

IN_TIME = Settings(timer=standing)


def found(wanted, snapshot, settings=IN_TIME):
    return headroom(wanted, snapshot, solve(wanted, snapshot),
                    settings=settings)


def repeated(wanted, snapshot, at_most, timer=standing):
    """The number of copies that are found without planning all together."""
    search = RepeatedCopies(wanted, snapshot, lambda number: bind(
        copies(wanted, number), snapshot), 100)
    search.run(Trials.of(unconstrained, Settings(timer=timer)), at_most)
    return search.total


def test_billions_of_copies_are_counted():
    snapshot = cloud(*(host(f'h{number}', f'r{number % 2}', vcpus=2 * 10**9)
                       for number in range(4)))
    answer = found(group(servers('m')), snapshot)
    assert (answer.at_least, answer.at_most) == (8 * 10**9, 8 * 10**9)
    answer = found(group(servers('m', 2), policies=[
        AntiAffinity(level='rack')]), snapshot)
    assert (answer.at_least, answer.at_most) == (4 * 10**9, 4 * 10**9)


@pytest.mark.parametrize('policy', [
    AntiAffinity(), AntiAffinity(level='rack'), Affinity(level='rack'),
    Spread(level='rack', max_skew=1)])
def test_more_copies_are_found_than_a_document_has_members(policy):
    """Of 30 hosts for 4,096 members each, nearly all capacity is used."""
    snapshot = cloud(*(host(f'h{number:02}', f'r{number // 10}', vcpus=4096)
                       for number in range(30)))
    wanted = group(servers('m', 3), policies=[policy])
    number = repeated(wanted, snapshot, 30 * 4096 // 3)
    assert 0.95 * 30 * 4096 // 3 <= number <= 30 * 4096 // 3


@examples(60)
@given(cases(hosts=3, members=2))
def test_the_copies_that_are_counted_fit(case):
    assume(not case.unknown)
    wanted, snapshot = case.read()
    bound = bind(wanted, snapshot)
    assume(can_repeat(bound, snapshot) and bound.all_members())
    at_most = most_copies(bound, snapshot)
    assume(at_most is not None)
    number = repeated(wanted, snapshot, at_most)
    assert number <= at_most
    assume(0 < number * len(bound.all_members()) <= 8)
    assert possible(_copies(wanted, number), snapshot)


def _copies(wanted, number):
    return Group(wanted.name, groups=tuple(
        Group(f'c{each}', wanted.members, wanted.groups, wanted.policies,
              wanted.relationships) for each in range(number)))


def test_the_scarcest_resource_limits_the_repetitions():
    snapshot = two_racks()
    wanted = bind(group(servers('a', vcpus=3), servers('b', vcpus=2),
                        servers('c', vcpus=0)), snapshot)
    assert repetitions(wanted, snapshot, dict.fromkeys('abc', 'r1h1')) == 3
    assert repetitions(wanted, snapshot, {
        'a': 'r1h1', 'b': 'r1h2', 'c': 'r1h1'}) == 5
    nothing = bind(group(servers('m', vcpus=0)), snapshot)
    assert repetitions(nothing, snapshot, {'m': 'r1h1'}) == 0


def test_copies_whose_policy_counts_other_servers_are_planned_together():
    snapshot = cloud(host('h1', vcpus=8), host('h2', vcpus=8))
    wanted = group(servers('m'), policies=[FewOthers()])
    answer = found(wanted, snapshot)
    # Two copies on each host: each of them has one other server there.
    assert (answer.at_least, answer.at_most) == (4, 4)
    assert isinstance(solve(copies(wanted, 4), snapshot), Plan)
    assert isinstance(solve(copies(wanted, 5), snapshot), Unplaceable)


def test_copies_that_concern_others_are_not_repeated():
    snapshot = two_racks()
    pair = group(servers('a'), servers('b'))
    assert can_repeat(bind(pair, snapshot), snapshot)
    for wanted in (
            group(servers('a'), policies=[Exclusive()]),
            group(servers('a'), policies=[FewOthers()]),
            group(groups=[group(servers('a'), name='g',
                                policies=[Exclusive(level='rack')])])):
        assert not can_repeat(bind(wanted, snapshot), snapshot)
    linked = cloud(host('h1', 'r1'), host('h2', 'r2'),
                   links=[Link(('r1',), 250)])
    wanted = group(servers('a'), servers('b'), relationships=[
        Bandwidth(between=('a', 'b'), level='rack', mbps=100)])
    assert not can_repeat(bind(wanted, linked), linked)
    trees = cloud(with_cards('h1', card('a', VGPU=4)))
    wanted = group(member('gpu', wants(VGPU=3)))
    assert not can_repeat(bind(wanted, trees), trees)


def test_without_time_no_copy_is_repeated_and_a_later_call_continues():
    snapshot = cloud(*(host(f'h{number}', 'r', vcpus=1000 + number)
                       for number in range(20)))
    wanted = group(servers('m'))
    assert repeated(wanted, snapshot, 20_190, Stopping(1)) == 0
    search = RepeatedCopies(wanted, snapshot, lambda number: bind(
        copies(wanted, number), snapshot), 100)
    totals = [0]
    for _ in range(200):
        search.run(Trials.of(unconstrained, Settings(
            timer=Stopping(60), time_limit=10.0)), 20_190)
        totals.append(search.total)
    assert totals == sorted(totals)
    assert 0 < totals[1] < totals[-1] == 20_190


def test_copies_that_are_planned_together_pass_the_check(monkeypatch):
    """The independent check evaluates the plan of all copies."""
    monkeypatch.setattr(headrooms, 'can_repeat', lambda *_: False)
    wanted = group(servers('web', 2, vcpus=3), groups=[
        group(servers('db', 2, vcpus=2), name='db',
              policies=[AntiAffinity(level='rack')])],
        policies=[AntiAffinity(max_per_domain=2)])
    plans = []
    with observing(lambda question, answer: plans.append(
            (question.group, answer))):
        answer = found(wanted, two_racks())
    largest, plan = max(((each, plan) for each, plan in plans
                         if hasattr(plan, 'placements')),
                        key=lambda pair: len(pair[0].groups))
    assert len(largest.groups) == answer.at_least > 2
    assert check(_copies(wanted, answer.at_least), two_racks(), {
        path.replace('copy-', 'c'): name
        for path, name in plan.hosts().items()}) == ()

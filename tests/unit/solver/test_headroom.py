# SPDX-License-Identifier: Apache-2.0
"""Headroom: the number of copies of a group that fit."""

from dataclasses import replace
import itertools

from hypothesis import assume, given
import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Link
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Unknown, Unplaceable
from nova_holistic.model.relaxations import Headroom
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.solver.observer import observing
from nova_holistic.solver.relaxations.headroom import headroom
from nova_holistic.solver.relaxations.trials import Trials
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.effort import examples
from tests.unit.builders import cloud, group, host, servers, two_racks
from tests.unit.solver.clocks import standing
from tests.unit.solver.strategies import cases
from tests.unit.solver.test_relaxations_oracle import possible

AT_ONCE = Settings(time_limit=0.0, timer=standing)


def found(snapshot, wanted, **options):
    return headroom(wanted, snapshot, solve(wanted, snapshot), **{
        'settings': Settings(timer=standing), **options})


@pytest.mark.parametrize('wanted, number', [
    (group(servers('node', 5, vcpus=4)), 3),
    (group(servers('node', 2), policies=[AntiAffinity(level='rack')]), 32),
    (group(servers('node', 2, vcpus=7), policies=[Affinity()]), 4),
    (group(servers('node', 2, vcpus=5),
           policies=[AntiAffinity(max_per_domain=1)]), 6),
    (group(servers('node', 2, vcpus=2), policies=[Exclusive()]), 4),
    (group(servers('a', vcpus=5), servers('b', vcpus=9)), 4),
    (group(servers('node', vcpus=9, location=('r1',))), 2),
    (group(servers('node', 2, vcpus=16),
           policies=[Exclusive(level='rack')]), 2)])
def test_the_number_of_copies_is_exact(wanted, number):
    assert found(two_racks(), wanted) == Headroom(number, number)


def test_exclusive_copies_keep_away_from_servers_of_others():
    snapshot = cloud(host('h1', 'r1', servers=1), host('h2', 'r1'))
    wanted = group(servers('node'), policies=[Exclusive()])
    assert found(snapshot, wanted) == Headroom(1, 1)


def test_copies_share_uplinks():
    snapshot = cloud(host('h1', 'r1'), host('h2', 'r2'), links=[
        Link(('r1',), 250)])
    wanted = group(
        servers('a'), servers('b'),
        policies=[AntiAffinity(level='rack')],
        relationships=[Bandwidth(between=('a', 'b'), level='rack',
                                 mbps=100)])
    assert found(snapshot, wanted) == Headroom(2, 2)


def test_no_copy_of_an_unplaceable_group_fits():
    wanted = group(servers('node', 9, vcpus=16))
    assert isinstance(solve(wanted, two_racks()), Unplaceable)
    assert found(two_racks(), wanted) == Headroom(0, 0)


def test_without_time_there_is_still_a_plan_and_a_bound():
    wanted = group(servers('node', 5, vcpus=4))
    assert found(two_racks(), wanted, settings=AT_ONCE) == Headroom(1, 3)


@pytest.mark.parametrize('wanted, number', [
    (group(servers('node', 2, vcpus=5), policies=[Affinity()]), 4),
    (group(servers('node', 5, vcpus=4), policies=[Affinity(level='rack')]), 2),
    (group(servers('a', vcpus=7), groups=[
        group(servers('b', vcpus=4), servers('c', vcpus=5), name='g',
              policies=[Affinity()])]), 4),
    (group(servers('node', 5, vcpus=4), policies=[
        Affinity(level='rack', weight=1.0)]), 3)])
def test_members_in_one_domain_use_the_room_of_single_domains(wanted, number):
    """The bound needs no plan: each domain holds whole sets of members."""
    assert found(two_racks(), wanted, settings=AT_ONCE).at_most == number


def test_an_unknown_answer_proves_no_number():
    wanted = group(servers('node', 5, vcpus=4))
    assert headroom(wanted, two_racks(), Unknown('no time'),
                    settings=AT_ONCE) == Headroom(0, 3)
    assert headroom(wanted, two_racks(), Unknown('no time'),
                    settings=Settings(timer=standing)) == Headroom(3, 3)


def test_an_undecided_number_of_copies_is_not_excluded():
    """Without time to decide, the answer is a range. The lower end is the
    number of copies that were planned, and the upper end is the bound from
    counting."""
    snapshot = cloud(host('h1', 'r1', vcpus=10), host('h2', 'r1', vcpus=10))
    wanted = group(servers('a', 2, vcpus=6), servers('b', vcpus=1))
    assert found(snapshot, wanted, settings=AT_ONCE) == Headroom(1, 1)
    wanted = group(servers('a', vcpus=6), servers('b', vcpus=3),
                   policies=[AntiAffinity()])
    assert found(snapshot, wanted, settings=AT_ONCE).at_least == 1
    assert found(snapshot, wanted, settings=AT_ONCE).at_most >= 2


def test_a_number_of_copies_without_an_answer_is_not_excluded(monkeypatch):
    """No program of several copies ends in time, so that only the counting
    of resources limits the number."""
    wanted = group(servers('node', 5, vcpus=4))
    monkeypatch.setattr(Trials, 'plan', lambda *_: Unknown('no time'))
    assert found(two_racks(), wanted) == Headroom(1, 3)


def test_nothing_limits_members_without_resources():
    snapshot = cloud(host('h1', 'r1'))
    wanted = group(servers('node', 2, vcpus=0))
    answer = headroom(wanted, snapshot, Unknown('no time'), settings=AT_ONCE)
    assert answer == Headroom(0, None)


class Groups:
    """An observer that records the group of each question."""

    def __init__(self):
        self.groups = []

    def __call__(self, question, answer):
        self.groups.append(question.group)


def test_copies_are_placed_beside_others_when_they_are_too_many_at_once():
    """The time for planning all copies together ends after two copies, so
    further copies are planned one by one."""
    snapshot = cloud(*(host(f'h{n}', f'r{n}', inventories={
        'VCPU': Inventory(total=4)}) for n in range(8)))
    wanted = group(servers('a', 2, vcpus=2), policies=[
        AntiAffinity(level='host'), Exclusive(level='host')])
    seen = Groups()
    timer = _Until(seen, 2)
    with observing(seen):
        answer = headroom(wanted, snapshot, solve(wanted, snapshot),
                          settings=Settings(timer=timer, time_limit=100.0))
    assert answer.at_least == 4
    assert any(each.groups and each.groups[0].name == 'copy-2'
               for each in seen.groups)


class _Until:
    """A timer on which the first part of the time ends when the given number
    of copies has been planned together."""

    def __init__(self, seen, copies):
        self._seen = seen
        self._copies = copies

    def __call__(self):
        return 71.0 if any(
            len(each.groups) >= self._copies
            for each in self._seen.groups) else 0.0


def copies(wanted, number):
    """Return a group of copies, built independently of the tested code."""
    return Group(wanted.name, groups=tuple(
        Group(f'c{n}', wanted.members, wanted.groups, wanted.policies,
              wanted.relationships) for n in range(number)))


@examples(60)
@given(cases(hosts=3, members=2))
def test_random_groups_have_the_headroom_that_every_placement_has(case):
    assume(not case.unknown)
    wanted, snapshot = case.read()
    settings = Settings(timer=standing)
    answer = headroom(wanted, snapshot,
                      solve(wanted, snapshot, settings=settings),
                      settings=settings)
    members = len(wanted.all_members())
    assume(answer.at_most is not None and answer.at_most * members <= 8)
    assert answer.at_least == answer.at_most
    number = next(n for n in itertools.count(1) if not possible(
        copies(wanted, n), snapshot))
    assert answer == Headroom(number - 1, number - 1)


def test_nothing_limits_a_group_whose_servers_have_all_left():
    wanted = group(replace(servers('node', 1), absent=frozenset({'node-0'})))
    assert found(two_racks(), wanted, settings=AT_ONCE).at_most is None

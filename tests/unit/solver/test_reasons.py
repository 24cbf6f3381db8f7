# SPDX-License-Identifier: Apache-2.0
"""Reasons in situations outside the twenty cases: external rules, placed
members, large groups, and expired time limits."""

import bisect
from dataclasses import dataclass
import itertools
from typing import ClassVar

import pytest

from nova_holistic.documents.plan import parse_plan, to_document
from nova_holistic.model.cloud.snapshot import Link
from nova_holistic.model.plan import Reason, Unplaceable
from nova_holistic.model.policy import Policy, Violations
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.location import Location
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, servers, two_racks
from tests.unit.solver.scenario import reasons


@dataclass(frozen=True, kw_only=True)
class Quota(Policy):
    """At most ``most`` members are on hosts with the trait."""

    type: ClassVar[str] = 'quota'
    keys: ClassVar[dict] = {}

    trait: str = 'GPU'
    most: int = 0

    @classmethod
    def from_document(cls, keys, *, weight, place):
        return cls(weight=weight, place=place, **keys)

    def check(self, scope, placement, snapshot):
        there = [m.path for m in scope.members if m.path in placement
                 and self.trait in placement[m.path].traits]
        over = max(0, len(there) - self.most)
        return Violations(over, (
            f'{len(there)} members have {self.trait}',) if over else ())

    def encode(self, scope, encoder):
        encoder.require(encoder.among(scope, [
            h for h in encoder.candidates(scope)
            if self.trait in h.traits]) <= self.most)


def _gpus(*names):
    return cloud(*(host(name, 'r', traits=frozenset(
        {'GPU'} if name.startswith('gpu') else ())) for name in names))


def test_an_external_policy_is_named_with_numbers():
    wanted = group(servers('db', 3, required_traits=frozenset({'GPU'})),
                   policies=[Quota(most=2), AntiAffinity(level='rack',
                                                         max_per_domain=9)])
    answer = solve(wanted, _gpus('gpu1', 'gpu2', 'cpu1'))
    assert answer.minimal
    assert [r.at for r in answer.reasons] == ['']
    assert answer.reasons[0].message.startswith('quota ')
    assert '2 of 3 members' in answer.reasons[0].message
    assert 'trait GPU' in answer.reasons[0].message


def test_a_policy_that_excludes_hosts_is_named_with_the_rest():
    wanted = group(servers('db', 1), policies=[Quota(most=0)])
    assert reasons(_gpus('gpu1', 'gpu2'), wanted) == {
        '': 'quota leaves none of 2 hosts'}


def test_reasons_distinguish_disabled_hosts_from_missing_ones():
    snapshot = cloud(host('a', 'r1'), host('b', 'r2'),
                     host('c', 'r3', enabled=False))
    assert reasons(snapshot, group(servers('db', location=('r3',)))) == {
        'db': 'no enabled host is in location r3'}
    assert reasons(snapshot, group(
        servers('db'), policies=[Location(path=('r3',))])) == {
            '': 'location r3 leaves none of 2 enabled hosts'}


def test_reasons_of_exclusive_groups_count_members_and_hosts():
    snapshot = cloud(*(host(f'{rack}h', rack, servers=int(rack != 'r2'))
                       for rack in ('r1', 'r2', 'r3')))
    wanted = group(servers('web'), groups=[
        group(servers('node', 2), name=name,
              policies=[Exclusive(level='rack')]) for name in ('a', 'b')])
    said = ('exclusive rack keeps 2 members and 3 outside the group in '
            'different racks; there are 3, and leaves 1 of 3 hosts')
    assert reasons(snapshot, wanted) == {'a': said, 'b': said}


def test_both_bandwidths_that_overload_one_uplink_are_named():
    snapshot = cloud(
        host('a', 'z1', 'r1'), host('b', 'z1', 'r2'), host('c', 'z2', 'r3'),
        levels=('az', 'rack', 'host'),
        links=[Link(domain=('z2',), uplink_mbps=500, used_mbps=400)])
    wanted = group(
        *(servers(name) for name in 'abc'),
        policies=[AntiAffinity(level='rack')], relationships=[
            Bandwidth(level='az', mbps=300, between=between)
            for between in (('a', 'b'), ('b', 'c'))])
    shown = reasons(snapshot, wanted)[''].splitlines()
    assert len(shown) == 3
    assert sum('cannot be satisfied for 3 members' in each
               for each in shown) == 2
    assert any('the uplink of az z2 would carry 300 Mbit/s; 400 of its 500 '
               'are used by others' in each for each in shown)


def test_policies_in_conflict_are_named_at_their_own_groups():
    wanted = group(groups=[
        group(servers('node', 3), name='db', policies=[AntiAffinity()]),
        group(servers('node', 9), name='web')],
        policies=[Location(path=('r1',))])
    assert reasons(two_racks(), wanted) == {
        'db': 'anti-affinity host needs 3 hosts; 2 are left',
        '': 'location r1 leaves 2 of 4 hosts'}


def test_a_policy_violated_by_placed_members_is_named():
    wanted = group(servers('db', 3), policies=[
        Affinity(level='rack'), AntiAffinity()])
    answer = solve(wanted, two_racks(),
                   placed={'db-0': 'r1h1', 'db-1': 'r2h1'})
    assert answer.reasons == (Reason('', (
        'affinity rack is violated by members that are already placed: '
        'members are in 2 domains of level rack instead of one: r1 has db-0; '
        'r2 has db-1')),)


def test_of_two_separate_conflicts_only_one_is_reported():
    wanted = group(groups=[
        group(servers('node', 3), name='db',
              policies=[AntiAffinity(level='rack')]),
        group(servers('node', 5), name='web', policies=[AntiAffinity()])])
    answer = solve(wanted, two_racks())
    assert answer.minimal
    assert answer.reasons in (
        (Reason('db', 'anti-affinity rack needs 3 racks; there are 2'),),
        (Reason('web', 'anti-affinity host needs 5 hosts; there are 4'),))


def _large(members):
    """Return a group whose members have two sizes, in one zone. Every zone has
    too few hosts with the trait NVME."""
    return group(groups=[
        group(servers('node', members // 4, vcpus=2), name='web', policies=[
            AntiAffinity(), Spread(level='rack', max_skew=2)]),
        group(servers('node', members // 4, vcpus=4,
                      required_traits=frozenset({'NVME'})),
              name='db', policies=[AntiAffinity()]),
        group(servers('node', members // 2), name='cache')],
        policies=[Affinity(level='az')])


def _hosts(number):
    return cloud(*(host(
        f'h{n:04}', f'az{n % 3}', f'r{n % 40}',
        traits=frozenset({'NVME'} if n % 7 == 0 else ()))
        for n in range(number)), levels=('az', 'rack', 'host'))


def test_the_reasons_of_a_large_group_are_minimal():
    # Every seventh host of a zone has the trait: 24 hosts for 50 members.
    answer = solve(_large(200), _hosts(500))
    assert answer.minimal
    assert answer.reasons == (
        Reason('db', 'anti-affinity host needs 50 hosts; az0 has 24 hosts '
                     'with trait NVME'),
        Reason('', 'affinity az puts all 200 members into one az'))


@pytest.mark.parametrize('asked', [1e-9, 1e-3])
def test_at_the_deadline_the_reasons_may_not_be_minimal(
        asked):
    wanted = group(groups=[group(servers('node', 2), name='db', policies=[
        Affinity(level='rack'), AntiAffinity(level='rack'),
        AntiAffinity(level='host')])])

    def solved(looks):
        return solve(wanted, two_racks(), settings=Settings(
            time_limit=asked, timer=_Clock(asked, looks)))

    def is_known(looks):
        return isinstance(solved(looks), Unplaceable)

    # Use a number of readings at which infeasibility is known, but not with
    # one reading less.
    most = next(2 ** n for n in itertools.count() if is_known(2 ** n))
    looks = bisect.bisect_left(range(most), True, most // 2, key=is_known)
    assert not is_known(looks - 1)
    answer = solved(looks)
    assert not answer.minimal
    assert any('anti-affinity rack' in r.message for r in answer.reasons)
    assert any(r.message.startswith('affinity') for r in answer.reasons)
    document = to_document(answer, 'shop')
    assert document['minimal'] is False
    assert parse_plan(document) == answer


class _Clock:
    """A clock that is stopped for a number of readings, and then exceeds the
    limit."""

    def __init__(self, limit, looks):
        self._limit = limit
        self._looks = looks
        self._asked = 0

    def __call__(self):
        self._asked += 1
        return 0.0 if self._asked <= self._looks else (
            self._limit * self._asked)


def test_minimal_reasons_have_no_mark_in_the_document():
    answer = solve(group(servers('db', vcpus=99)), two_racks())
    assert to_document(answer, 'shop') == {
        'status': 'unplaceable', 'reasons': [{
            'at': 'db',
            'message': 'needs VCPU 99; the largest free amount on a host is '
                       '16'}]}

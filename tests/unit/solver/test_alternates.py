# SPDX-License-Identifier: Apache-2.0
"""Alternate hosts of members: any members may use them at the same time."""

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.request_group import RequestGroup
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.alternates.alternates import alternates
from nova_holistic.solver.check import check
from nova_holistic.solver.planned_group import PlannedGroup
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, servers, two_racks


def test_alternates_of_a_server_without_policies_are_emptiest_first():
    snapshot = cloud(
        host('a', 'r1', inventories={'VCPU': Inventory(16, used=8)}),
        host('b', 'r1'),
        host('c', 'r2', inventories={'VCPU': Inventory(16, used=4)}),
        host('d', 'r2', inventories={'VCPU': Inventory(16, used=16)}))
    wanted = group(servers('web'))
    plan = solve(wanted, snapshot)
    assert plan.hosts() == {'web': 'b'}
    assert alternates(PlannedGroup(wanted, snapshot, plan),
                      3) == {'web': ('c', 'a')}
    assert alternates(PlannedGroup(wanted, snapshot, plan),
                      1) == {'web': ('c',)}


def test_an_exclusive_member_avoids_the_alternates_of_others():
    wanted = group(servers('b'), groups=[
        group(servers('a'), name='in', policies=[Exclusive()])])
    snapshot = cloud(*(host(f'h{n}', 'r1', servers=int(n == 0))
                       for n in range(6)))
    stays = {'b': 'h0'}
    plan = solve(wanted, snapshot, placed=stays)
    found = alternates(PlannedGroup(wanted, snapshot, plan, stays), 8,
                       existing_alternates={'b': ('h4', 'h5')})
    assert found['in/a']
    assert not {'h0', 'h4', 'h5'} & {*found['in/a']}


def test_alternates_keep_anti_affinity_to_the_other_members():
    snapshot = cloud(*(host(f'{rack}h{n}', rack)
                       for rack in ('r1', 'r2', 'r3') for n in (1, 2)))
    wanted = group(servers('db', 2), policies=[AntiAffinity(level='rack')])
    plan = solve(wanted, snapshot)
    found = alternates(PlannedGroup(wanted, snapshot, plan), 10)
    first, second = (
        {name[:2] for name in (plan.hosts()[path], *found[path])}
        for path in ('db-0', 'db-1'))
    # The rack without members serves only one of the two members.
    assert first | second == {'r1', 'r2', 'r3'} and not first & second
    assert not {*plan.hosts().values()} & {*found['db-0'], *found['db-1']}


def test_every_member_gets_one_alternate_before_any_gets_two():
    snapshot = cloud(*(host(f'h{n}', 'r1') for n in range(8)))
    wanted = group(servers('db', 3), policies=[AntiAffinity()])
    found = alternates(PlannedGroup(wanted, snapshot, solve(wanted, snapshot)),
                       8)
    assert sorted(len(names) for names in found.values()) == [1, 2, 2]
    assert len({name for names in found.values() for name in names}) == 5


def test_alternates_of_one_member_come_last_for_the_others():
    snapshot = cloud(*(host(f'h{n}', 'r1', vcpus=4) for n in range(4)))
    wanted = group(servers('web', 2, vcpus=4))
    plan = solve(wanted, snapshot)
    found = alternates(PlannedGroup(wanted, snapshot, plan), 1)
    assert {*plan.hosts().values(), *found['web-0'], *found['web-1']} == {
        'h0', 'h1', 'h2', 'h3'}


def test_alternates_keep_affinity_to_the_other_members():
    wanted = group(servers('db', 2), policies=[Affinity(level='rack')])
    plan = solve(wanted, two_racks(3))
    rack = plan.hosts()['db-0'][:2]
    for names in alternates(PlannedGroup(wanted, two_racks(3), plan),
                            10).values():
        assert len(names) == 2
        assert {name[:2] for name in names} == {rack}


def test_capacity_used_by_the_plan_is_not_offered_to_alternates():
    snapshot = cloud(host('a', 'r1', vcpus=2), host('b', 'r1', vcpus=2))
    wanted = group(servers('web', 2, vcpus=2))
    plan = solve(wanted, snapshot)
    assert alternates(PlannedGroup(wanted, snapshot, plan), 5) == {
        'web-0': (), 'web-1': ()}


def test_usage_of_placed_members_is_counted_once():
    snapshot = cloud(
        host('a', 'r1', inventories={'VCPU': Inventory(4, used=2)}),
        host('b', 'r1', inventories={'VCPU': Inventory(4)}))
    wanted = group(servers('web', 2, vcpus=2))
    placed = {'web-0': 'a'}
    plan = solve(wanted, snapshot, placed=placed)
    assert plan.hosts() == {'web-0': 'a', 'web-1': 'b'}
    # A placed member stays and needs no alternate.
    assert alternates(PlannedGroup(wanted, snapshot, plan, placed), 5) == {
        'web-0': (), 'web-1': ('a',)}


def test_every_alternate_in_a_large_group_passes_the_check():
    snapshot = cloud(*(host(f'h{n:02}', f'r{n % 5}') for n in range(25)))
    wanted = group(
        groups=[group(servers('node', 4, vcpus=6), name=f'g{n}', policies=[
            AntiAffinity(), AntiAffinity(level='rack')]) for n in range(5)])
    plan = solve(wanted, snapshot)
    found = alternates(PlannedGroup(wanted, snapshot, plan), 3)
    assert any(found.values())
    for path, names in found.items():
        for name in names:
            assert check(wanted, snapshot,
                         {**plan.hosts(), path: name}) == ()


def test_an_alternate_of_an_even_spread_is_in_the_same_rack():
    wanted = group(servers('web', 4), policies=[
        Spread(level='rack', max_skew=0)])
    plan = solve(wanted, two_racks())
    for path, found in alternates(PlannedGroup(wanted, two_racks(), plan),
                                  10).items():
        rack = plan.hosts()[path][:2]
        assert {*found} == {f'{rack}h1', f'{rack}h2'} - {plan.hosts()[path]}


class Silent(Affinity):
    """A policy whose encoding adds no rows."""

    def encode(self, scope, encoder):
        pass


def test_a_check_without_encoded_rows_is_respected():
    snapshot = cloud(*(host(f'{rack}h{n}', rack, vcpus=4)
                       for rack in ('r1', 'r2') for n in range(2)))
    wanted = group(servers('web'), groups=[group(
        servers('db', 2, vcpus=3), name='in',
        policies=[Affinity(level='rack')])])
    plan = solve(wanted, snapshot)
    silent = group(servers('web'), groups=[group(
        servers('db', 2, vcpus=3), name='in',
        policies=[Silent(level='rack')])])
    found = alternates(PlannedGroup(silent, snapshot, plan), 3)
    assert found['in/db-0'] == found['in/db-1'] == ()
    assert found['web']


def test_request_groups_use_the_capacity_of_their_host():
    """The member with a request group fills its host, so that the other one
    has no alternate."""
    snapshot = cloud(host('h1', 'r1', vcpus=4), host('h2', 'r1', vcpus=4))
    wanted = group(servers('web', vcpus=4), MemberDescription(
        'db', Requirements(request_groups=(
            RequestGroup('1', FrozenMapping({'VCPU': 4})),))))
    plan = solve(wanted, snapshot)
    assert not alternates(PlannedGroup(wanted, snapshot, plan), 1)['web']

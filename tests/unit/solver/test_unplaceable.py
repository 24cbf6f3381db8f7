# SPDX-License-Identifier: Apache-2.0
"""Unplaceable groups and their reasons."""

import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.plan import Plan, Reason, Unplaceable
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, servers, two_racks
from tests.unit.solver.scenario import reasons


@pytest.mark.parametrize('facet, said', [
    ({'required_traits': frozenset({'HW_GPU'})}, 'no host has trait HW_GPU'),
    ({'availability_zone': 'az9'}, 'no host is in availability zone az9'),
    ({'aggregates': frozenset({'ssd'})}, 'no host is in aggregate ssd'),
    ({'location': ('r7',)}, 'no host is in location r7'),
    ({'forbidden_traits': frozenset({'COMMON'})},
     'no host is without trait COMMON'),
])
def test_a_requirement_that_no_host_meets_is_named(facet, said):
    wanted = group(servers('web'), groups=[
        group(servers('node', 2, **facet), name='db')])
    snapshot = two_racks(traits=frozenset({'COMMON'}))
    assert reasons(snapshot, wanted) == {'db/node': said}


def test_requirements_that_no_host_meets_together_are_counted():
    snapshot = cloud(host('a', 'r1', traits=frozenset({'T'})),
                     host('b', 'r2'), host('c', 'r2'))
    wanted = group(servers('db', location=('r2',),
                           required_traits=frozenset({'T'})))
    assert reasons(snapshot, wanted) == {'db': (
        '2 of 3 hosts are in location r2; none of these 2 has trait T')}


def test_a_resource_class_that_no_host_offers_is_named():
    snapshot = cloud(host('a', 'r', inventories={'PCPU': Inventory(4)}))
    assert 'no host offers VCPU' in reasons(
        snapshot, group(servers('db'))).values()


def test_a_cloud_without_hosts_is_unplaceable():
    assert reasons(cloud(), group(servers('db'))) == {
        '': 'the inventory has no hosts'}


def test_disabled_hosts_are_not_used():
    snapshot = cloud(host('a', 'r', enabled=False))
    assert reasons(snapshot, group(servers('db'))) == {
        '': 'no host is enabled'}


def test_a_member_too_large_for_any_host_names_the_largest_amount():
    snapshot = cloud(*(host(n, 'r', inventories={
        'VCPU': Inventory(16, used=used)}) for n, used in zip('ab', (12, 13))))
    assert reasons(snapshot, group(servers('db', vcpus=8))) == {
        'db': 'needs VCPU 8; the largest free amount on a host is 4'}


def test_more_members_than_the_hosts_can_take_are_counted():
    assert reasons(two_racks(1), group(servers('db', 5, vcpus=8))) == {
        'db': '5 members each need VCPU 8; the hosts have room for 4'}


def test_a_total_demand_above_the_free_amount_is_named():
    wanted = group(servers('a', 4, vcpus=8), servers('b', 1))
    assert reasons(two_racks(1), wanted) == {'a, b': (
        'the 5 members need VCPU 33 in all; the 2 hosts that suit them have '
        '32 free')}


def test_classes_that_exclude_hosts_with_free_amounts_are_named():
    """The members fit if the second host has free CPUs."""
    def of(used):
        return cloud(
            host('small', inventories={
                'VCPU': Inventory(8), 'MEMORY_MB': Inventory(2048)}),
            host('big', inventories={
                'VCPU': Inventory(8, used=used),
                'MEMORY_MB': Inventory(65536)}))

    asked = Requirements(FrozenMapping({'VCPU': 1, 'MEMORY_MB': 1536}))
    wanted = group(*(MemberDescription(name, asked) for name in 'ab'))
    assert reasons(of(used=8), wanted) == {'a, b': (
        'the 2 members need MEMORY_MB 3072 in all; the 1 host with room for '
        'VCPU 1 has 2048 free')}
    assert isinstance(solve(wanted, of(used=0)), Plan)


@pytest.mark.parametrize('other', [
    {}, {'VCPU': Inventory(8, min_unit=2)}])
def test_amounts_that_a_host_does_not_accept_are_named(other):
    """The members fit if the second host accepts one CPU."""
    def of(other):
        return cloud(
            host('small', inventories={
                'VCPU': Inventory(8), 'MEMORY_MB': Inventory(2048)}),
            host('big', inventories={**other, 'MEMORY_MB': Inventory(65536)}))

    asked = Requirements(FrozenMapping({'VCPU': 1, 'MEMORY_MB': 1536}))
    wanted = group(*(MemberDescription(name, asked) for name in 'ab'))
    assert reasons(of(other), wanted) == {'a, b': (
        'the 2 members need MEMORY_MB 3072 in all; the 1 host with room for '
        'VCPU 1 has 2048 free')}
    assert isinstance(solve(wanted, of({'VCPU': Inventory(8)})), Plan)


def test_a_class_that_excludes_only_some_of_the_members_names_them():
    """The first member fits on the second host if it needs no CPU. The second
    member needs none, and its trait excludes that host."""
    snapshot = cloud(
        host('small', traits={'CUSTOM_FAST'}, inventories={
            'VCPU': Inventory(8), 'MEMORY_MB': Inventory(2048)}),
        host('big', inventories={'MEMORY_MB': Inventory(65536)}))

    def of(**amounts):
        return group(
            MemberDescription('a', Requirements(FrozenMapping(
                {**amounts, 'MEMORY_MB': 1536}))),
            MemberDescription('b', Requirements(
                FrozenMapping({'MEMORY_MB': 1536}),
                required_traits=frozenset({'CUSTOM_FAST'}))))

    assert reasons(snapshot, of(VCPU=1)) == {
        'b': 'requires hosts with trait CUSTOM_FAST',
        'a, b': 'the 2 members need MEMORY_MB 3072 in all; the 1 host with '
                'room for VCPU 1 (a) has 2048 free'}
    assert isinstance(solve(of(), snapshot), Plan)


def test_one_host_is_spoken_of_in_the_singular():
    snapshot = cloud(host('a', 'r', inventories={'VCPU': Inventory(16)}))
    wanted = group(servers('a', 2, vcpus=8), servers('b', 1))
    assert reasons(snapshot, wanted) == {'a, b': (
        'the 3 members need VCPU 17 in all; the 1 host that suits them has '
        '16 free')}


def test_too_few_racks_for_an_anti_affinity_are_counted():
    full = {'VCPU': Inventory(16, used=16)}
    snapshot = cloud(host('a', 'r1'), host('b', 'r2'), host('c', 'r3'),
                     host('d', 'r4', inventories=full))
    wanted = group(groups=[group(servers('node', 4), name='db', policies=[
        AntiAffinity(level='rack')])])
    assert reasons(snapshot, wanted) == {'db': (
        'anti-affinity rack needs 4 racks; 3 racks have room for VCPU 1')}


def test_affinity_without_a_large_enough_rack_names_the_largest():
    wanted = group(servers('db', 5, vcpus=8),
                   policies=[Affinity(level='rack')])
    assert reasons(two_racks(), wanted) == {'': (
        'affinity rack needs one rack with room for all 5 members of VCPU 8; '
        'at most 4 fit')}


@pytest.mark.parametrize('solver', ['highs', 'cbc'])
def test_policies_that_cannot_hold_together_are_named(solver):
    wanted = group(groups=[
        group(servers('node', 2), name='db',
              policies=[Affinity(level='rack'), AntiAffinity(level='rack')]),
        group(servers('node', 2), name='web', policies=[AntiAffinity()])])
    answer = solve(wanted, two_racks(), settings=Settings(solver=solver))
    assert answer.reasons == (
        Reason('db', 'anti-affinity rack needs 2 racks; only 1 may be used'),
        Reason('db', 'affinity rack puts both members into one rack'))


@pytest.mark.parametrize('solver', ['highs', 'cbc'])
def test_fragmented_capacity_is_named_as_the_reason(solver):
    # Six servers of 5 request 30 of 32, but each host of 8 has room for only
    # one.
    snapshot = cloud(*(host(f'h{n}', 'r', vcpus=8) for n in range(4)))
    wanted = group(servers('a', 3, vcpus=5), servers('b', 3, vcpus=5,
                   forbidden_traits=frozenset({'X'})))
    found = reasons(snapshot, wanted, settings=Settings(solver=solver))
    assert found == {'a, b': (
        'the 6 members do not fit together on 4 hosts: they need VCPU 30 of '
        '32 free (at most 8 on one host)')}


def test_placed_members_that_violate_a_policy_are_a_reason():
    wanted = group(servers('db', 3), policies=[AntiAffinity(level='rack')])
    answer = solve(wanted, two_racks(),
                   placed={'db-0': 'r1h1', 'db-1': 'r1h2'})
    assert isinstance(answer, Unplaceable)
    assert answer.reasons == (Reason('', (
        'anti-affinity rack is violated by members that are already placed: '
        'rack r1 holds 2 members, and the limit is 1: db-0, db-1')),)


def test_two_policies_of_many_that_contradict_each_other_are_named():
    """Ten racks of 20 members each hold all members, but the zone of two racks
    then holds too few. Each policy alone permits a plan."""
    snapshot = cloud(*(
        host(f'{az}r{rack}h{number}', az, f'{az}r{rack}')
        for az, racks in (('az1', 4), ('az2', 4), ('az3', 2))
        for rack in range(racks) for number in range(20)),
        levels=('az', 'rack', 'host'))
    leaves = [group(
        *(servers(f's{size}', 5, vcpus=size) for size in range(1, 5)),
        name=f'leaf{n}', policies=[AntiAffinity(max_per_domain=4)])
        for n in range(10)]
    spread = Spread(level='az', max_skew=4)
    wanted = group(groups=leaves, policies=[
        AntiAffinity(level='rack', max_per_domain=20), spread])
    answer = solve(wanted, snapshot)
    assert isinstance(answer, Unplaceable)
    assert [each.at for each in answer.reasons] == ['', '']
    spread_reason, rack_reason = answer.reasons
    assert spread_reason.message.startswith(
        'spread az with max_skew 4 distributes 200 members evenly')
    assert rack_reason.message == (
        'anti-affinity rack needs 10 racks for 200 members, 20 in each')


def test_a_weighted_policy_never_makes_a_group_unplaceable():
    wanted = group(servers('db', 8), policies=[
        Affinity(level='rack', weight=1.0), AntiAffinity(weight=1.0)])
    assert isinstance(solve(wanted, two_racks()), Plan)


@pytest.mark.parametrize('hosts, at, said', [
    ((), '', 'the inventory has no hosts'),
    ((host('full', 'r', inventories={'VCPU': Inventory(4, used=4)}),), 'm0',
     'needs VCPU 1; the largest free amount on a host is 0')])
def test_many_different_members_have_no_host(hosts, at, said):
    wanted = group(*(servers(f'm{n}', vcpus=n + 1) for n in range(151)))
    assert reasons(cloud(*hosts), wanted)[at] == said

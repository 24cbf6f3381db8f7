# SPDX-License-Identifier: Apache-2.0
"""The check of a placement reports each reason that makes it invalid."""

import dataclasses

import pytest

from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.nova.flavor import Flavor
from nova_holistic.model.plan import Reason
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.check import check
from tests.unit.builders import cloud, group, host, servers, two_racks

PAIR = group(servers('node', 2, vcpus=4))
APART = {'node-0': 'r1h1', 'node-1': 'r2h1'}


def one_host(inventory, **fields):
    return cloud(host('h', 'r1', inventories={'VCPU': inventory}, **fields))


def messages(*args, **kwargs):
    return [reason.message for reason in check(*args, **kwargs)]


def test_a_valid_placement_has_no_reasons():
    assert check(PAIR, two_racks(), APART) == ()


def test_every_member_must_be_placed():
    assert check(PAIR, two_racks(), {'node-0': 'r1h1'}) == (
        Reason('node-1', 'the member is not placed'),)


def test_an_unknown_member_is_reported():
    assert check(PAIR, two_racks(), {**APART, 'db/x': 'r1h1'}) == (
        Reason('db/x', 'the group has no such member'),)


def test_an_unknown_host_is_reported():
    assert check(PAIR, two_racks(), {**APART, 'node-1': 'cmp-9'}) == (
        Reason('node-1', 'host cmp-9 is not in the snapshot'),)


def test_a_disabled_host_takes_no_new_member():
    racks = two_racks(enabled=False)
    assert messages(PAIR, racks, APART) == [
        'host r1h1 is disabled', 'host r2h1 is disabled']
    assert check(PAIR, racks, APART, placed=APART) == ()


def test_a_placed_member_must_stay_on_its_host():
    assert check(PAIR, two_racks(), APART, placed={'node-1': 'r2h2'}) == (
        Reason('node-1', 'the member is on host r2h2 already and cannot be '
                         'on r2h1'),)


@pytest.mark.parametrize('wanted, message', [
    ({'required_traits': frozenset({'CUSTOM_NVME'})},
     'host h lacks trait CUSTOM_NVME'),
    ({'forbidden_traits': frozenset({'CUSTOM_SLOW'})},
     'host h has the forbidden trait CUSTOM_SLOW'),
    ({'aggregates': frozenset({'ssd', 'gpu'})},
     'host h is not in aggregate gpu'),
    ({'availability_zone': 'az2'},
     'host h is in availability zone az1, not az2'),
    ({'location': ('r2',)}, 'host h is at r1/h, not below r2'),
    ({'location': ('r1', 'other')}, 'host h is at r1/h, not below r1/other'),
])
def test_a_host_must_meet_the_requirements_of_the_member(wanted, message):
    snapshot = one_host(
        Inventory(16), traits=frozenset({'CUSTOM_SLOW'}),
        aggregates=frozenset({'ssd'}), availability_zone='az1')
    assert check(group(servers('a', **wanted)), snapshot, {'a': 'h'}) == (
        Reason('a', message),)


def test_a_host_that_meets_all_requirements_is_accepted():
    snapshot = one_host(
        Inventory(16), traits=frozenset({'CUSTOM_NVME'}),
        aggregates=frozenset({'ssd', 'gpu'}), availability_zone='az2')
    wanted = servers(
        'a', required_traits=frozenset({'CUSTOM_NVME'}),
        forbidden_traits=frozenset({'CUSTOM_SLOW'}),
        aggregates=frozenset({'ssd', 'gpu'}), availability_zone='az2',
        location=('r1', 'h'))
    assert check(group(wanted), snapshot, {'a': 'h'}) == ()


@pytest.mark.parametrize('inventory, amount, message', [
    (Inventory(16, min_unit=4), 2,
     '2 VCPU on host h is less than its min_unit, 4'),
    (Inventory(16, max_unit=4), 6,
     '6 VCPU on host h is more than its max_unit, 4'),
    (Inventory(16, step_size=4), 6,
     '6 VCPU on host h is not a multiple of its step_size, 4'),
    (Inventory(16, used=12), 5,
     'host h has 16 VCPU, of which 12 are used: no room for 5'),
    (Inventory(16, reserved=4, used=10), 3,
     'host h has 12 VCPU, of which 10 are used: no room for 3'),
    (Inventory(16, allocation_ratio=1.5, used=20), 5,
     'host h has 24 VCPU, of which 20 are used: no room for 5'),
    # 5 x 1.1 is 5.5, so a sixth unit does not fit.
    (Inventory(5, allocation_ratio=1.1, used=5), 1,
     'host h has 5 VCPU, of which 5 are used: no room for 1'),
    (Inventory(16, used=20), 1,
     'host h has 16 VCPU, of which 20 are used: no room for 1'),
])
def test_amounts_follow_placements_rules(inventory, amount, message):
    asked = group(servers('a', vcpus=amount))
    assert check(asked, one_host(inventory), {'a': 'h'}) == (
        Reason('a', message),)


@pytest.mark.parametrize('inventory, amount', [
    (Inventory(16, min_unit=4, max_unit=4, step_size=4), 4),
    (Inventory(16, used=12), 4),
    (Inventory(16, reserved=4, used=10), 2),
    (Inventory(16, allocation_ratio=1.5, used=20), 4)])
def test_the_last_free_unit_may_be_taken(inventory, amount):
    asked = group(servers('a', vcpus=amount))
    assert check(asked, one_host(inventory), {'a': 'h'}) == ()


def test_a_missing_resource_class_is_reported():
    gpu = MemberDescription(
        'a', Requirements(FrozenMapping({'CUSTOM_GPU': 1})))
    assert check(group(gpu), one_host(Inventory(16)), {'a': 'h'}) == (
        Reason('a', 'host h has no CUSTOM_GPU'),)


def test_the_amounts_of_all_members_on_a_host_are_added():
    snapshot = one_host(Inventory(16, used=9))
    both = {'node-0': 'h', 'node-1': 'h'}
    assert check(PAIR, snapshot, both) == (
        Reason('node-0, node-1', 'host h has 16 VCPU, of which 9 are used: '
                                 'no room for 8'),)


def test_usage_of_placed_members_is_not_counted_twice():
    snapshot = one_host(Inventory(16, used=12))
    both = {'node-0': 'h', 'node-1': 'h'}
    assert check(PAIR, snapshot, both, placed={'node-0': 'h'}) == ()


def test_a_violated_hard_policy_is_reported_with_its_group():
    rule = AntiAffinity(level='rack')
    shop = group(groups=[group(servers('node', 2), name='db',
                               policies=[rule])])
    where = {'db/node-0': 'r1h1', 'db/node-1': 'r1h2'}
    assert check(shop, two_racks(), where) == (
        Reason('db: anti-affinity',
               'rack r1 holds 2 members, and the limit is 1: db/node-0, '
               'db/node-1'),)


def test_a_policy_of_the_top_level_binds_nested_groups():
    shop = group(servers('gateway'), policies=[Affinity(level='rack')],
                 groups=[group(servers('node'), name='db')])
    where = {'gateway': 'r1h1', 'db/node': 'r2h1'}
    assert [r.at for r in check(shop, two_racks(), where)] == ['affinity']


def test_policies_include_placed_members():
    apart = dataclasses.replace(PAIR, policies=(AntiAffinity(),))
    together = {'node-0': 'r1h1', 'node-1': 'r1h1'}
    assert [r.at for r in check(apart, two_racks(), together,
                                placed={'node-0': 'r1h1'})] == [
        'anti-affinity']


def test_a_violated_preference_is_no_reason():
    soft = dataclasses.replace(PAIR, policies=(AntiAffinity(weight=1.0),))
    together = {'node-0': 'r1h1', 'node-1': 'r1h1'}
    assert check(soft, two_racks(), together) == ()


def test_flavors_are_resolved_before_the_check():
    snapshot = dataclasses.replace(
        one_host(Inventory(16, used=10)), flavors={
            'big': Flavor('big', '1', FrozenMapping({'VCPU': 8}))})
    shop = group(MemberDescription('a', Requirements(flavor='big')))
    assert messages(shop, snapshot, {'a': 'h'}) == [
        'host h has 16 VCPU, of which 10 are used: no room for 8']
    with pytest.raises(InvalidDocument):
        check(shop, one_host(Inventory(16)), {'a': 'h'})

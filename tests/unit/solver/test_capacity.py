# SPDX-License-Identifier: Apache-2.0
"""The exact capacity of a host by Placement's rules."""

import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.scenario import plan


def _takes(number, vcpus, solver='highs', **inventory):
    """Return whether one host has capacity for the number of members with that
    many VCPUs each."""
    snapshot = cloud(host('h', 'r', inventories={
        'VCPU': Inventory(**inventory)}))
    answer = solve(group(servers('db', number, vcpus=vcpus)), snapshot,
                   settings=Settings(solver=solver))
    assert isinstance(answer, (Plan, Unplaceable))
    return isinstance(answer, Plan)


@pytest.mark.parametrize('solver', ['highs', 'cbc'])
def test_an_allocation_ratio_multiplies_the_unreserved_amount(solver):
    assert _takes(16, 2, solver, total=4, reserved=2, allocation_ratio=16.0)
    assert not _takes(17, 2, solver, total=4, reserved=2,
                      allocation_ratio=16.0)


def test_capacity_with_a_ratio_below_1_is_rounded_down():
    assert _takes(8, 1, total=9, allocation_ratio=0.9)
    assert not _takes(9, 1, total=9, allocation_ratio=0.9)


def test_usage_of_others_reduces_the_capacity():
    assert _takes(3, 2, total=16, used=10)
    assert not _takes(4, 2, total=16, used=10)


def test_min_unit_and_max_unit_limit_each_member():
    assert _takes(2, 4, total=16, min_unit=4, max_unit=4)
    assert not _takes(1, 3, total=16, min_unit=4)
    assert not _takes(1, 5, total=16, max_unit=4)


def test_amounts_must_be_multiples_of_step_size():
    assert _takes(2, 6, total=16, step_size=3)
    assert not _takes(1, 4, total=16, step_size=3)


def test_an_overcommitted_host_takes_no_more_members():
    snapshot = cloud(
        host('a', 'r', inventories={'VCPU': Inventory(4, used=9)}),
        host('b', 'r', inventories={'VCPU': Inventory(4, used=3)}))
    plan(snapshot, group(servers('db'))).uses('b')


def test_members_of_different_sizes_fill_hosts_exactly():
    snapshot = cloud(*(host(f'h{n}', 'r', vcpus=10) for n in range(3)))
    wanted = group(servers('a', 3, vcpus=7), servers('b', 3, vcpus=3))
    plan(snapshot, wanted).uses('h0', 'h1', 'h2')


def _pair(large, small, free):
    snapshot = cloud(host('h', 'r', inventories={
        'CUSTOM_X': Inventory(total=free, max_unit=2**31 - 1),
        'VCPU': Inventory(2)}),
        host('other', 'r', inventories={
            'CUSTOM_X': Inventory(total=large, max_unit=2**31 - 1),
            'VCPU': Inventory(1)}))
    wanted = group(*(MemberDescription(name, Requirements(FrozenMapping(
        {'CUSTOM_X': amount, 'VCPU': 1})))
        for name, amount in (('large', large), ('small', small))))
    return snapshot, wanted


@pytest.mark.parametrize('solver', ['highs', 'cbc'])
def test_one_unit_too_many_of_10_to_the_9_is_refused(solver):
    # Both members on h exceed its capacity by one unit, far below the relative
    # tolerance of a solver.
    snapshot, wanted = _pair(10**9, 1, 10**9)
    found = plan(snapshot, wanted, objective='fewest-hosts',
                 settings=Settings(solver=solver))
    found.uses('h', 'other')


@pytest.mark.parametrize('solver', ['highs', 'cbc'])
def test_the_last_unit_of_10_to_the_9_can_be_used(solver):
    snapshot, wanted = _pair(10**9, 1, 10**9 + 1)
    found = plan(snapshot, wanted, objective='fewest-hosts',
                 settings=Settings(solver=solver))
    found.uses('h')


def test_small_members_on_huge_hosts_still_spread():
    snapshot = cloud(*(host(f'h{n}', 'r', inventories={
        'VCPU': Inventory(10**9, used=used)})
        for n, used in enumerate((5 * 10**8, 0, 9 * 10**8))))
    plan(snapshot, group(servers('db', 3))).uses('h1')

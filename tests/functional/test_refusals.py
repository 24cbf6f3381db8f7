# SPDX-License-Identifier: Apache-2.0
"""A pointer that cannot be used is refused with a reason, or ignored."""

import datetime
import uuid

from nova.exception import NoValidHost
import pytest

from nova_holistic.embedded.calls.servers import (
    ADMIN, CloudUser, PROJECT, USER)
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds.errors import NoResponse
from nova_holistic.table.records import GroupStatus, MemberState

HOSTS = tuple(
    EmbeddedHost(f'cmp-{number}', zone=f'az{number % 2 + 1}', rack='r1',
                 traits=('CUSTOM_FAST',))
    for number in range(4))
SMALL = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10}
SHOP = {'name': 'shop', 'members': [
    {'name': 'web', 'flavor': 'small', 'availability_zone': 'az1'},
    {'name': 'db', 'resources': SMALL},
]}
PLAN = {'web': 'cmp-2', 'db': 'cmp-1'}


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS, options={
            ('holistic', 'search_time_limit'): 0}) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        cloud.create_flavor('large', 4, 4096, 10)
        cloud.create_flavor('fast', 2, 2048, 10,
                            {'trait:CUSTOM_FAST': 'required'})
        cloud.create_flavor('not-fast', 2, 2048, 10,
                            {'trait:CUSTOM_FAST': 'forbidden'})
        cloud.create_flavor('numbered', 2, 2048, 10,
                            {'resources1:MEMORY_MB': '2048'})
        yield cloud


@pytest.fixture
def cloud(running):
    """The cloud, which must be unchanged after the test."""
    yield running
    running.conf.clear_override('failure_mode', group='holistic')
    running.clear()


@pytest.fixture
def shop(cloud):
    return cloud.plan(SHOP, PLAN, resources=SMALL)


def refusal(cloud, group, member, flavor='small', **extra):
    """The fault of a refused create. Asserts that the plan is unchanged."""
    before = cloud.table.members(group), cloud.used()
    server = cloud.create_server(
        'refused', flavor, {'group': group, 'member': member}, **extra)
    message = cloud.fault_of(server)
    rows = cloud.table.members(group)
    assert [(row.member, row.state, row.instance_uuid, row.held)
            for row in rows] == [
        (row.member, row.state, row.instance_uuid, row.held)
        for row in before[0]]
    assert cloud.used() == before[1]
    return message


@pytest.mark.parametrize('hints, reason', [
    ({'holistic_group': 'not-a-uuid', 'holistic_member': 'web'},
     'holistic_group=not-a-uuid is not a UUID'),
    ({'holistic_member': 'web'}, 'holistic_group is missing'),
    ({'holistic_group': str(uuid.uuid4())}, 'holistic_member is missing'),
    ({'holistic_group': str(uuid.uuid4()), 'holistic_member': ['a', 'b']},
     'holistic_member has 2'),
])
def test_a_malformed_pointer_is_refused(cloud, shop, hints, reason):
    server = cloud.create_server('malformed', 'small', hints=hints)
    assert reason in cloud.fault_of(server)


def test_an_unknown_group_is_refused(cloud, shop):
    unknown = str(uuid.uuid4())
    server = cloud.create_server(
        'lost', 'small', {'group': unknown, 'member': 'web'})
    assert (f'group {unknown} is not known in this project'
            in cloud.fault_of(server))


def test_a_group_of_another_project_is_refused_as_unknown(cloud, shop):
    message = refusal(
        cloud, shop, 'web', user=CloudUser('another'))
    assert f'group {shop} is not known in this project' in message


def test_an_unknown_member_is_refused(cloud, shop):
    assert "has no member 'cache'" in refusal(cloud, shop, 'cache')


def test_a_taken_member_is_refused(cloud, shop):
    first = cloud.create_server(
        'web', 'small', {'group': shop, 'member': 'web'})
    cloud.wait_for_status(first, 'ACTIVE')
    message = refusal(cloud, shop, 'web')
    assert "member 'web'" in message and 'is taken' in message


def test_a_released_member_is_refused(cloud, shop):
    cloud.lifecycle.release(shop, members=['web'])
    message = refusal(cloud, shop, 'web')
    assert "member 'web'" in message and 'has been released' in message


def test_a_member_with_an_expired_lease_is_refused(cloud, shop):
    taken = cloud.create_server(
        'web', 'small', {'group': shop, 'member': 'web'})
    cloud.wait_for_status(taken, 'ACTIVE')
    assert cloud.table.update_group(
        shop, [GroupStatus.BUILDING],
        lease_expires_at=datetime.datetime(2026, 1, 1))
    assert cloud.lifecycle.expire() == [shop]
    assert list(cloud.used()) == [cloud.host_of(taken)]
    message = refusal(cloud, shop, 'db')
    assert "member 'db'" in message and 'has been released' in message


def test_a_member_of_an_unplaceable_group_is_refused(cloud):
    group = cloud.plan(SHOP, {}, status=GroupStatus.UNPLACEABLE)
    assert ('has no planned members: it is unplaceable'
            in refusal(cloud, group, 'web'))


def test_a_flavor_other_than_described_is_refused(cloud, shop):
    assert ('it requests flavor large, but the description states flavor small'
            in refusal(cloud, shop, 'web', flavor='large'))


def test_resources_other_than_described_are_refused(cloud, shop):
    assert ('it requests DISK_GB=10, MEMORY_MB=4096, VCPU=4, but the '
            'description states DISK_GB=10, MEMORY_MB=2048, VCPU=2'
            in refusal(cloud, shop, 'db', flavor='large'))


def test_a_trait_missing_from_the_description_is_refused(cloud, shop):
    assert ('it requires the trait CUSTOM_FAST, which the description does '
            'not mention' in refusal(cloud, shop, 'db', flavor='fast'))
    assert ('it forbids the trait CUSTOM_FAST, which the description does '
            'not mention' in refusal(cloud, shop, 'db', flavor='not-fast'))


def test_resources_of_nested_providers_are_refused(cloud, shop):
    assert ('it requests resources of other providers than the '
            in refusal(cloud, shop, 'db', flavor='numbered'))


def test_a_zone_other_than_described_is_refused(cloud, shop):
    assert ('it requests availability zone az2, but the description states '
            'availability zone az1'
            in refusal(cloud, shop, 'web', availability_zone='az2'))


def test_a_zone_without_the_planned_host_is_refused(cloud, shop):
    assert ('its planned host is in another availability zone'
            in refusal(cloud, shop, 'db', availability_zone='az1'))


def test_a_host_other_than_the_planned_one_is_refused(cloud, shop):
    assert ('the request names another host than the planned one'
            in refusal(cloud, shop, 'web', host='cmp-0', user=ADMIN))


def test_a_request_may_name_the_planned_host(cloud, shop):
    server = cloud.create_server(
        'web', 'small', {'group': shop, 'member': 'web'}, host='cmp-2',
        user=ADMIN)
    cloud.wait_for_status(server, 'ACTIVE')
    assert cloud.host_of(server) == 'cmp-2'


@pytest.fixture
def alone(cloud):
    """The shop without alternates."""
    return cloud.plan(SHOP, PLAN, resources=SMALL, alternates=0)


def loss(cloud, group, member, **extra):
    """The fault of a refused create. Asserts that the member is lost."""
    before = cloud.row(group, member)
    message = cloud.fault_of(cloud.create_server(
        'refused', 'small', {'group': group, 'member': member}, **extra))
    row = cloud.row(group, member)
    assert (row.member, row.state, row.instance_uuid, row.held) == (
        before.member, MemberState.LOST, None, False)
    assert cloud.holds.exists(before.hold) is None
    return message


def test_a_disabled_planned_host_is_refused(cloud, alone):
    cloud.disable_compute('cmp-2')
    try:
        assert 'its planned host is disabled' in loss(cloud, alone, 'web')
    finally:
        cloud.enable_compute('cmp-2')


def test_a_planned_host_that_is_down_is_refused(cloud, alone):
    cloud.stop_compute('cmp-2')
    try:
        assert 'its planned host is down' in refusal(cloud, alone, 'web')
    finally:
        cloud.start_compute('cmp-2')


def test_a_planned_host_rejected_by_novas_filters_is_refused(cloud, shop):
    server_group = cloud.create_server_group('apart', 'anti-affinity')
    placed_server = cloud.create_server(
        'there', 'small', {'group': shop, 'member': 'web'},
        hints={'group': server_group})
    cloud.wait_for_status(placed_server, 'ACTIVE')
    other = cloud.plan(SHOP, PLAN, resources=SMALL, alternates=0)
    message = loss(cloud, other, 'web', hints={'group': server_group})
    assert "its planned host was rejected by Nova's filters" in message


def test_a_vanished_hold_makes_the_member_lost(cloud, shop):
    cloud.delete_consumer(cloud.row(shop, 'web').hold)
    server = cloud.create_server(
        'web', 'small', {'group': shop, 'member': 'web'})
    assert ("the hold of member 'web' no longer exists"
            in cloud.fault_of(server))
    row = cloud.row(shop, 'web')
    assert (row.state, row.held, row.instance_uuid) == (
        MemberState.LOST, False, None)


def test_in_yield_mode_stock_nova_schedules_refused_pointers(cloud, shop):
    cloud.conf.set_override('failure_mode', 'yield', group='holistic')
    for pointer, flavor in (
            ({'group': shop, 'member': 'cache'}, 'small'),
            ({'group': shop, 'member': 'web'}, 'large'),
            ({'group': str(uuid.uuid4()), 'member': 'web'}, 'small')):
        server = cloud.create_server('yields', flavor, pointer)
        cloud.wait_for_status(server, 'ACTIVE')
    malformed = cloud.create_server(
        'yields', 'small', hints={'holistic_member': 'web'})
    cloud.wait_for_status(malformed, 'ACTIVE')
    rows = cloud.table.members(shop)
    assert {row.state for row in rows} == {MemberState.PLANNED}
    assert all(cloud.holds.exists(row.hold) for row in rows)


def test_in_yield_mode_a_repeated_request_adds_no_allocation(cloud, shop):
    """The answer to the first request is lost, and the planned host is
    disabled before the second request."""
    cloud.conf.set_override('failure_mode', 'yield', group='holistic')
    instance = str(uuid.uuid4())
    row = cloud.table.claim(shop, 'web', instance, cloud.clock())
    cloud.holds.swap(row, instance, PROJECT, USER)
    spec = cloud.request_spec('small', {'group': shop, 'member': 'web'},
                              instance)
    before = cloud.used()
    cloud.disable_compute(row.place.host)
    try:
        with pytest.raises(NoValidHost):
            cloud.select_destinations(spec, [instance])
        assert cloud.used() == before
        assert cloud.holds.has(instance, row)
        cloud.holds.drop([instance])
        # Without its allocation, the server can be placed elsewhere.
        ((chosen, *_),) = cloud.select_destinations(spec, [instance])
        assert chosen.service_host != row.place.host
    finally:
        cloud.enable_computes()
        cloud.holds.drop([instance])


def test_in_yield_mode_the_planned_host_is_still_preferred(cloud, shop):
    cloud.conf.set_override('failure_mode', 'yield', group='holistic')
    for member, host in PLAN.items():
        server = cloud.create_server(
            'yields', 'large', {'group': shop, 'member': member})
        cloud.wait_for_status(server, 'ACTIVE')
        assert cloud.host_of(server) == host


def test_in_yield_mode_hard_policies_still_hold(cloud):
    document = {'name': 'pair', 'policies': [{'type': 'anti-affinity'}],
                'members': [{'name': 'a', 'flavor': 'small'},
                            {'name': 'b', 'flavor': 'small'}]}
    group = cloud.plan(
        document, {'a': 'cmp-1', 'b': 'cmp-0'}, resources=SMALL)
    cloud.lifecycle.release(group, members=['a'])
    cloud.conf.set_override('failure_mode', 'yield', group='holistic')
    for host in ('cmp-1', 'cmp-2', 'cmp-3'):
        cloud.disable_compute(host)
    try:
        # Only the host of the other member remains.
        server = cloud.create_server(
            'a', 'small', {'group': group, 'member': 'a'})
        assert 'No valid host' in cloud.fault_of(server)
        other_server = cloud.create_server('other-server', 'small')
        cloud.wait_for_status(other_server, 'ACTIVE')
    finally:
        for host in ('cmp-1', 'cmp-2', 'cmp-3'):
            cloud.enable_compute(host)


def test_in_yield_mode_a_claim_that_cannot_be_undone_does_not_yield(
        cloud, shop, monkeypatch):
    swap = HoldClient.swap

    def swap_unheard(self, *arguments):
        swap(self, *arguments)
        raise NoResponse('no answer')

    def unswap(self, *arguments):
        raise NoResponse('no answer')

    cloud.conf.set_override('failure_mode', 'yield', group='holistic')
    monkeypatch.setattr(HoldClient, 'swap', swap_unheard)
    monkeypatch.setattr(HoldClient, 'unswap', unswap)
    server = cloud.create_server(
        'web', 'small', {'group': shop, 'member': 'web'})
    # Stock Nova would create a second allocation for the server.
    assert 'does not answer' in cloud.fault_of(server)
    assert cloud.consumers('cmp-2')[server] == SMALL
    cloud.delete_consumer(server)

# SPDX-License-Identifier: Apache-2.0
"""A create whose planned host is refused goes to an alternate of its member.

If no alternate can take the server, the member is lost. The group has the
reason, and the next plan excludes the refused hosts.
"""

import uuid

from nova import exception
import pytest

from nova_holistic.embedded.calls.servers import ADMIN, PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.table.records import GroupStatus, MemberState
from tests.functional.claims import (
    ALL_CPUS, APART, assert_as_planned, assert_claimed, create, document,
    host_of_active, SMALL)


def test_a_disabled_host_is_replaced_by_the_first_alternate(cloud):
    group = cloud.plan(document('a'), {'a': 'cmp-2'}, resources=SMALL)
    cloud.disable_compute('cmp-2')
    server = create(cloud, group, 'a')
    assert host_of_active(cloud, server) == 'cmp-0'
    assert_claimed(cloud, group, 'a', server, 'cmp-0')
    assert list(cloud.used()) == ['cmp-0']


def test_a_host_that_is_down_is_replaced(cloud):
    group = cloud.plan(document('a'), {'a': 'cmp-2'}, resources=SMALL)
    cloud.stop_compute('cmp-2')
    try:
        server = create(cloud, group, 'a')
        assert host_of_active(cloud, server) == 'cmp-0'
    finally:
        cloud.start_compute('cmp-2')
    assert_claimed(cloud, group, 'a', server, 'cmp-0')


def test_a_host_that_is_gone_is_replaced(cloud):
    """Its compute service was deleted. The scheduler has not seen the host
    before."""
    hosts = cloud.hosts
    cloud.add_hosts([EmbeddedHost('cmp-9', zone='az1', rack='r9', vcpus=4)])
    group = cloud.plan(document('a'), {'a': 'cmp-9'}, resources=SMALL)
    cloud.computes.remove('cmp-9')
    cloud.delete_compute_service('cmp-9')
    server = create(cloud, group, 'a')
    host = host_of_active(cloud, server)
    # Nova keeps the provider as long as the hold exists.
    cloud.placement.delete(f'/resource_providers/{cloud.providers()["cmp-9"]}')
    cloud.hosts = hosts
    assert host == 'cmp-0'
    assert_claimed(cloud, group, 'a', server, 'cmp-0')


def test_alternates_that_break_a_policy_are_passed_over(cloud):
    group = cloud.plan(document('a', 'b', policies=APART),
                       {'a': 'cmp-2', 'b': 'cmp-0'}, resources=SMALL)
    cloud.disable_compute('cmp-2')
    server = create(cloud, group, 'a')
    assert host_of_active(cloud, server) == 'cmp-1'
    # The other member is checked against the new place.
    assert cloud.row(group, 'a').place.host == 'cmp-1'
    cloud.disable_compute('cmp-0')
    assert host_of_active(cloud, create(cloud, group, 'b')) == 'cmp-3'


def test_an_alternate_without_room_is_passed_over(cloud):
    """Placement refuses the swap. No other component knows of the
    allocation."""
    group = cloud.plan(document('a'), {'a': 'cmp-2'}, resources=SMALL)
    other_server = cloud.add_consumer('cmp-0', ALL_CPUS)
    cloud.disable_compute('cmp-2')
    server = create(cloud, group, 'a')
    assert host_of_active(cloud, server) == 'cmp-1'
    assert_claimed(cloud, group, 'a', server, 'cmp-1')
    cloud.delete_consumer(other_server)


def test_a_server_group_of_nova_and_a_pointer_in_one_request(cloud):
    apart = cloud.create_server_group('apart', 'anti-affinity')
    server_on_host = cloud.create_server('there', 'small', host='cmp-2',
                                         user=ADMIN, hints={'group': apart})
    assert host_of_active(cloud, server_on_host) == 'cmp-2'
    group = cloud.plan(document('a'), {'a': 'cmp-2'}, resources=SMALL)
    server = cloud.create_server(
        'a', 'small', {'group': group, 'member': 'a'}, hints={'group': apart})
    assert host_of_active(cloud, server) == 'cmp-0'
    assert_claimed(cloud, group, 'a', server, 'cmp-0')


def test_where_no_alternate_works_the_member_is_lost_and_planned_again(cloud):
    cloud.conf.set_override('search_time_limit', 0, group='holistic')
    group = cloud.plan(document('a'), {'a': 'cmp-2'}, resources=SMALL,
                       alternates=0)
    cloud.disable_compute('cmp-2')
    fault = cloud.fault_of(create(cloud, group, 'a'))
    assert 'its planned host is disabled' in fault
    assert 'none of its alternates' in fault and 'cmp-2' not in fault
    row = cloud.row(group, 'a')
    assert (row.state, row.held, row.instance_uuid) == (
        MemberState.LOST, False, None)
    assert cloud.used() == {}
    (reason,) = cloud.table.get_group(group).reasons
    assert reason['at'] == 'a'
    assert 'host cmp-2 is disabled' in reason['message']
    assert reason['names'] == ['cmp-2']
    assert cloud.reconciler.reconcile()['replanned'] == 1
    assert cloud.table.get_group(group).reasons == ()
    assert host_of_active(cloud, create(cloud, group, 'a')) != 'cmp-2'


def test_a_host_that_may_return_keeps_its_holds(cloud):
    """The host is down for a moment, and the member has no alternate."""
    cloud.conf.set_override('search_time_limit', 0, group='holistic')
    group = cloud.plan(document('a'), {'a': 'cmp-2'}, resources=SMALL,
                       alternates=0)
    before = cloud.table.members(group), cloud.used()
    cloud.stop_compute('cmp-2')
    try:
        assert 'its planned host is down' in cloud.fault_of(
            create(cloud, group, 'a'))
    finally:
        cloud.start_compute('cmp-2')
    assert_as_planned(cloud, before)


def test_a_repeated_request_does_not_move_its_server(cloud):
    group = cloud.plan(document('a'), {'a': 'cmp-2'}, resources=SMALL)
    instance = str(uuid.uuid4())
    spec = cloud.request_spec(
        'small', {'group': group, 'member': 'a'}, instance)
    assert cloud.select_destinations(
        spec, [instance])[0][0].service_host == 'cmp-2'
    cloud.disable_compute('cmp-2')
    with pytest.raises(exception.NoValidHost):
        cloud.select_destinations(spec, [instance])
    assert_claimed(cloud, group, 'a', instance, 'cmp-2')
    cloud.delete_consumer(instance)


def test_in_yield_mode_the_alternates_come_first(cloud):
    cloud.conf.set_override('failure_mode', 'yield', group='holistic')
    group = cloud.plan(document('a'), {'a': 'cmp-2'}, resources=SMALL)
    cloud.disable_compute('cmp-2')
    server = create(cloud, group, 'a')
    assert host_of_active(cloud, server) == 'cmp-0'
    assert_claimed(cloud, group, 'a', server, 'cmp-0')


def test_in_yield_mode_stock_nova_gets_what_no_alternate_takes(cloud):
    cloud.conf.set_override('search_time_limit', 0, group='holistic')
    cloud.conf.set_override('failure_mode', 'yield', group='holistic')
    group = cloud.plan(document('a'), {'a': 'cmp-2'}, resources=SMALL,
                       alternates=0)
    cloud.disable_compute('cmp-2')
    server = create(cloud, group, 'a')
    host = host_of_active(cloud, server)
    assert cloud.row(group, 'a').state == MemberState.LOST
    assert cloud.used() == {host: {**SMALL}}
    assert cloud.table.get_group(group).status == GroupStatus.PLANNED


def test_a_plan_made_by_the_engine_has_a_place_after_a_refusal(cloud):
    group = cloud.planner.create(
        document('a', 'b', policies=APART), project_id=PROJECT,
        user_id=USER).uuid
    planned = cloud.row(group, 'a').place.host
    cloud.disable_compute(planned)
    host = host_of_active(cloud, create(cloud, group, 'a'))
    assert host not in (planned, cloud.row(group, 'b').place.host)

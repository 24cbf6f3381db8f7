# SPDX-License-Identifier: Apache-2.0
"""A member that Nova moves keeps other members off its source and
destination."""

from oslo_utils import timeutils

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.table.records import MemberState
from tests.functional.claims import (
    APART, assert_claimed, create, document, host_of_active, SMALL)


def test_a_member_planned_where_a_sibling_is_being_resized_to(cloud):
    """An engine planned the member just before the resize began. A later plan
    avoids both hosts: see test_moving_positions.py."""
    cloud.conf.set_override('search_time_limit', 0, group='holistic')
    group, moving = resized(cloud)
    hold_at(cloud, group, 'm-2', 'cmp-2')
    cloud.disable_compute('cmp-3')
    cloud.disable_compute('cmp-4')
    cloud.fault_of(create(cloud, group, 'm-2'))
    assert cloud.row(group, 'm-2').state == MemberState.LOST
    cloud.enable_computes()
    cloud.reconciler.reconcile()
    host = host_of_active(cloud, create(cloud, group, 'm-2'))
    assert host in ('cmp-3', 'cmp-4')
    confirm(cloud, moving)
    assert [row.place.host for row in cloud.table.members(group)] == [
        'cmp-2', 'cmp-1', host]


def test_a_sibling_that_waits_for_its_resize_keeps_both_hosts(cloud):
    """It may be reverted to its source, which no other member takes."""
    group, moving = resized(cloud)
    row = cloud.row(group, 'm-2')
    assert [place.host for place in row.alternates] == [
        'cmp-0', 'cmp-1', 'cmp-2', 'cmp-3']
    hold_at(cloud, group, 'm-2', 'cmp-2')
    server = create(cloud, group, 'm-2')
    assert host_of_active(cloud, server) == 'cmp-3'
    assert_claimed(cloud, group, 'm-2', server, 'cmp-3')
    confirm(cloud, moving)


def hold_at(cloud, group, path, host):
    """Plan a lost member on this host."""
    cloud.table.change_state(
        cloud.row(group, path).id, [MemberState.LOST], MemberState.PLANNED,
        None, held=True, place=cloud.place(host))
    cloud.holds.put([cloud.row(group, path)], PROJECT, USER)


def resized(cloud):
    """A group of three members on different hosts, and the server of the first
    member. The server waits on cmp-2 for the confirmation of its move. The
    third member is lost."""
    group = cloud.plan(document('m-0', 'm-1', 'm-2', policies=APART), {
        'm-0': 'cmp-0', 'm-1': 'cmp-1', 'm-2': 'cmp-4'}, resources=SMALL)
    moving = create(cloud, group, 'm-0')
    assert host_of_active(cloud, moving) == 'cmp-0'
    cloud.reconciler.reconcile()
    row = cloud.row(group, 'm-2')
    cloud.table.change_state(row.id, [MemberState.PLANNED], MemberState.LOST,
                             timeutils.utcnow(), held=False)
    cloud.holds.drop([row.hold])
    resize_to(cloud, moving, 'cmp-2')
    assert cloud.row(group, 'm-0').place.host == 'cmp-0'
    return group, moving


def confirm(cloud, server):
    cloud.act(server, 'confirmResize')
    cloud.wait_for_status(server, 'ACTIVE')
    cloud.reconciler.reconcile()


def resize_to(cloud, server, host):
    """Leave the server in VERIFY_RESIZE on this host."""
    cloud.act(server, 'migrate', host=host)
    cloud.wait_for_status(server, 'VERIFY_RESIZE')
    assert cloud.host_of(server) == host

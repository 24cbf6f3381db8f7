# SPDX-License-Identifier: Apache-2.0
"""The engine counts a server that Nova moves at its source and destination."""

from oslo_utils import timeutils

from tests.functional.claims import (
    APART, create, document, host_of_active, SMALL)

PLACES = {'m-0': 'cmp-0', 'm-1': 'cmp-1', 'm-2': 'cmp-4'}


def test_a_lost_member_gets_neither_host_of_a_resized_sibling(cloud):
    """The server of m-0 waits on cmp-2 for its confirmation, but the last pass
    of the reconciler read it on cmp-0."""
    group, moving = resized(cloud)
    assert position(cloud, group, 'm-0') == ('cmp-0', None)
    disable(cloud, 'cmp-3', 'cmp-4')
    shown = cloud.planner.replan(group).reasons
    assert cloud.row(group, 'm-2').state == 'lost'
    assert shown and position(cloud, group, 'm-0') == ('cmp-0', 'cmp-2')
    cloud.enable_computes()
    disable(cloud, 'cmp-4')
    assert not cloud.planner.replan(group).reasons
    row = cloud.row(group, 'm-2')
    assert (row.state, row.place.host) == ('planned', 'cmp-3')
    assert not {'cmp-0', 'cmp-1', 'cmp-2'}.intersection(
        place.host for place in row.alternates)
    assert host_of_active(cloud, create(cloud, group, 'm-2')) == 'cmp-3'
    cloud.act(moving, 'confirmResize')
    cloud.wait_for_status(moving, 'ACTIVE')
    cloud.reconciler.reconcile()
    assert [position(cloud, group, path) for path in PLACES] == [
        ('cmp-2', None), ('cmp-1', None), ('cmp-3', None)]


def test_a_pass_sees_both_hosts_and_the_end_of_a_reverted_move(cloud):
    group, moving = resized(cloud)
    disable(cloud, 'cmp-3', 'cmp-4')
    assert cloud.reconciler.reconcile()['moved'] == 1
    assert position(cloud, group, 'm-0') == ('cmp-0', 'cmp-2')
    assert cloud.row(group, 'm-2').state == 'lost'
    assert 'moved' not in cloud.reconciler.reconcile()
    cloud.act(moving, 'revertResize')
    cloud.wait_for_status(moving, 'ACTIVE')
    assert cloud.reconciler.reconcile() == {'moved': 1, 'replanned': 1}
    assert position(cloud, group, 'm-0') == ('cmp-0', None)
    assert cloud.row(group, 'm-2').place.host == 'cmp-2'


def resized(cloud):
    """A group of three members on different hosts. The server of the first
    member is in VERIFY_RESIZE on cmp-2. The table does not contain this
    destination, as if it had been unavailable when the scheduler chose it. The
    third member is lost."""
    group = cloud.plan(document(*PLACES, policies=APART), PLACES,
                       resources=SMALL)
    moving = create(cloud, group, 'm-0')
    assert host_of_active(cloud, moving) == 'cmp-0'
    cloud.reconciler.reconcile()
    row = cloud.row(group, 'm-2')
    cloud.table.change_state(row.id, ['planned'], 'lost', timeutils.utcnow(),
                             held=False)
    cloud.holds.drop([row.hold])
    cloud.act(moving, 'migrate', host='cmp-2')
    cloud.wait_for_status(moving, 'VERIFY_RESIZE')
    assert cloud.host_of(moving) == 'cmp-2'
    assert position(cloud, group, 'm-0') == ('cmp-0', 'cmp-2')
    cloud.table.change_state(cloud.row(group, 'm-0').id, ['built'], 'built',
                             timeutils.utcnow(), destination=None)
    return group, moving


def disable(cloud, *hosts):
    for host in hosts:
        cloud.disable_compute(host)


def position(cloud, group, path):
    """Names of the host of a member and of its server's destination."""
    row = cloud.row(group, path)
    destination = getattr(row, 'destination', None)
    return row.place.host, destination and destination.host

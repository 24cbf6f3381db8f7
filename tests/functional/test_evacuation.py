# SPDX-License-Identifier: Apache-2.0
"""The server of a failed host is evacuated although other faults exist."""

from nova.exception import NoValidHost
import pytest

from nova_holistic.embedded.waiting import EmbeddedCloudError
from nova_holistic.holds.errors import HoldsError
from nova_holistic.scheduler import connections, group_moves
from nova_holistic.table.changes.member_moves import Move
from nova_holistic.table.errors import TableError
from nova_holistic.table.records import MemberState
from tests.functional.call_counts import counted
from tests.functional.claims import (
    APART, create, document, host_of_active, HOSTS, SMALL)


@pytest.fixture
def dying(cloud):
    """A function that stops cmp-0 until the end of the test."""
    stopped = []

    def die():
        cloud.stop_compute('cmp-0')
        stopped.append('cmp-0')

    yield die
    for host in stopped:
        cloud.start_compute(host)


def only(cloud, *names):
    """Leave only these hosts for servers that move."""
    for host in HOSTS:
        if host.name not in names:
            cloud.disable_compute(host.name)


@pytest.fixture
def table_away(cloud, monkeypatch):
    """A function that makes the placement table unavailable for the
    scheduler."""
    def raising(*args, **kwargs):
        raise TableError('placement table: no route to host')

    def away():
        table = connections.get().table
        for owner, name in (
                (table, 'exclusive_groups'), (table, 'member_of_instance'),
                (table.group_cache, 'read_for'), (table.refusals, 'of_group'),
                (table, 'find_members')):
            monkeypatch.setattr(owner, name, raising)

    return away


def test_a_member_is_evacuated_while_the_table_is_unavailable(
        cloud, table_away, dying):
    """Another member is on the only remaining host: the policy is violated,
    and the table shows this after the outage."""
    group = cloud.plan(document('a', 'b', policies=APART),
                       {'a': 'cmp-0', 'b': 'cmp-1'}, resources=SMALL)
    servers = {name: create(cloud, group, name) for name in 'ab'}
    assert [host_of_active(cloud, each) for each in servers.values()] == [
        'cmp-0', 'cmp-1']
    only(cloud, 'cmp-0', 'cmp-1')
    dying()
    with pytest.raises(EmbeddedCloudError):
        cloud.evacuate(servers['a'])
    table_away()
    # A live migration can wait, so it is refused.
    with pytest.raises(EmbeddedCloudError):
        cloud.live_migrate(servers['b'])
    assert cloud.evacuate(servers['a']) == 'cmp-1'
    cloud.reconciler.reconcile()
    assert {row.place.host for row in cloud.table.members(group)} == {'cmp-1'}


def test_no_move_goes_unchecked_if_none_may(cloud, table_away, dying):
    cloud.conf.set_override('unchecked_moves', 'none', group='holistic')
    group = cloud.plan(document('a'), {'a': 'cmp-0'}, resources=SMALL)
    server = create(cloud, group, 'a')
    assert host_of_active(cloud, server) == 'cmp-0'
    table_away()
    dying()
    with pytest.raises(EmbeddedCloudError):
        cloud.evacuate(server)


def test_every_move_goes_unchecked_if_all_may(cloud, table_away):
    cloud.conf.set_override('unchecked_moves', 'all', group='holistic')
    group = cloud.plan(document('a', 'b'), {'a': 'cmp-0', 'b': 'cmp-1'},
                       resources=SMALL)
    server = create(cloud, group, 'a')
    assert host_of_active(cloud, server) == 'cmp-0'
    table_away()
    assert cloud.live_migrate(server) != 'cmp-0'
    # A create is not a move.
    assert 'table does not answer' in cloud.fault_of(
        create(cloud, group, 'b'))


def test_an_evacuation_takes_the_place_of_an_unclaimed_sibling(cloud, dying):
    group, server = beside_full_host(cloud)
    dying()
    assert cloud.evacuate(server) == 'cmp-1'
    rows = [cloud.row(group, name) for name in 'bc']
    (lost,) = [row for row in rows if row.state == MemberState.LOST]
    (kept,) = [row for row in rows if row.state == MemberState.PLANNED]
    assert cloud.consumers('cmp-1') == {server: SMALL, kept.hold: SMALL}
    assert not lost.held
    (reason,) = cloud.table.get_group(group).reasons
    assert reason['at'] == lost.member.path
    assert 'given up for a server that was evacuated' in reason['message']
    assert reason['names'] == ['cmp-1']
    cloud.enable_computes()
    cloud.reconciler.reconcile()
    assert cloud.row(group, lost.member.path).state == MemberState.PLANNED


@pytest.fixture
def overtaken(cloud, monkeypatch):
    """The first five destinations of a move are not written, because other
    members have moved in the meantime."""
    write = group_moves.member_moves.write_destination
    answers = [Move.OVERTAKEN] * group_moves.ATTEMPTS
    monkeypatch.setattr(
        group_moves.member_moves, 'write_destination',
        lambda *arguments: answers.pop() if answers else write(*arguments))


def evacuate_from_cmp_0(cloud, dying):
    """Try to evacuate member a. The hold of member b would have
    to be dropped for a place on cmp-1. The hosts cmp-3 and cmp-4 are empty."""
    group = cloud.plan(document('a', 'b', 'c', policies=APART), {
        'a': 'cmp-0', 'b': 'cmp-1', 'c': 'cmp-2'}, resources=SMALL)
    server = create(cloud, group, 'a')
    assert host_of_active(cloud, server) == 'cmp-0'
    cloud.reconciler.reconcile()
    other = cloud.add_consumer('cmp-1', SMALL)
    dying()
    try:
        with pytest.raises(EmbeddedCloudError):
            cloud.evacuate(server)
    finally:
        cloud.delete_consumer(other)
    assert {cloud.row(group, name).state for name in 'bc'} == {
        MemberState.PLANNED}


def test_an_evacuation_that_other_moves_prevent_drops_no_hold(
        cloud, dying, overtaken):
    """Nova has found a host each time, so no capacity is missing."""
    evacuate_from_cmp_0(cloud, dying)


def test_an_evacuation_that_placement_prevents_drops_no_hold(
        cloud, dying, overtaken, monkeypatch):
    def restore(*arguments):
        raise HoldsError('Placement does not answer')

    monkeypatch.setattr(connections.get().holds, 'restore', restore)
    evacuate_from_cmp_0(cloud, dying)


def test_a_move_that_other_moves_prevent_ends_with_novas_error(
        cloud, overtaken):
    """A conductor knows only this error: one of another module would reach it
    as a remote error."""
    group = cloud.plan(document('a', policies=APART), {'a': 'cmp-0'},
                       resources=SMALL)
    server = create(cloud, group, 'a')
    assert host_of_active(cloud, server) == 'cmp-0'
    cloud.reconciler.reconcile()
    spec = cloud.request_spec('small', {'group': group, 'member': 'a'}, server)
    with pytest.raises(NoValidHost, match='other servers of its group'):
        cloud.select_destinations(spec, [server])


def test_a_hold_of_the_group_is_kept_if_none_may_be_given_up(
        cloud, dying):
    cloud.conf.set_override('evacuate_over_holds', 'none', group='holistic')
    group, server = beside_full_host(cloud)
    dying()
    with pytest.raises(EmbeddedCloudError):
        cloud.evacuate(server)
    assert {cloud.row(group, name).state for name in 'bc'} == {
        MemberState.PLANNED}


def test_holds_of_others_are_given_up_only_if_the_operator_allows_it(
        cloud, dying):
    group = cloud.plan(document('a'), {'a': 'cmp-0'}, resources=SMALL)
    server = create(cloud, group, 'a')
    assert host_of_active(cloud, server) == 'cmp-0'
    others = cloud.plan(document('b', 'c'), {'b': 'cmp-1', 'c': 'cmp-1'},
                        resources=SMALL, project_id='others')
    only(cloud, 'cmp-0', 'cmp-1')
    dying()
    before = cloud.consumers('cmp-1')
    with pytest.raises(EmbeddedCloudError):
        cloud.evacuate(server)
    assert cloud.consumers('cmp-1') == before
    cloud.conf.set_override('evacuate_over_holds', 'any', group='holistic')
    assert cloud.evacuate(server) == 'cmp-1'
    assert sorted(row.state for row in cloud.table.members(others)) == [
        MemberState.LOST, MemberState.PLANNED]


def test_placement_is_queried_for_the_tried_hosts_only(cloud, dying):
    """The holds of two hosts could be given up."""
    cloud.conf.set_override('search_hosts', 1, group='holistic')
    group = cloud.plan(document('a', 'b', 'c', 'd', 'e'), {
        'a': 'cmp-0', 'b': 'cmp-1', 'c': 'cmp-1', 'd': 'cmp-2', 'e': 'cmp-2'},
        resources=SMALL)
    server = create(cloud, group, 'a')
    assert host_of_active(cloud, server) == 'cmp-0'
    only(cloud, 'cmp-0', 'cmp-1', 'cmp-2')
    dying()
    with counted() as calls:
        assert cloud.evacuate(server) in ('cmp-1', 'cmp-2')
    assert len([path for path in calls.http
                if path.endswith('/usages')]) == 1


def beside_full_host(cloud):
    """A group and the server of its member a on cmp-0. Holds of the members b
    and c fill cmp-1, the only other host."""
    group = cloud.plan(document('a', 'b', 'c'), {
        'a': 'cmp-0', 'b': 'cmp-1', 'c': 'cmp-1'}, resources=SMALL)
    server = create(cloud, group, 'a')
    assert host_of_active(cloud, server) == 'cmp-0'
    only(cloud, 'cmp-0', 'cmp-1')
    return group, server

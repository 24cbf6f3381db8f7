# SPDX-License-Identifier: Apache-2.0
"""Members of one group that are moved at the same time stay apart.

Nova's databases name the destination of a move some time after the scheduler
has chosen it. In these tests the second move comes within that time.
"""

from collections import Counter
import threading

import pytest

from nova_holistic.embedded.calls.servers import ADMIN
from nova_holistic.embedded.waiting import wait_for
from nova_holistic.reconcile.server_positions import ServerPositions
from nova_holistic.scheduler import group_moves
from nova_holistic.table.changes.member_moves import Move
from nova_holistic.table.queries import overview
from nova_holistic.table.records import MemberState
from tests.functional.claims import (
    APART, create, document, host_of_active, SMALL)

MEMBERS = ('m-0', 'm-1')


@pytest.fixture
def apart(cloud):
    """A group, and the servers of its two members on cmp-0 and cmp-1."""
    group = cloud.plan(
        document(*MEMBERS, policies=APART),
        {'m-0': 'cmp-0', 'm-1': 'cmp-1'}, resources=SMALL)
    servers = [create(cloud, group, member) for member in MEMBERS]
    assert [host_of_active(cloud, server) for server in servers] == [
        'cmp-0', 'cmp-1']
    cloud.reconciler.reconcile()
    return group, servers


@pytest.fixture
def written(monkeypatch):
    """The results of all writes of destinations. The first two destinations
    are written only after Nova has chosen both."""
    both, answers = threading.Barrier(2, timeout=300), []
    write_destination = group_moves.member_moves.write_destination
    first = iter(range(2))

    def wait_and_write(*arguments):
        if next(first, None) is not None:
            both.wait()
        answers.append(write_destination(*arguments))
        return answers[-1]

    monkeypatch.setattr(
        group_moves.member_moves, 'write_destination', wait_and_write)
    return answers


def migrate(cloud, server):
    cloud.act(server, 'migrate')


def live_migrate(cloud, server):
    cloud.act(server, 'os-migrateLive', host=None, block_migration='auto')


def unshelve(cloud, server):
    cloud.act(server, 'unshelve')


def leave(cloud, *names):
    """Disable all other hosts, and create a server on each of these hosts
    except the first, so that Nova prefers the first."""
    for host in cloud.hosts:
        if host.name not in names:
            cloud.disable_compute(host.name)
    for name in names[1:]:
        other_server = cloud.create_server(
            'other-server', 'small', host=name, user=ADMIN)
        cloud.wait_for_status(other_server, 'ACTIVE')


def move_both(cloud, servers, first, second):
    threads = [
        threading.Thread(target=move, args=(cloud, server))
        for move, server in zip((first, second), servers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def ended_at(cloud, server):
    found = cloud.get_server(server)
    if found['OS-EXT-STS:task_state'] is None:
        return found['OS-EXT-SRV-ATTR:host']


@pytest.mark.parametrize('first, second', [
    (migrate, migrate), (migrate, live_migrate),
    (live_migrate, live_migrate)])
def test_two_moves_that_choose_the_same_host_end_on_two(
        cloud, apart, written, first, second):
    group, servers = apart
    leave(cloud, 'cmp-2', 'cmp-3')
    move_both(cloud, servers, first, second)
    wait_for(lambda: {ended_at(cloud, server) for server in servers} == {
        'cmp-2', 'cmp-3'} or None, 'both moves')
    assert Counter(written) == {Move.WRITTEN: 2, Move.OVERTAKEN: 1}
    # Nova's first choice left no allocation.
    for server in servers:
        (host,) = {host for host in ('cmp-2', 'cmp-3')
                   if server in cloud.consumers(host)}
        assert cloud.host_of(server) == host
        assert cloud.consumers(host)[server] == SMALL
    cloud.reconciler.reconcile()
    assert {cloud.row(group, member).next_place.host
            for member in MEMBERS} == {'cmp-2', 'cmp-3'}


def test_two_servers_that_are_unshelved_at_once_end_on_two_hosts(
        cloud, apart, written):
    _, servers = apart
    for server in servers:
        cloud.shelve(server)
    leave(cloud, 'cmp-2', 'cmp-3')
    move_both(cloud, servers, unshelve, unshelve)
    wait_for(lambda: {ended_at(cloud, server) for server in servers} == {
        'cmp-2', 'cmp-3'} or None, 'both servers')
    assert Counter(written) == {Move.WRITTEN: 2, Move.OVERTAKEN: 1}


def test_the_second_of_two_moves_is_refused_where_only_one_host_is_left(
        cloud, apart, written):
    group, servers = apart
    leave(cloud, 'cmp-2')
    move_both(cloud, servers, live_migrate, live_migrate)
    wait_for(lambda: sorted(str(ended_at(cloud, server)) for server
                            in servers) in (
        ['cmp-0', 'cmp-2'], ['cmp-1', 'cmp-2']) or None, 'both answers')
    assert written.count(Move.OVERTAKEN) == 1
    stays = next(server for server in servers
                 if cloud.host_of(server) != 'cmp-2')
    assert set(cloud.consumers('cmp-2')) == set(servers) - {stays}
    assert cloud.consumers(cloud.host_of(stays)) == {stays: SMALL}
    cloud.reconciler.reconcile()
    assert [cloud.row(group, member).destination for member in MEMBERS] == [
        None, None]


def test_a_destination_counts_until_the_move_has_failed(
        cloud, apart, monkeypatch):
    """The compute service refuses the move after the scheduler has answered.
    Before that, a pass of the reconciler runs."""
    group, servers = apart
    leave(cloud, 'cmp-2')
    may_fail = refuse_live_migrations(cloud, monkeypatch, 'cmp-0')
    try:
        live_migrate(cloud, servers[0])
        wait_for(lambda: cloud.row(group, 'm-0').destination, 'the answer')
        cloud.reconciler.reconcile()
        assert cloud.row(group, 'm-0').destination.host == 'cmp-2'
        live_migrate(cloud, servers[1])
        wait_for(lambda: ended_at(cloud, servers[1]), 'the refusal')
        assert cloud.host_of(servers[1]) == 'cmp-1'
    finally:
        may_fail.set()
    wait_for(lambda: ended_at(cloud, servers[0]), 'the failure')
    cloud.reconciler.reconcile()
    row = cloud.row(group, 'm-0')
    assert (row.state, row.place.host, row.destination) == (
        MemberState.BUILT, 'cmp-0', None)
    assert cloud.live_migrate(servers[1]) == 'cmp-2'


@pytest.mark.parametrize('owner, step', [
    (overview, 'member_records'), (ServerPositions, 'correct')])
def test_a_destination_that_is_written_during_a_correction_is_kept(
        cloud, apart, monkeypatch, owner, step):
    """The server moves again after the reconciler has read that it moved,
    before the reconciler reads the row of the member, or after that."""
    group, servers = apart
    cloud.force_live_migration(servers[0], 'cmp-2')
    leave(cloud, 'cmp-3')
    may_fail = refuse_live_migrations(cloud, monkeypatch, 'cmp-2')
    original = getattr(owner, step)

    def move_first(*arguments):
        if cloud.row(group, 'm-0').destination is None:
            live_migrate(cloud, servers[0])
            wait_for(lambda: cloud.row(group, 'm-0').destination,
                     'the answer')
        return original(*arguments)

    monkeypatch.setattr(owner, step, move_first)
    try:
        cloud.reconciler.reconcile()
        assert cloud.row(group, 'm-0').destination.host == 'cmp-3'
        # The other member does not move to the same host.
        live_migrate(cloud, servers[1])
        wait_for(lambda: ended_at(cloud, servers[1]), 'the refusal')
        assert cloud.host_of(servers[1]) == 'cmp-1'
    finally:
        may_fail.set()
    wait_for(lambda: ended_at(cloud, servers[0]), 'the failure')
    monkeypatch.setattr(owner, step, original)
    cloud.reconciler.reconcile()
    row = cloud.row(group, 'm-0')
    assert (row.place.host, row.destination) == ('cmp-2', None)


def refuse_live_migrations(cloud, monkeypatch, host):
    """Let a host refuse to be the source of a live migration after an event;
    returns the event."""
    may_fail = threading.Event()
    driver = cloud.computes.services[host].manager.driver

    def refuse(*arguments, **keywords):
        assert may_fail.wait(600)
        raise RuntimeError('the hypervisor does not answer')

    monkeypatch.setattr(driver, 'check_can_live_migrate_source', refuse)
    return may_fail

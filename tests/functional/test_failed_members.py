# SPDX-License-Identifier: Apache-2.0
"""A server in ERROR on a host, which has never run, counts at this host. It
may run after a rebuild, and its place is held again after it is deleted."""

import contextlib
import threading

import pytest

from nova_holistic.embedded.calls.servers import ADMIN
from nova_holistic.table.records import MemberState
from tests.functional.pair_in_racks import HOSTS, PAIR, PLAN, SMALL


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        cloud.create_flavor('large', 4, 4096, 10)
        yield cloud


@pytest.fixture
def group(cloud):
    return cloud.plan(PAIR, PLAN, resources=SMALL)


@contextlib.contextmanager
def failed(cloud, group, monkeypatch):
    """Inside the context, the server of ``a`` is in ERROR on its host."""
    driver = cloud.computes.services[PLAN['a']].manager.driver
    spawn, begun, go_on = driver.spawn, threading.Event(), threading.Event()

    def wait_and_spawn(*args, **kwargs):
        if not begun.is_set():
            begun.set()
            go_on.wait(600)
        return spawn(*args, **kwargs)

    monkeypatch.setattr(driver, 'spawn', wait_and_spawn)
    server = create(cloud, group, 'a')
    try:
        assert begun.wait(300)
        cloud.compute.post(f'/servers/{server}/action',
                           json={'os-resetState': {'state': 'error'}})
        assert cloud.reconciler.reconcile()['failed'] == 1
        assert cloud.row(group, 'a').state == MemberState.FAILED
        assert cloud.host_of(server) == PLAN['a']
        yield
    finally:
        go_on.set()


def create(cloud, group, member):
    return cloud.create_server(
        member, 'small', {'group': group, 'member': member})


def attract(cloud, host, rather_than):
    """Enable only two hosts. Nova itself would choose the first one."""
    for each in HOSTS:
        if each.name not in (host, rather_than):
            cloud.disable_compute(each.name)
    other_server = cloud.create_server(
        'other-server', 'large', host=rather_than, user=ADMIN)
    cloud.wait_for_status(other_server, 'ACTIVE')


@pytest.mark.parametrize('move', ['live_migrate', 'migrate'])
def test_a_server_does_not_move_to_the_rack_of_a_failed_server(
        cloud, group, monkeypatch, move):
    server = create(cloud, group, 'b')
    assert cloud.wait_for_status(server, 'ACTIVE')
    with failed(cloud, group, monkeypatch):
        attract(cloud, 'r1-2', rather_than='r3-2')
        assert getattr(cloud, move)(server) == 'r3-2'


def test_a_create_on_another_host_avoids_the_rack_of_a_failed_server(
        cloud, group, monkeypatch):
    """The planned host and its rack are unavailable when the create
    arrives."""
    with failed(cloud, group, monkeypatch):
        attract(cloud, 'r1-2', rather_than='r3-2')
        server = create(cloud, group, 'b')
        cloud.wait_for_status(server, 'ACTIVE')
        assert cloud.host_of(server) == 'r3-2'


def test_a_failed_server_of_an_exclusive_group_reserves_its_host(
        cloud, monkeypatch):
    group = cloud.plan(
        {'name': 'own', 'policies': [{'type': 'exclusive'}],
         'members': [{'name': 'a', 'flavor': 'small'}]},
        {'a': PLAN['a']}, resources=SMALL)
    with failed(cloud, group, monkeypatch):
        attract(cloud, PLAN['a'], rather_than='r3-2')
        outside = cloud.create_server('outside', 'small')
        cloud.wait_for_status(outside, 'ACTIVE')
        assert cloud.host_of(outside) == 'r3-2'


def test_a_repair_moves_a_server_away_from_the_rack_of_a_failed_server(
        cloud, group, monkeypatch):
    server = create(cloud, group, 'b')
    assert cloud.wait_for_status(server, 'ACTIVE')
    with failed(cloud, group, monkeypatch):
        assert cloud.repairer.propose(group).moves == ()
        cloud.force_live_migration(server, 'r1-2')
        assert cloud.reconciler.reconcile()['degraded'] == 1
        found = cloud.repairer.propose(group)
        (move,) = found.moves
        assert (move.member, found.reasons) == ('b', ())
        assert move.destination[:2] in ('r2', 'r3')


def test_a_repair_does_not_use_the_rack_of_a_failed_server(
        cloud, monkeypatch):
    """The empty host in the rack would be the best one otherwise."""
    group = cloud.plan(
        PAIR | {'members': [*PAIR['members'],
                            {'name': 'c', 'flavor': 'small'}]},
        {**PLAN, 'c': 'r3-1'}, resources=SMALL)
    servers = {name: create(cloud, group, name) for name in 'bc'}
    for server in servers.values():
        assert cloud.wait_for_status(server, 'ACTIVE')
    with failed(cloud, group, monkeypatch):
        cloud.force_live_migration(servers['c'], 'r2-2')
        other_server = cloud.create_server(
            'other-server', 'large', host='r3-2', user=ADMIN)
        assert cloud.wait_for_status(other_server, 'ACTIVE')
        for host in ('r1-1', 'r3-1'):
            cloud.disable_compute(host)
        found = cloud.repairer.propose(group)
        assert [move.destination for move in found.moves] == ['r3-2']

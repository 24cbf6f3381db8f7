# SPDX-License-Identifier: Apache-2.0
"""A claim moves to an alternate completely, or not at all."""

import uuid

import pytest

from nova_holistic.holds.client import HoldClient
from nova_holistic.scheduler.claim.claims import Claims
from nova_holistic.scheduler.claim.request_refusal import RequestRefused
from nova_holistic.table.records import MemberState
from tests.functional.claims import (
    ALL_CPUS, APART, assert_as_planned, create, document, host_of_active,
    SMALL)

PAIR = {'name': 'shop', 'policies': APART, 'members': [
    {'name': 'n', 'flavor': 'small', 'count': 2}]}


def test_one_refused_server_of_a_create_gives_every_place_back(cloud):
    """The first server could be created on the only remaining alternate."""
    group = cloud.plan(PAIR, {'n-0': 'cmp-2', 'n-1': 'cmp-3'},
                       resources=SMALL)
    before = cloud.table.members(group), cloud.used()
    for host in 'cmp-1', 'cmp-2', 'cmp-4':
        cloud.disable_compute(host)
    cloud.stop_compute('cmp-3')
    try:
        cloud.create_server('n', 'small', {'group': group, 'member': 'n'},
                            min_count=2)
        for server in cloud.servers():
            assert 'its planned host is down' in cloud.fault_of(server['id'])
    finally:
        cloud.start_compute('cmp-3')
    assert_as_planned(cloud, before)


def test_a_server_that_moved_is_moved_back(cloud):
    """The first server is on its alternate when the second one fails."""
    group = cloud.plan(PAIR, {'n-0': 'cmp-2', 'n-1': 'cmp-3'},
                       resources=SMALL)
    before = cloud.row(group, 'n-0')
    cloud.delete_consumer(cloud.row(group, 'n-1').hold)
    cloud.disable_compute('cmp-2')
    cloud.create_server('n', 'small', {'group': group, 'member': 'n'},
                        min_count=2)
    for server in cloud.servers():
        assert "the hold of member 'n-1'" in cloud.fault_of(server['id'])
    row = cloud.row(group, 'n-0')
    assert (row.state, row.held, row.instance_uuid, row.place, row.hold) == (
        MemberState.PLANNED, True, None, before.place, before.hold)
    assert cloud.used() == {'cmp-2': SMALL}
    assert cloud.consumers('cmp-2') == {row.hold: SMALL}


def test_a_group_deleted_during_the_move_leaves_nothing(cloud, monkeypatch):
    group = cloud.plan(document('a'), {'a': 'cmp-2'}, resources=SMALL)
    swap = HoldClient.swap

    def swap_and_delete(self, row, *arguments):
        swap(self, row, *arguments)
        cloud.lifecycle.delete(group)

    monkeypatch.setattr(HoldClient, 'swap', swap_and_delete)
    cloud.disable_compute('cmp-2')
    assert 'the claim was undone' in cloud.fault_of(create(cloud, group, 'a'))
    assert cloud.used() == {}


def test_a_member_taken_back_before_its_move_stays_where_it_is(
        cloud, monkeypatch):
    group = cloud.plan(document('a'), {'a': 'cmp-2'}, resources=SMALL)
    before = cloud.table.members(group), cloud.used()
    move = Claims.move

    def take_back_and_move(self, row, place):
        # A reconciler undoes the claim if it considers the scheduler failed.
        assert cloud.table.change_state(
            row.id, {MemberState.CLAIMED}, MemberState.PLANNED,
            row.updated_at, instance_uuid=None, held=True)
        return move(self, row, place)

    monkeypatch.setattr(Claims, 'move', take_back_and_move)
    cloud.disable_compute('cmp-2')
    assert 'the claim was undone' in cloud.fault_of(create(cloud, group, 'a'))
    assert_as_planned(cloud, before)


def test_a_move_is_undone_where_the_planned_host_was_taken_meanwhile(
        cloud, monkeypatch):
    """The member stays planned at the alternate, with a hold there."""
    group = cloud.plan(document('a'), {'a': 'cmp-2'}, resources=SMALL)

    def fill_and_refuse(self):
        cloud.add_consumer('cmp-2', ALL_CPUS)
        raise RequestRefused('the test says so')

    monkeypatch.setattr(Claims, 'confirm', fill_and_refuse)
    cloud.disable_compute('cmp-2')
    cloud.fault_of(create(cloud, group, 'a'))
    row = cloud.row(group, 'a')
    assert (row.state, row.held, row.instance_uuid, row.place.host) == (
        MemberState.PLANNED, True, None, 'cmp-0')
    assert cloud.consumers('cmp-0') == {row.hold: SMALL}
    for consumer in cloud.consumers('cmp-2'):
        cloud.delete_consumer(consumer)


@pytest.mark.parametrize('swapped', [False, True])
def test_a_scheduler_that_is_killed_during_the_move_leaves_a_held_place(
        cloud, monkeypatch, swapped):
    group = cloud.plan(document('a'), {'a': 'cmp-2'}, resources=SMALL)
    swap = HoldClient.swap

    def swap_and_die(self, *arguments):
        if swapped:
            swap(self, *arguments)
        raise RuntimeError('the scheduler dies here')

    with monkeypatch.context() as dying:
        dying.setattr(HoldClient, 'swap', swap_and_die)
        dying.setattr(Claims, 'undo', lambda *_: True)
        cloud.disable_compute('cmp-2')
        instance = str(uuid.uuid4())
        spec = cloud.request_spec(
            'small', {'group': group, 'member': 'a'}, instance)
        with pytest.raises(Exception, match='dies'):
            cloud.select_destinations(spec, [instance])
    cloud.conf.set_override('grace', 0, group='reconciler')
    for _ in range(3):
        cloud.reconciler.reconcile()
    row = cloud.row(group, 'a')
    assert (row.state, row.held, row.place.host) == (
        MemberState.PLANNED, True, 'cmp-0')
    assert cloud.consumers('cmp-0') == {row.hold: SMALL}
    assert list(cloud.used()) == ['cmp-0']


def test_two_servers_of_a_create_move_to_two_hosts(cloud):
    """Both planned hosts are disabled. Each server gets a different
    alternate."""
    group = cloud.plan(PAIR, {'n-0': 'cmp-2', 'n-1': 'cmp-3'},
                       resources=SMALL)
    for host in 'cmp-2', 'cmp-3':
        cloud.disable_compute(host)
    cloud.create_server('n', 'small', {'group': group, 'member': 'n'},
                        min_count=2)
    servers = [server['id'] for server in cloud.servers()]
    assert sorted(host_of_active(cloud, server) for server in servers) == [
        'cmp-0', 'cmp-1']
    assert [row.place.host for row in cloud.table.members(group)] == [
        'cmp-0', 'cmp-1']

# SPDX-License-Identifier: Apache-2.0
"""A proxy ends a swap, and Placement carries it out after the claim was
undone."""

import pytest

from nova_holistic.holds.allocation_bodies import INSTANCE
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds.errors import NoResponse
from nova_holistic.holds.requests import Requests
from tests.functional.claims import (
    assert_as_planned, assert_claimed, create, document, host_of_active, SMALL)

ELASTIC = {'name': 'shop', 'members': [
    {'name': 'a', 'flavor': 'small', 'count': {'desired': 1, 'max': 2}}]}


@pytest.fixture
def delayed(monkeypatch):
    """Functions that let Placement carry out the delayed swaps."""
    call, found = Requests.call, []

    def call_late(self, method, path, **kwargs):
        body = kwargs.get('json') or {}
        if not found and any(
                each['consumer_type'] == INSTANCE and each['allocations']
                for each in body.values()):
            found.append(lambda: call(self, method, path, **kwargs))
            raise NoResponse('Placement: 504 Gateway Time-out')
        return call(self, method, path, **kwargs)

    monkeypatch.setattr(Requests, 'call', call_late)
    return found


@pytest.mark.parametrize('moved', [False, True])
def test_a_swap_after_its_undo_is_refused(cloud, delayed, moved):
    group = cloud.plan(document('a'), {'a': 'cmp-2'}, resources=SMALL)
    before = cloud.table.members(group), cloud.used()
    if moved:
        cloud.disable_compute('cmp-2')
    server = create(cloud, group, 'a')
    assert 'does not answer' in cloud.fault_of(server)
    (carry_out,) = delayed
    assert carry_out().status_code == 409
    assert_as_planned(cloud, before)
    cloud.reconciler.reconcile()
    assert_as_planned(cloud, before)
    if not moved:
        again = create(cloud, group, 'a')
        assert host_of_active(cloud, again) == 'cmp-2'
        assert_claimed(cloud, group, 'a', again, 'cmp-2')


def test_a_swap_before_its_undo_is_undone(cloud, delayed, monkeypatch):
    group = cloud.plan(document('a'), {'a': 'cmp-2'}, resources=SMALL)
    before = cloud.table.members(group), cloud.used()
    read, statuses = Requests.read, []

    def read_late(self, consumer):
        if delayed and not statuses:
            statuses.append(delayed[0]().status_code)
        return read(self, consumer)

    monkeypatch.setattr(Requests, 'read', read_late)
    assert 'does not answer' in cloud.fault_of(create(cloud, group, 'a'))
    assert statuses == [204]
    assert_as_planned(cloud, before)


def fully_built(cloud, delayed):
    """A group whose planned server exists, so that the next create adds a
    server. The swap of that create is delayed."""
    group = cloud.plan(ELASTIC, {'a-0': 'cmp-2'}, resources=SMALL)
    delayed.append(None)
    host_of_active(cloud, create(cloud, group, 'a'))
    delayed.clear()
    return group


def states(cloud, group):
    return {row.member.path: str(row.state)
            for row in cloud.table.members(group)}


def test_a_further_server_is_not_allocated_after_its_create_was_undone(
        cloud, delayed):
    group = fully_built(cloud, delayed)
    before = cloud.used()
    server = create(cloud, group, 'a')
    assert 'does not answer' in cloud.fault_of(server)
    (carry_out,) = delayed
    assert carry_out().status_code == 409
    assert cloud.used() == before
    assert states(cloud, group) == {'a-0': 'claimed', 'a-1': 'released'}
    cloud.delete_server(server)
    again = create(cloud, group, 'a')
    assert host_of_active(cloud, again) != 'cmp-2'
    assert states(cloud, group) == {'a-0': 'claimed', 'a-1': 'claimed'}
    assert cloud.consumers(cloud.host_of(again)) == {again: SMALL}


def test_a_further_server_that_was_allocated_meanwhile_is_undone(
        cloud, delayed, monkeypatch):
    group = fully_built(cloud, delayed)
    before = cloud.used()
    withdraw, statuses = HoldClient.withdraw, []

    def withdraw_late(self, *arguments):
        statuses.append(delayed[0]().status_code)
        withdraw(self, *arguments)

    monkeypatch.setattr(HoldClient, 'withdraw', withdraw_late)
    assert 'does not answer' in cloud.fault_of(create(cloud, group, 'a'))
    assert statuses == [204]
    assert cloud.used() == before
    assert states(cloud, group) == {'a-0': 'claimed', 'a-1': 'released'}


def test_nova_places_a_further_server_that_placement_did_not_answer(
        cloud, delayed):
    """In this mode, the allocation by Nova refuses the delayed request."""
    cloud.conf.set_override('failure_mode', 'yield', group='holistic')
    group = fully_built(cloud, delayed)
    server = create(cloud, group, 'a')
    host = host_of_active(cloud, server)
    (carry_out,) = delayed
    assert carry_out().status_code == 409
    assert cloud.consumers(host)[server] == SMALL
    assert states(cloud, group) == {'a-0': 'claimed', 'a-1': 'released'}

# SPDX-License-Identifier: Apache-2.0
"""A proxy ends a swap, and Placement carries it out after the claim was
undone."""

import pytest

from nova_holistic.holds.allocation_bodies import INSTANCE
from nova_holistic.holds.errors import NoResponse
from nova_holistic.holds.requests import Requests
from tests.functional.claims import (
    assert_as_planned, assert_claimed, create, document, host_of_active, SMALL)


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

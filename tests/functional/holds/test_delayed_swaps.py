# SPDX-License-Identifier: Apache-2.0
"""A swap without a response, which Placement carries out only later."""

import pytest

from nova_holistic.holds import errors, retry_policy
from tests.functional.holds.members import (
    EMPTY, member, new_uuid, ONE, put, swap)


@pytest.fixture
def row(holds, host):
    row = member(host)
    put(holds, row)
    return row


@pytest.fixture
def instance(holds, wire, row):
    """An instance whose swap has got no response."""
    wire.delay, instance = 1, new_uuid()
    with pytest.raises(errors.NoResponse):
        swap(holds, row, instance)
    return instance


@pytest.mark.parametrize('times', [1, 2])
def test_a_renewed_hold_is_not_swapped_later(
        placement, holds, wire, host, row, instance, times):
    for _ in range(times):
        holds.renew(row)
    assert wire.carry_out_delayed() == [409]
    assert holds.has(row.hold, row) and holds.exists(instance) is None
    assert placement.used(host) == ONE


def test_a_renewed_hold_can_be_swapped_and_dropped(
        placement, holds, host, row, instance):
    holds.renew(row)
    swap(holds, row, instance)
    assert holds.has(instance, row)
    holds.unswap(row, instance, 'blue', 'ann')
    holds.renew(row)
    holds.drop([row.hold], 'blue', 'ann')
    assert placement.used(host) == EMPTY


def test_a_hold_that_was_swapped_cannot_be_renewed(
        holds, wire, row, instance):
    assert wire.carry_out_delayed() == [204]
    with pytest.raises(errors.HoldMissing):
        holds.renew(row)
    assert holds.has(instance, row)


def carried_out_before(wire, monkeypatch, next_method):
    """Let Placement carry out the delayed requests before the next request
    with a method. Returns the list of their statuses, which is filled then."""
    request, statuses = wire.request, []

    def request_later(url, method, **kwargs):
        if method == next_method and not statuses:
            statuses.extend(wire.carry_out_delayed())
        return request(url, method, **kwargs)

    monkeypatch.setattr(wire, 'request', request_later)
    return statuses


def test_a_swap_that_is_carried_out_during_the_renewal_is_found(
        holds, wire, row, instance, monkeypatch):
    delayed = carried_out_before(wire, monkeypatch, 'POST')
    with pytest.raises(errors.HoldMissing):
        holds.renew(row)
    assert delayed == [204] and holds.has(instance, row)


def test_a_hold_with_another_allocation_is_not_renewed(
        placement, holds, row):
    found = placement.allocation(row.hold)
    placement.adapter.put(
        f'/allocations/{row.hold}', microversion='1.38', json={
            **found, 'allocations': {
                placement.add_host('cmp-2'): {'resources': ONE}}})
    with pytest.raises(errors.AllocationChanged):
        holds.renew(row)


@pytest.fixture
def grown(holds, wire, host):
    """A member without a hold, and its instance, whose allocation has got no
    response."""
    row, wire.delay, instance = member(host), 1, new_uuid()
    with pytest.raises(errors.NoResponse):
        allocate(holds, row, instance)
    return row, instance


def allocate(holds, row, instance):
    holds.allocate(row, instance, 'blue', 'ann')


def withdraw(holds, instance):
    holds.withdraw(instance, 'blue', 'ann')


def test_a_withdrawn_allocation_is_not_written_later(
        placement, holds, wire, host, grown):
    _, instance = grown
    withdraw(holds, instance)
    assert wire.requests == ['POST', 'POST']
    assert wire.carry_out_delayed() == [409]
    assert holds.exists(instance) is None
    assert placement.used(host) == EMPTY


def test_an_allocation_that_was_written_is_withdrawn(
        placement, holds, wire, host, grown):
    row, instance = grown
    assert wire.carry_out_delayed() == [204]
    assert holds.has(instance, row)
    withdraw(holds, instance)
    assert holds.exists(instance) is None
    assert placement.used(host) == EMPTY


def test_an_allocation_that_is_written_during_the_withdrawal_is_removed(
        placement, holds, wire, host, grown, monkeypatch):
    """The first attempt to withdraw it fails."""
    _, instance = grown
    delayed = carried_out_before(wire, monkeypatch, 'GET')
    wire.fail = ['Deadlock found when trying to get lock']
    withdraw(holds, instance)
    assert delayed == [204] and holds.exists(instance) is None
    assert placement.used(host) == EMPTY


def test_a_consumer_that_another_request_has_just_created_is_reported(
        holds, waits, grown):
    """Placement creates the consumer before it writes the allocations."""
    _, instance = grown
    withdraw(holds, instance)
    with pytest.raises(errors.HoldsError, match='concurrent changes'):
        withdraw(holds, instance)
    assert len(waits) == retry_policy.ATTEMPTS - 1

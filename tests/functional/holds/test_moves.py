# SPDX-License-Identifier: Apache-2.0
"""A hold on one host becomes an instance's allocation on another, and back."""

import pytest

from nova_holistic.holds import errors
from nova_holistic.table.records import Place
from tests.functional.holds.members import (
    EMPTY, member, new_uuid, ONE, put, swap)

OWNER = ('blue', 'ann')


@pytest.fixture
def other(placement):
    """A host with capacity for one member."""
    return placement.add_host('cmp-2', vcpus=1)


def place(provider):
    return Place('cmp-2', 'cmp-2', provider)


def test_a_hold_becomes_an_allocation_on_another_host(
        placement, holds, wire, host, other):
    row, instance = member(host), new_uuid()
    put(holds, row)
    wire.requests.clear()
    for _ in range(2):
        holds.swap(row, instance, *OWNER, place(other))
    # The second call finds the move done.
    assert wire.requests == ['POST', 'POST', 'GET', 'GET']
    assert placement.used(host) == EMPTY and placement.used(other) == ONE
    assert holds.exists(row.hold) is None


def test_a_full_host_leaves_the_hold_where_it_is(
        placement, holds, host, other):
    row, instance = member(host), new_uuid()
    put(holds, row, member(other))
    with pytest.raises(errors.CapacityUnavailable):
        holds.swap(row, instance, *OWNER, place(other))
    assert holds.exists(row.hold) and holds.exists(instance) is None
    assert placement.used(host) == ONE


def test_a_moved_allocation_becomes_the_hold_again(
        placement, holds, host, other):
    row, instance = member(host), new_uuid()
    put(holds, row)
    holds.swap(row, instance, *OWNER, place(other))
    for _ in range(2):
        holds.unswap(row, instance, *OWNER, place(other))
    assert placement.used(host) == ONE and placement.used(other) == EMPTY
    assert holds.exists(instance) is None


def test_an_allocation_elsewhere_is_not_taken_for_the_moved_one(
        holds, host, other):
    row, instance = member(host), new_uuid()
    put(holds, row)
    swap(holds, row, instance)
    with pytest.raises(errors.AllocationChanged):
        holds.swap(row, instance, *OWNER, place(other))

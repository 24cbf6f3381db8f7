# SPDX-License-Identifier: Apache-2.0
"""New holds replace old holds in one request to a real Placement."""

import pytest

from nova_holistic.holds.client import HoldClient
from nova_holistic.holds import errors
from nova_holistic.holds.retry_policy import ATTEMPTS
from tests.functional.holds.members import (
    member, new_uuid, ONE, put, swap)

TWO = {'VCPU': 2, 'MEMORY_MB': 1024}
OTHERS_CHANGE = 'deadlock detected'
"""The error of Placement's database for a transaction that another one has
forced to roll back."""


@pytest.fixture
def full(placement):
    """A host with capacity for two small servers, which the old holds use."""
    return placement.add_host('full', vcpus=2, memory_mb=1024)


@pytest.fixture
def old(holds, full):
    """Two members whose holds are dropped."""
    rows = [member(full), member(full)]
    put(holds, *rows)
    return rows


@pytest.fixture
def new(full):
    """Two members that are planned on the same host."""
    return [member(full), member(full)]


def exchange(holds, old, new):
    holds.exchange([row.hold for row in old], new, 'blue', 'ann')


def held(holds, rows):
    """Whether each of the members has exactly its hold."""
    return [holds.has(row.hold, row) for row in rows]


def touch(placement, row):
    """Write a hold again without a change: its generation increases."""
    placement.adapter.put(f'/allocations/{row.hold}', microversion='1.38',
                          json=placement.allocation(row.hold))


def test_new_holds_take_the_room_of_old_ones_on_a_full_host(
        placement, holds, wire, full, old, new):
    wire.requests.clear()
    exchange(holds, old, new)
    assert wire.requests == ['POST']
    assert held(holds, new) == [True, True]
    assert [holds.exists(row.hold) for row in old] == [None, None]
    assert placement.used(full) == TWO


def test_new_holds_belong_to_the_owner_of_all_holds(wire, full):
    holds = HoldClient(wire, ('holistic', 'planner'))
    old, new = member(full), member(full)
    put(holds, old)
    exchange(holds, [old], [new])
    found = holds.exists(new.hold)
    assert (found['project_id'], found['user_id']) == ('holistic', 'planner')
    assert found['consumer_type'] == 'HOLISTIC_HOLD'
    assert holds.exists(old.hold) is None


def test_an_exchange_whose_answer_was_lost_is_found_done(
        placement, holds, wire, full, old, new):
    wire.lose = 1
    with pytest.raises(errors.HoldsError, match='no answer'):
        exchange(holds, old, new)
    exchange(holds, old, new)
    assert held(holds, new) == [True, True]
    assert placement.used(full) == TWO


def test_an_old_hold_that_others_have_written_is_read_again(
        placement, holds, wire, full, old, new):
    touch(placement, old[1])
    wire.requests.clear()
    exchange(holds, old, new)
    # The new hold and both old ones are read between the two attempts.
    assert wire.requests == ['POST', 'GET', 'GET', 'GET', 'POST']
    assert held(holds, new) == [True, True]
    assert placement.used(full) == TWO


def test_an_old_hold_that_is_gone_already_is_left_out(
        placement, holds, full, old, new):
    """The hold was swapped for a server, or it was released."""
    holds.drop([old[0].hold])
    exchange(holds, old, new)
    assert held(holds, new) == [True, True]
    assert placement.used(full) == TWO


def test_without_room_all_old_holds_stay_and_no_new_one_is_put(
        placement, holds, full, old, new):
    more = [*new, member(full)]
    with pytest.raises(errors.CapacityUnavailable):
        exchange(holds, old, more)
    assert held(holds, old) == [True, True]
    assert [holds.exists(row.hold) for row in more] == [None] * 3
    assert placement.used(full) == TWO


def test_the_room_of_a_hold_that_became_a_server_is_not_given_away(
        placement, holds, full, old, new):
    instance = new_uuid()
    swap(holds, old[0], instance)
    with pytest.raises(errors.CapacityUnavailable):
        exchange(holds, old, new)
    assert holds.has(instance, old[0])
    assert held(holds, old) == [False, True]
    assert held(holds, new) == [False, False]
    assert placement.used(full) == TWO


def test_an_exchange_is_tried_again_while_others_change_the_hosts(
        placement, holds, wire, full, old, new):
    wire.fail = [OTHERS_CHANGE] * (ATTEMPTS - 1)
    exchange(holds, old, new)
    assert held(holds, new) == [True, True]
    assert placement.used(full) == TWO


def test_an_exchange_that_never_gets_through_changes_nothing(
        placement, holds, wire, full, old, new):
    wire.fail = [OTHERS_CHANGE] * ATTEMPTS
    with pytest.raises(errors.HoldsError, match='concurrent changes'):
        exchange(holds, old, new)
    assert not wire.fail
    assert held(holds, old) == [True, True]
    assert placement.used(full) == TWO


def test_an_exchange_may_leave_room_to_others(placement, holds, full, old):
    exchange(holds, old, [member(full)])
    assert placement.used(full) == ONE

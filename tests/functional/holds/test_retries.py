# SPDX-License-Identifier: Apache-2.0
"""The waits of the client between attempts at one change grow."""

import pytest

from nova_holistic.holds import errors
from nova_holistic.holds.retry_policy import (
    ATTEMPTS, FIRST_WAIT, LONGEST_WAIT, retry_until_success)
from tests.functional.holds.members import member, new_uuid, put, swap

OTHERS_CHANGE = 'deadlock detected'
"""The error of Placement's database for a transaction that another one has
forced to roll back."""


def touch(placement, consumer):
    """Write a consumer again without a change: its generation increases."""
    placement.adapter.put(f'/allocations/{consumer}', microversion='1.38',
                          json=placement.allocation(consumer))


def test_a_change_without_a_conflict_does_not_wait(holds, waits, host):
    row = member(host)
    put(holds, row)
    swap(holds, row, new_uuid())
    holds.drop([row.hold])
    assert waits == []


def test_a_409_is_followed_by_a_wait(placement, holds, waits, wire, host):
    row = member(host)
    put(holds, row)
    touch(placement, row.hold)
    wire.requests.clear()
    swap(holds, row, new_uuid())
    assert wire.requests == ['POST', 'GET', 'POST']
    assert len(waits) == 1
    assert 0 <= waits[0] <= FIRST_WAIT


def test_an_exchange_waits_after_a_409(placement, holds, waits, wire, host):
    old, new = member(host), member(host)
    put(holds, old)
    touch(placement, old.hold)
    holds.exchange([old.hold], [new], 'blue', 'ann')
    assert len(waits) == 1


@pytest.mark.parametrize('change', ['put', 'swap', 'drop', 'exchange'])
def test_each_change_waits_between_its_attempts(
        holds, waits, wire, host, change):
    row, other = member(host), member(host)
    if change != 'put':
        put(holds, row)
    wire.fail = [OTHERS_CHANGE] * (ATTEMPTS + 1)
    with pytest.raises(errors.HoldsError):
        {'put': lambda: put(holds, row),
         'swap': lambda: swap(holds, row, new_uuid()),
         'drop': lambda: holds.drop([row.hold]),
         'exchange': lambda: holds.exchange(
             [row.hold], [other], 'blue', 'ann')}[change]()
    assert len(wire.fail) == 1
    assert len(waits) == ATTEMPTS - 1


def waits_of(attempts):
    """The waits of a change that fails this number of times."""
    waits = []
    assert not retry_until_success(lambda: False, waits.append)
    assert len(waits) == attempts - 1
    return waits


def test_the_limit_of_the_wait_doubles_and_each_wait_is_random():
    many = [waits_of(ATTEMPTS) for _ in range(200)]
    for number, waits in enumerate(zip(*many)):
        limit = min(LONGEST_WAIT, FIRST_WAIT * 2 ** number)
        assert limit / 2 < max(waits) <= limit
        assert 0 <= min(waits) < limit / 2
        assert len(set(waits)) > 100


def test_an_error_ends_the_attempts():
    waits = []

    def broken():
        raise errors.CapacityUnavailable('no room')

    with pytest.raises(errors.CapacityUnavailable):
        retry_until_success(broken, waits.append)
    assert waits == []

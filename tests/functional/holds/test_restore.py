# SPDX-License-Identifier: Apache-2.0
"""An instance gets the allocations back that it had before a move."""

import pytest

from nova_holistic.holds import errors
from tests.functional.holds.members import EMPTY, new_uuid, ONE

NOVAS = '1.36'
"""Nova's version of the API, in which consumers have no type."""


@pytest.fixture
def other(placement):
    return placement.add_host('cmp-2')


def write(placement, instance, *providers):
    """Nova writes the allocations of an instance."""
    found = placement.adapter.get(
        f'/allocations/{instance}', microversion=NOVAS).json()
    answer = placement.adapter.put(
        f'/allocations/{instance}', microversion=NOVAS, json={
            'allocations': {each: {'resources': ONE} for each in providers},
            'project_id': 'blue', 'user_id': 'ann',
            'consumer_generation': found.get('consumer_generation')})
    assert answer.status_code == 204


def test_an_instance_that_had_none_has_none_again(
        placement, holds, host):
    """Nova gives the allocation of a server that it migrates to the
    migration before it chooses a host."""
    instance = new_uuid()
    before = holds.exists(instance)
    write(placement, instance, host)
    for _ in range(2):
        holds.restore(instance, before)
        assert placement.used(host) == EMPTY
        assert holds.exists(instance) is None


def test_an_instance_that_is_evacuated_keeps_its_source(
        placement, holds, host, other):
    instance = new_uuid()
    write(placement, instance, host)
    before = holds.exists(instance)
    write(placement, instance, host, other)
    for _ in range(2):
        holds.restore(instance, before)
        assert (placement.used(host), placement.used(other)) == (ONE, EMPTY)
    # Nova can write it again.
    write(placement, instance, host, other)
    assert placement.used(other) == ONE


def test_a_request_whose_answer_was_lost_is_repeated(
        placement, holds, wire, host, other):
    instance = new_uuid()
    write(placement, instance, host)
    before = holds.exists(instance)
    write(placement, instance, other)
    wire.away, wire.after = 1, 1
    with pytest.raises(errors.HoldsError):
        holds.restore(instance, before)
    assert placement.used(other) == ONE
    holds.restore(instance, before)
    assert (placement.used(host), placement.used(other)) == (ONE, EMPTY)

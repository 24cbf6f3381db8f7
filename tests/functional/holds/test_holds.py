# SPDX-License-Identifier: Apache-2.0
"""Holds in a real Placement: put, swapped for an instance, dropped."""

from concurrent.futures import ThreadPoolExecutor

from keystoneauth1 import exceptions as ks_exceptions
import pytest

from nova_holistic.holds.client import HoldClient
from nova_holistic.holds import errors
from tests.functional.holds.members import (
    EMPTY, member, new_uuid, ONE, put, swap)


def test_a_hold_belongs_to_the_project_of_its_group(placement, holds, host):
    row = member(host)
    put(holds, row)
    assert placement.used(host) == ONE
    found = holds.exists(row.hold)
    assert found['consumer_type'] == 'HOLISTIC_HOLD'
    assert (found['project_id'], found['user_id']) == ('blue', 'ann')


def test_holds_can_belong_to_a_service_project(wire, placement, host):
    row, instance = member(host), new_uuid()
    holds = HoldClient(wire, ('holistic', 'planner'))
    put(holds, row)
    assert holds.exists(row.hold)['project_id'] == 'holistic'
    swap(holds, row, instance)
    assert placement.allocation(instance)['project_id'] == 'blue'
    holds.unswap(row, instance, 'blue', 'ann')
    assert holds.exists(row.hold)['project_id'] == 'holistic'


def test_either_all_members_are_held_or_none(placement, holds, host):
    other = placement.add_host('cmp-2', vcpus=1)
    rows = [member(host), member(other), member(other)]
    with pytest.raises(errors.CapacityUnavailable):
        put(holds, *rows)
    assert placement.used(host) == placement.used(other) == EMPTY
    assert [holds.exists(row.hold) for row in rows] == [None] * 3


def test_a_put_on_a_deleted_provider_raises_capacity_gone(holds):
    with pytest.raises(errors.CapacityUnavailable, match='does not exist'):
        put(holds, member(new_uuid()))


def test_an_amount_of_zero_is_not_requested(placement, holds, host):
    put(holds, member(host, VCPU=1, MEMORY_MB=512, DISK_GB=0))
    assert placement.used(host) == ONE


def test_a_hundred_members_are_held_in_one_request(placement, holds, wire):
    host = placement.add_host('big', vcpus=100, memory_mb=100 * 512)
    put(holds, *[member(host) for _ in range(100)])
    assert placement.used(host) == {'VCPU': 100, 'MEMORY_MB': 51200}
    assert wire.requests == ['POST']


def test_a_put_whose_answers_were_lost_can_be_repeated(
        placement, holds, wire, host):
    rows = member(host), member(host)
    # The response to the POST, and the response to the query whether it was
    # carried out.
    wire.lose = 2
    with pytest.raises(errors.HoldsError, match='no answer'):
        put(holds, *rows)
    put(holds, *rows)
    assert placement.used(host) == {'VCPU': 2, 'MEMORY_MB': 1024}


def test_dropping_holds_frees_their_capacity(placement, holds, host):
    rows = member(host), member(host)
    put(holds, *rows)
    for _ in range(2):
        holds.drop([row.hold for row in rows])
    assert placement.used(host) == EMPTY


def test_many_holds_of_one_owner_are_dropped_in_one_request(
        placement, holds, wire, host):
    rows = member(host), member(host), member(host)
    put(holds, *rows)
    wire.requests.clear()
    holds.drop([row.hold for row in rows], 'blue', 'ann')
    assert wire.requests == ['POST']
    assert placement.used(host) == EMPTY


def test_a_missing_hold_does_not_stop_the_drop_of_others(
        placement, holds, host):
    rows = member(host), member(host), member(host)
    put(holds, *rows)
    swap(holds, rows[1], new_uuid())
    holds.drop([row.hold for row in rows], 'blue', 'ann')
    assert placement.used(host) == ONE


def test_a_swap_moves_the_allocation_to_the_instance(
        placement, holds, wire, host):
    row, instance = member(host), new_uuid()
    put(holds, row)
    wire.requests.clear()
    swap(holds, row, instance)
    assert wire.requests == ['POST']
    assert holds.exists(row.hold) is None
    found = placement.allocation(instance)
    assert found['consumer_type'] == 'INSTANCE'
    assert found['allocations'][host]['resources'] == ONE
    assert placement.used(host) == ONE


def test_a_swap_on_a_full_host_succeeds(placement, holds):
    host = placement.add_host('full', vcpus=1, memory_mb=512)
    row, instance = member(host), new_uuid()
    put(holds, row)
    swap(holds, row, instance)
    assert placement.used(host) == ONE


def test_a_swap_on_an_overcommitted_host_succeeds(placement, holds):
    host = placement.add_host('small', vcpus=2, memory_mb=1024)
    rows = member(host), member(host)
    put(holds, *rows)
    generation = placement.adapter.get(
        f'/resource_providers/{host}', microversion='1.38').json()[
            'generation']
    placement.set_inventory(host, generation, 1, 512)
    swap(holds, rows[0], new_uuid())
    assert placement.used(host) == {'VCPU': 2, 'MEMORY_MB': 1024}


def test_a_repeated_swap_allocates_once(placement, holds, host):
    row, instance = member(host), new_uuid()
    put(holds, row)
    swap(holds, row, instance)
    swap(holds, row, instance)
    assert placement.used(host) == ONE


def test_a_swap_whose_answer_was_lost_can_be_repeated(
        placement, holds, wire, host):
    row, instance = member(host), new_uuid()
    put(holds, row)
    wire.lose = 1
    with pytest.raises(errors.HoldsError):
        swap(holds, row, instance)
    swap(holds, row, instance)
    assert placement.used(host) == ONE


@pytest.mark.parametrize('resources', [{'VCPU': 2, 'MEMORY_MB': 512}, ONE],
                         ids=['resized', 'moved'])
def test_a_repeated_swap_reports_a_server_that_was_resized_or_moved(
        placement, holds, host, resources):
    row, instance = member(host), new_uuid()
    put(holds, row)
    swap(holds, row, instance)
    provider = host if resources != ONE else placement.add_host('cmp-2')
    placement.adapter.put(
        f'/allocations/{instance}', microversion='1.38',
        json={**placement.allocation(instance), 'allocations': {
            provider: {'resources': resources}}})
    before = placement.allocation(instance)
    with pytest.raises(errors.AllocationChanged, match=instance):
        swap(holds, row, instance)
    assert placement.allocation(instance) == before


def test_a_swap_retries_once_after_a_changed_generation(
        placement, holds, wire, host):
    row, instance = member(host), new_uuid()
    put(holds, row)
    placement.adapter.put(
        f'/allocations/{row.hold}', microversion='1.38',
        json=placement.allocation(row.hold))
    wire.requests.clear()
    swap(holds, row, instance)
    assert wire.requests == ['POST', 'GET', 'POST']
    assert placement.used(host) == ONE


def test_a_swap_of_a_removed_hold_raises_hold_gone(placement, holds, host):
    row, instance = member(host), new_uuid()
    put(holds, row)
    placement.adapter.delete(f'/allocations/{row.hold}')
    with pytest.raises(errors.HoldMissing):
        swap(holds, row, instance)
    assert placement.used(host) == EMPTY


@pytest.mark.parametrize('why', [
    "(1213, 'Deadlock found when trying to get lock; try restarting "
    "transaction')",
    "(1205, 'Lock wait timeout exceeded; try restarting transaction')",
    'deadlock detected'])
def test_a_database_deadlock_in_placement_is_retried(
        placement, holds, wire, host, why):
    rows, instance = [member(host), member(host)], new_uuid()
    wire.fail = [why] * 2
    put(holds, *rows)
    wire.fail = [why] * 2
    swap(holds, rows[0], instance)
    wire.fail = [why] * 2
    holds.drop([rows[1].hold])
    assert placement.used(host) == ONE
    wire.fail = [why] * 9
    with pytest.raises(errors.HoldsError):
        put(holds, rows[1])


def test_other_placement_errors_are_not_retried(holds, wire, host):
    wire.fail = ['disk full'] * 2
    with pytest.raises(errors.HoldsError, match='disk full'):
        put(holds, member(host))
    with pytest.raises(errors.HoldsError, match='disk full'):
        holds.drop([new_uuid()])
    assert not wire.fail


def test_a_swap_does_not_overwrite_an_instances_allocation(
        placement, holds, host):
    row = member(host)
    put(holds, row)
    instance = placement.allocate(host, {'VCPU': 2})
    with pytest.raises(errors.HoldsError):
        swap(holds, row, instance)
    assert holds.has(row.hold, row)
    assert placement.used(host) == {'VCPU': 3, 'MEMORY_MB': 512}


def test_of_two_instances_only_one_gets_the_hold(placement, holds, host):
    row, instances = member(host), [new_uuid(), new_uuid()]
    put(holds, row)
    swap(holds, row, instances[0])
    with pytest.raises(errors.HoldMissing):
        swap(holds, row, instances[1])
    assert placement.used(host) == ONE


def test_an_undone_swap_restores_the_hold(placement, holds, host):
    row, instance = member(host), new_uuid()
    put(holds, row)
    swap(holds, row, instance)
    for _ in range(2):
        holds.unswap(row, instance, 'blue', 'ann')
    assert holds.has(row.hold, row)
    assert holds.exists(instance) is None
    assert placement.used(host) == ONE


def test_the_swap_of_a_moved_instance_is_not_undone(placement, holds, host):
    row, instance = member(host), new_uuid()
    put(holds, row)
    swap(holds, row, instance)
    moved = {**placement.allocation(instance), 'allocations': {
        placement.add_host('cmp-2'): {'resources': ONE}}}
    placement.adapter.put(f'/allocations/{instance}', json=moved,
                          microversion='1.38')
    with pytest.raises(errors.AllocationChanged):
        holds.unswap(row, instance, 'blue', 'ann')
    assert placement.used(host) == EMPTY


def test_an_allocation_that_was_written_again_elsewhere_is_not_emptied(
        placement, holds, host):
    """Nova has freed the capacity, and has placed the instance on another
    host. Both allocations have the same consumer generation."""
    row, instance = member(host), new_uuid()
    put(holds, row)
    swap(holds, row, instance)
    before = placement.allocation(instance)
    holds.drop([instance])
    other = placement.add_host('cmp-2')
    placement.adapter.put(
        f'/allocations/{instance}', microversion='1.38', json={
            **before, 'consumer_generation': None,
            'allocations': {other: {'resources': ONE}}})
    assert placement.allocation(instance)['consumer_generation'] == (
        before['consumer_generation'])
    with pytest.raises(errors.AllocationChanged):
        holds.unswap(row, instance, 'blue', 'ann')
    assert placement.used(other) == ONE and placement.used(host) == EMPTY
    assert holds.exists(row.hold) is None


def test_other_consumers_cannot_take_held_capacity(placement, holds, host):
    put(holds, *[member(host) for _ in range(4)])
    with pytest.raises(ks_exceptions.Conflict):
        placement.allocate(host, {'VCPU': 1})


def test_concurrent_swaps_on_one_host_all_succeed(placement, holds):
    host = placement.add_host('busy', vcpus=8, memory_mb=8 * 512)
    rows = [member(host) for _ in range(8)]
    put(holds, *rows)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda row: swap(holds, row, new_uuid()), rows))
    assert placement.used(host) == {'VCPU': 8, 'MEMORY_MB': 4096}
    assert [holds.exists(row.hold) for row in rows] == [None] * 8

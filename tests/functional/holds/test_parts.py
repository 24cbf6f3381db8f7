# SPDX-License-Identifier: Apache-2.0
"""The holds of a large group are written and deleted by several requests."""

from dataclasses import replace

import pytest

from nova_holistic.holds.client import HoldClient
from nova_holistic.holds import errors
from tests.functional.holds.members import EMPTY, member, new_uuid, put, swap

FIVE = {'VCPU': 5, 'MEMORY_MB': 5 * 512}


@pytest.fixture
def holds(wire, waits):
    """A client that writes two holds per request."""
    return HoldClient(wire, sleep=waits.append, part_size=2)


@pytest.fixture
def host(placement):
    return placement.add_host('large', vcpus=8, memory_mb=8 * 512)


@pytest.fixture
def full(placement):
    """A host without free capacity."""
    provider = placement.add_host('full', vcpus=1, memory_mb=512)
    placement.allocate(provider, {'VCPU': 1, 'MEMORY_MB': 512})
    return provider


@pytest.fixture
def five(host):
    return [member(host) for _ in range(5)]


def owned(holds, rows, note=None):
    holds.put(rows, 'blue', 'ann', note)


def drop(holds, rows):
    holds.drop([row.hold for row in rows], 'blue', 'ann')


def test_each_part_is_one_request_and_is_counted_before_the_next(
        placement, holds, wire, host, five):
    counts = []
    owned(holds, five, counts.append)
    assert wire.requests == ['POST'] * 3
    assert counts == [2, 4]
    assert all(holds.has(row.hold, row) for row in five)
    assert placement.used(host) == FIVE


@pytest.mark.parametrize('number, requests', [(0, 0), (1, 1), (2, 1), (3, 2)])
def test_holds_are_written_in_the_fewest_parts(
        holds, wire, five, number, requests):
    put(holds, *five[:number])
    assert wire.requests == ['POST'] * requests


def test_a_refused_part_undoes_the_parts_before_it(
        placement, holds, wire, host, full, five):
    counts, rows = [], [*five[:4], member(full), five[4]]
    with pytest.raises(errors.CapacityUnavailable):
        owned(holds, rows, counts.append)
    # Three requests write parts, and the last one is refused. Two requests
    # drop parts.
    assert wire.requests == ['POST'] * 5
    assert counts == [2, 4, 0]
    assert [holds.exists(row.hold) for row in rows] == [None] * 6
    assert placement.used(host) == EMPTY


def test_a_refused_first_part_leaves_nothing_to_undo(
        holds, wire, full, five):
    counts = []
    with pytest.raises(errors.CapacityUnavailable):
        owned(holds, [member(full), *five], counts.append)
    assert wire.requests == ['POST']
    assert counts == []


def test_parts_are_undone_if_others_have_changed_a_hold(
        placement, holds, host, full, five):
    def touch(count):
        if count:
            placement.adapter.put(
                f'/allocations/{five[1].hold}', microversion='1.38',
                json=placement.allocation(five[1].hold))

    with pytest.raises(errors.CapacityUnavailable):
        owned(holds, [*five[:2], member(full)], touch)
    assert placement.used(host) == EMPTY


def test_an_undo_without_an_answer_leaves_the_holds_unknown(
        placement, holds, wire, host, full, five):
    """The process that gives up the group drops the remaining holds."""
    rows = [*five[:2], member(full)]

    def go_away(count):
        wire.after, wire.away = 1, 9

    with pytest.raises(errors.HoldsError) as found:
        owned(holds, rows, go_away)
    assert not isinstance(found.value, errors.CapacityUnavailable)
    assert placement.used(host) == {'VCPU': 2, 'MEMORY_MB': 1024}
    wire.away = 0
    drop(holds, rows)
    assert placement.used(host) == EMPTY


def test_a_part_whose_answer_was_lost_is_found_written(
        placement, holds, wire, host, five):
    def lose(count):
        wire.lose = count == 2

    owned(holds, five, lose)
    assert wire.requests == ['POST', 'POST', 'GET', 'POST']
    assert placement.used(host) == FIVE


def test_a_hold_at_another_host_is_not_the_hold_that_was_sent(
        placement, holds, host):
    row = member(host)
    elsewhere = replace(row, place=replace(
        row.place, provider=placement.add_host('other')))
    put(holds, elsewhere)
    with pytest.raises(errors.HoldsError):
        put(holds, row)
    assert holds.has(row.hold, elsewhere)


def test_a_part_that_did_not_get_to_placement_is_sent_again(
        placement, holds, wire, host, five):
    def lose(count):
        wire.away = count == 2

    owned(holds, five, lose)
    assert wire.requests == ['POST', 'POST', 'GET', 'POST', 'POST']
    assert placement.used(host) == FIVE


@pytest.mark.parametrize('status', [502, 503, 504])
def test_a_proxy_that_gives_up_a_part_is_no_answer(
        placement, holds, wire, host, five, status):
    wire.fail, wire.status = ['upstream timed out'], status
    put(holds, *five)
    assert wire.requests == ['POST', 'GET', 'POST', 'POST', 'POST']
    assert placement.used(host) == FIVE


def test_a_refusal_after_a_lost_request_may_not_be_the_last_word(
        holds, wire, full):
    """The lost request may still reach Placement when there is capacity
    again."""
    wire.away = 1
    with pytest.raises(errors.HoldsError, match='no answer') as found:
        put(holds, member(full))
    assert not isinstance(found.value, errors.CapacityUnavailable)
    assert wire.requests == ['POST', 'GET', 'POST']


def test_no_further_part_is_sent_while_placement_is_unavailable(
        holds, wire, five):
    wire.away = 99
    with pytest.raises(errors.NoResponse):
        put(holds, *five)
    assert wire.requests == ['POST', 'GET']


def test_no_further_part_is_written_if_it_cannot_be_counted(
        placement, holds, wire, host, five):
    def lost(count):
        raise RuntimeError('the group belongs to another engine')

    with pytest.raises(RuntimeError):
        owned(holds, five, lost)
    assert wire.requests == ['POST']


def test_holds_are_dropped_in_parts(placement, holds, wire, host, five):
    put(holds, *five)
    wire.requests.clear()
    drop(holds, five)
    assert wire.requests == ['POST', 'POST', 'DELETE']
    assert placement.used(host) == EMPTY


def test_a_missing_hold_costs_further_requests_in_its_part_only(
        placement, holds, wire, host, five):
    put(holds, *five)
    swap(holds, five[2], new_uuid())
    wire.requests.clear()
    drop(holds, five)
    assert wire.requests == ['POST', 'POST', *['DELETE'] * 3]
    assert placement.used(host) == {'VCPU': 1, 'MEMORY_MB': 512}


def test_a_drop_without_an_answer_is_repeated(
        placement, holds, wire, host, five):
    put(holds, *five)
    wire.requests.clear()
    wire.lose = 1
    drop(holds, five)
    assert wire.requests == ['POST', 'DELETE', 'DELETE', 'POST', 'DELETE']
    assert placement.used(host) == EMPTY


def test_an_exchange_is_one_request_however_many_holds_it_has(
        placement, holds, wire, host, five):
    put(holds, *five)
    wire.requests.clear()
    new = [member(host) for _ in range(5)]
    holds.exchange([row.hold for row in five], new, 'blue', 'ann')
    assert wire.requests == ['POST']
    assert placement.used(host) == FIVE

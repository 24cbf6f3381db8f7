# SPDX-License-Identifier: Apache-2.0
"""Requests that wait for groups share the reads of the table."""

import pytest

from nova_holistic.api.pending_groups import FRESH, KEPT, PendingGroups
from nova_holistic.api.waiting import FIRST_PAUSE, LONGEST_PAUSE
from nova_holistic.table.errors import TableError


class Table:
    """A table with a clock of the test.

    :ivar pending: groups with a task
    :ivar reads: the groups of each read
    """

    def __init__(self, *groups):
        self.now = 100.0
        self.pending = set(groups)
        self.reads = []
        self.is_pending = PendingGroups(self._read, lambda: self.now)

    def _read(self, groups):
        self.reads.append(set(groups))
        return self.pending.intersection(groups)


def test_simultaneous_requests_share_one_read():
    table = Table('a', 'b', 'c')
    for group in 'abc':
        assert table.is_pending(group)
    # A group that was not read before needs its own read.
    assert table.reads == [{'a'}, {'a', 'b'}, {'a', 'b', 'c'}]
    table.now += 2 * FRESH
    for group in 'abcabc':
        assert table.is_pending(group)
    assert table.reads[3:] == [{'a', 'b', 'c'}]


def test_an_end_is_seen_after_the_time_for_which_a_result_is_shared():
    table = Table('a', 'b')
    assert table.is_pending('a') and table.is_pending('b')
    table.pending.clear()
    assert table.is_pending('a')
    table.now += FRESH + 0.001
    assert not table.is_pending('a')
    assert not table.is_pending('b')


def test_a_group_that_does_not_exist_is_not_pending():
    assert not Table().is_pending('a')


def test_a_group_without_waiting_requests_is_not_read_any_longer():
    table = Table('a', 'b', 'c')
    assert all(map(table.is_pending, 'abc'))
    # The task of the first group ends, and no request waits for the second
    # one.
    table.pending.discard('a')
    for _ in range(8):
        table.now += KEPT / 4
        assert table.is_pending('c')
    assert table.reads[-1] == {'c'}


def test_a_waiting_request_reads_its_group_before_it_is_left_out():
    assert FRESH < FIRST_PAUSE and LONGEST_PAUSE < KEPT


def test_a_failed_read_is_repeated():
    table = Table('a')
    answers = [TableError('no response')]

    def read(groups):
        if answers:
            raise answers.pop()
        return groups

    is_pending = PendingGroups(read, lambda: table.now)
    with pytest.raises(TableError):
        is_pending('a')
    assert is_pending('a')


def test_many_waiting_requests_send_few_reads():
    """50 requests wait for 10 seconds, each with the pauses of a request."""
    groups = [f'g{number}' for number in range(50)]
    table = Table(*groups)
    due = {group: table.now + 0.001 * number
           for number, group in enumerate(groups)}
    begin = table.now
    questions = 0
    while (moment := min(due.values())) < begin + 10:
        table.now = moment
        group = min(due, key=due.get)
        assert table.is_pending(group)
        questions += 1
        due[group] += min(max(FIRST_PAUSE, 0.1 * (moment - begin)),
                          LONGEST_PAUSE)
    assert questions > 1500
    assert len(table.reads) <= len(groups) + 10 / FRESH

# SPDX-License-Identifier: Apache-2.0
"""Work that fails again and again is repeated at growing intervals."""

import logging

import pytest

from nova_holistic.engine.errors import HoldsNotDropped, WorkDelayed
from nova_holistic.service.retries import LONGEST_INTERVAL, Retries

AWAY = HoldsNotDropped('Placement does not answer')
JOB = ('group', 'one')


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def retries(clock):
    return Retries(clock)


def test_intervals_double_up_to_the_longest(retries, clock):
    intervals = []
    for _ in range(12):
        retries.failed(JOB, AWAY)
        began = clock.now
        while not retries.due('group', ['one']):
            clock.now += 1
        intervals.append(clock.now - began)
    assert intervals == [min(2 ** number, LONGEST_INTERVAL)
                         for number in range(12)]


def test_only_the_first_failure_since_a_success_is_reported(retries):
    assert retries.failed(JOB, AWAY)
    assert not retries.failed(JOB, AWAY)
    retries.succeeded(JOB)
    assert retries.due('group', ['one']) == ['one']
    assert retries.failed(JOB, AWAY)


def test_other_work_is_not_delayed(retries):
    retries.failed(JOB, AWAY)
    assert retries.due('group', ['two', 'one']) == ['two']
    assert retries.due('plan', ['one']) == ['one']


def test_work_that_the_table_delays_is_only_logged(retries, clock, caplog):
    for _ in range(60):
        retries.failed(JOB, WorkDelayed('Cinder does not answer'))
        assert retries.due('group', ['one']) == ['one']
        clock.now += 1
    lines = [record.getMessage() for record in caplog.records
             if record.levelno == logging.WARNING]
    # At 0, 10 and 30 seconds.
    assert len(lines) == 3
    assert lines[0].endswith('Cinder does not answer')


def test_work_of_other_engines_is_forgotten(retries, clock):
    retries.failed(JOB, AWAY)
    clock.now += 10 * LONGEST_INTERVAL
    retries.failed(('group', 'two'), AWAY)
    assert retries.failed(JOB, AWAY)

# SPDX-License-Identifier: Apache-2.0
"""A call that fails every second is logged at growing intervals."""

import logging
import time

import pytest

from nova_holistic.exceptions import HolisticError
from nova_holistic.service.failure_log import (
    FailureLog, FIRST_INTERVAL, LONGEST_INTERVAL)
from nova_holistic.service.periodic_calls import PeriodicCall, PeriodicCalls

AWAY = HolisticError('Placement does not answer')
HOUR = 3600
LONG = 60.0
"""Seconds after which a thread that does nothing is a failure of the test."""


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def log(clock):
    return FailureLog('compare the snapshot', clock)


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO)
    return lambda: [record.getMessage() for record in caplog.records]


def fail(log, clock, seconds, error=AWAY):
    """Fail once per second."""
    for _ in range(seconds):
        log.failed(error)
        clock.now += 1


def test_the_first_failure_is_logged_at_once(log, lines):
    log.failed(AWAY)
    assert lines() == [
        '"compare the snapshot" failed (1 times in a row) and is repeated '
        'later: Placement does not answer']


def test_the_intervals_between_messages_double(log, clock, lines):
    moments = []
    for second in range(HOUR):
        before = len(lines())
        fail(log, clock, 1)
        if len(lines()) > before:
            moments.append(second)
    intervals = [b - a for a, b in zip(moments, moments[1:])]
    assert intervals[:3] == [
        FIRST_INTERVAL, 2 * FIRST_INTERVAL, 4 * FIRST_INTERVAL]
    assert max(intervals) == LONGEST_INTERVAL
    assert len(moments) == 11


def test_the_end_of_an_outage_is_logged_once(log, clock, lines):
    fail(log, clock, 100)
    before = len(lines())
    log.succeeded()
    log.succeeded()
    assert lines()[before:] == [
        '"compare the snapshot" succeeds again, after 100 failures']


def test_the_next_outage_begins_with_short_intervals(log, clock, lines):
    fail(log, clock, HOUR)
    log.succeeded()
    before = len(lines())
    fail(log, clock, int(FIRST_INTERVAL) + 1)
    assert len(lines()) - before == 2


def test_an_error_of_another_type_is_logged_at_once(log, clock, caplog):
    fail(log, clock, 5)
    fail(log, clock, 5, ZeroDivisionError('division by zero'))
    fail(log, clock, 5)
    levels = [(record.levelname, bool(record.exc_info))
              for record in caplog.records]
    assert levels == [('WARNING', False), ('ERROR', True)]


def test_a_call_without_work_does_not_end_an_outage(lines):
    outcomes = [AWAY, False, AWAY, None]

    def call():
        if len(outcomes) == 1:
            calls.stop()
        found = outcomes.pop(0)
        if found is AWAY:
            raise found
        return found

    calls = PeriodicCalls({'read': PeriodicCall(call, 0.001)})
    calls.start()
    assert calls.wait(time.monotonic() + LONG)
    assert lines()[1:] == ['"read" succeeds again, after 2 failures']


def test_nothing_is_logged_about_calls_that_succeed(log, lines):
    log.succeeded()
    assert lines() == []


def test_a_periodic_call_logs_an_outage_and_its_end(lines):
    outcomes, done = [AWAY] * 5, []

    def call():
        if outcomes:
            raise outcomes.pop()
        done.append(1)
        if len(done) == 3:
            calls.stop()

    calls = PeriodicCalls({'read': PeriodicCall(call, 0.001)})
    calls.start()
    assert calls.wait(time.monotonic() + LONG)
    assert lines()[:1] + lines()[-1:] == [
        '"read" failed (1 times in a row) and is repeated later: '
        'Placement does not answer',
        '"read" succeeds again, after 5 failures']

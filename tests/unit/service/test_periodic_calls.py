# SPDX-License-Identifier: Apache-2.0
"""Functions that are called periodically do not affect each other."""

import threading
import time

import pytest

from nova_holistic.exceptions import HolisticError
from nova_holistic.service.periodic_calls import PeriodicCall, PeriodicCalls

LONG = 300.0
"""Seconds after which a thread that does nothing is a failure."""


@pytest.fixture
def start():
    """Start periodic calls, which end with the test."""
    started = []

    def begin(**calls):
        found = PeriodicCalls(calls)
        found.start()
        started.append(found)
        return found

    yield begin
    for each in started:
        each.stop()
        assert each.wait(time.monotonic() + LONG)


class Times:
    """A function that signals when it was called a number of times."""

    def __init__(self, number, error=None):
        self._left = number
        self._error = error
        self.reached = threading.Event()

    def __call__(self):
        self._left -= 1
        if self._left == 0:
            self.reached.set()
        if self._error:
            raise self._error


@pytest.mark.parametrize('error', [
    HolisticError('the table does not answer'), ZeroDivisionError()])
def test_a_call_that_fails_is_repeated(start, error):
    failing, other = Times(3, error), Times(3)
    start(failing=PeriodicCall(failing, 0.01), other=PeriodicCall(other, 0.01))
    assert failing.reached.wait(LONG)
    assert other.reached.wait(LONG)


def test_the_first_call_does_not_wait_for_the_spacing(start):
    first = Times(1)
    start(first=PeriodicCall(first, 3600.0))
    assert first.reached.wait(LONG)


def test_no_call_waits_for_a_slow_one(start):
    go_on, other = threading.Event(), Times(3)
    start(slow=PeriodicCall(lambda: go_on.wait(LONG), 0.01),
          other=PeriodicCall(other, 0.01))
    assert other.reached.wait(LONG)
    go_on.set()


def test_a_function_with_a_spacing_of_zero_is_never_called(start):
    never, other = Times(1), Times(2)
    start(never=PeriodicCall(never, 0.0), other=PeriodicCall(other, 0.01))
    assert other.reached.wait(LONG)
    assert not never.reached.is_set()
    nothing = start(never=PeriodicCall(never, 0.0))
    nothing.stop()
    assert nothing.wait(time.monotonic())


def test_the_end_waits_only_for_a_call_in_progress(start):
    begun, go_on = threading.Event(), threading.Event()
    calls = []

    def slow():
        calls.append('slow')
        begun.set()
        assert go_on.wait(LONG)

    slow_call = start(slow=PeriodicCall(slow, 0.01))
    assert begun.wait(LONG)
    slow_call.stop()
    assert not slow_call.wait(time.monotonic())
    go_on.set()
    assert slow_call.wait(time.monotonic() + LONG)
    assert calls == ['slow']

# SPDX-License-Identifier: Apache-2.0
"""Concurrent callers share a run that begins after each of them has called."""

from concurrent.futures import ThreadPoolExecutor
import itertools
import threading

import pytest

from nova_holistic.inventory.shared_runs import SharedRuns

LONG = 300
"""Seconds after which a test that hangs fails."""


class Slow:
    """Work that ends when the test allows it. Its outcome is its number."""

    def __init__(self):
        self.begun = [threading.Event() for _ in range(9)]
        self.end = [threading.Event() for _ in range(9)]
        self.runs = 0

    def __call__(self):
        number, self.runs = self.runs, self.runs + 1
        self.begun[number].set()
        assert self.end[number].wait(LONG)
        return number


def wait_for_callers(shared, number):
    """Wait until this number of callers waits or runs."""
    waited = threading.Event()
    for _ in range(1000 * LONG):
        if shared.callers == number:
            return
        waited.wait(0.001)
    raise AssertionError(f'{shared.callers} callers, not {number}')


class Counted(SharedRuns):
    """Counts the callers that have no outcome yet."""

    def __init__(self, work):
        super().__init__(work)
        self.callers = 0
        self._counting = threading.Lock()

    def __call__(self):
        outcome = self._join()
        with self._counting:
            self.callers += 1
        try:
            return self._wait(outcome)
        finally:
            with self._counting:
                self.callers -= 1


def test_each_single_call_starts_a_run():
    numbers = itertools.count()
    shared = SharedRuns(lambda: next(numbers))
    assert [shared(), shared(), shared()] == [0, 1, 2]


def test_callers_during_a_run_share_the_next_one():
    work = Slow()
    shared = Counted(work)
    with ThreadPoolExecutor(5) as pool:
        first = pool.submit(shared)
        assert work.begun[0].wait(LONG)
        others = [pool.submit(shared) for _ in range(4)]
        wait_for_callers(shared, 5)
        work.end[0].set()
        work.end[1].set()
        assert first.result(LONG) == 0
        assert [other.result(LONG) for other in others] == [1] * 4
    assert work.runs == 2


def test_all_callers_of_a_failed_run_get_its_error():
    work = Slow()
    failing = [False, True, False]

    def fail():
        number = work()
        if failing[number]:
            raise LookupError(f'run {number}')
        return number

    shared = Counted(fail)
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(shared)
        assert work.begun[0].wait(LONG)
        others = [pool.submit(shared) for _ in range(2)]
        wait_for_callers(shared, 3)
        for end in work.end:
            end.set()
        assert first.result(LONG) == 0
        for other in others:
            with pytest.raises(LookupError, match='run 1'):
                other.result(LONG)
    assert shared() == 2


def test_a_stopped_caller_does_not_stop_the_others():
    work = Slow()

    def stopped():
        number = work()
        if number == 1:
            raise SystemExit
        return number

    shared = Counted(stopped)
    with ThreadPoolExecutor(3) as pool:
        pool.submit(shared)
        assert work.begun[0].wait(LONG)
        others = [pool.submit(shared) for _ in range(2)]
        wait_for_callers(shared, 3)
        for end in work.end:
            end.set()
        errors = [other.exception(LONG) for other in others]
        assert sorted(type(error).__name__ for error in errors) == [
            'NoneType', 'SystemExit']
        assert [other.result() for other, error in zip(others, errors)
                if error is None] == [2]

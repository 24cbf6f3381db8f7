# SPDX-License-Identifier: Apache-2.0
"""Tests distributed over several worker processes."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
import contextlib
import itertools
import pathlib

from tools.nova_compat.outcome import Outcome
from tools.nova_compat.process import WorkerProcess
from tools.nova_compat.worker import HOLISTIC, STOCK

MANAGERS = (STOCK, HOLISTIC)
Results = Mapping[str, Mapping[str, Outcome]]
"""For each manager, the outcomes by the ID of the test."""


class Pool:
    """Runs each test on both managers, in tasks of one test class.

    :param jobs: number of workers that run at the same time
    :param log: file for the output of the tests
    :param timeout: seconds after which a test is interrupted
    :param tell: called with a line about each finished class
    """

    def __init__(self, jobs: int, log: pathlib.Path, timeout: float,
                 tell: Callable[[str], None]):
        self._jobs = jobs
        self._log = log
        self._timeout = timeout
        self._tell = tell
        self._listing = WorkerProcess(STOCK, log, timeout)

    def close(self) -> None:
        """End the process that listed the tests, if it is running."""
        self._listing.close()

    def listing(self, names: Sequence[str]) -> Sequence[str]:
        """Return the IDs of all tests that the names select.

        :raises WorkerFailed: one of the modules cannot be imported
        """
        return self._listing.listing(names)

    def run(self, tests: Iterable[str]) -> Results:
        """Return the outcomes of all tests on both managers."""
        classes = [list(group) for _, group in itertools.groupby(
            sorted(tests), lambda test: test.rpartition('.')[0])]
        # Large classes come first, so that no worker runs alone at the end.
        classes.sort(key=len, reverse=True)
        tasks = {manager: deque(classes) for manager in MANAGERS}
        results: dict[str, dict[str, Outcome]] = {
            manager: {} for manager in MANAGERS}
        with ThreadPoolExecutor(self._jobs) as executor:
            for future in [executor.submit(self._work, job, tasks, results)
                           for job in range(self._jobs)]:
                future.result()
        return results

    def _work(self, job: int, tasks, results) -> None:
        """Run tasks of one manager in one process, and then the remaining
        tasks of the other manager in another process."""
        first = job % len(MANAGERS)
        for manager in (*MANAGERS[first:], *MANAGERS[:first]):
            with contextlib.closing(self._worker(job, manager)) as worker:
                for tests in _remaining(tasks[manager]):
                    outcomes = worker.run(tests)
                    results[manager].update(
                        {each.test: each for each in outcomes})
                    self._tell(_line(manager, tests[0], outcomes))

    def _worker(self, job: int, manager: str) -> WorkerProcess:
        # The start of a worker takes seconds, so the process that listed the
        # tests is used.
        if (job, manager) == (0, STOCK):
            return self._listing
        return WorkerProcess(manager, self._log, self._timeout)


def _remaining(tasks):
    """Generate tasks until all threads together have taken all of them."""
    with contextlib.suppress(IndexError):
        while True:
            yield tasks.popleft()


def _line(manager: str, test: str, outcomes: Sequence[Outcome]) -> str:
    passed = sum(each.outcome == 'passed' for each in outcomes)
    seconds = sum(each.seconds for each in outcomes)
    return (f'{manager:8} {test.rpartition(".")[0]}: {passed} of '
            f'{len(outcomes)} passed, {seconds:.0f} s')

# SPDX-License-Identifier: Apache-2.0
"""The trial applies one mutant at a time to a copy, and runs its tests."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
import contextlib
from dataclasses import dataclass
import enum
import queue

from tools.mutants import pytest_process
from tools.mutants.mutant import DoesNotApply, Mutant
from tools.mutants.project_copy import ProjectCopy


class Status(enum.StrEnum):
    KILLED = 'killed'
    SURVIVED = 'survived'
    ERROR = 'error'


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one mutant.

    :ivar detail: the test that killed the mutant, or the error
    """

    mutant: Mutant
    status: Status
    detail: str = ''


class Trial:
    """Runs one process of pytest in each copy at the same time."""

    def __init__(self, copies: Sequence[ProjectCopy], timeout: float,
                 tell: Callable[[str], None] = lambda line: None):
        """Create a trial.

        :param timeout: timeout in seconds of one run of pytest
        :param tell: called with a line about each finished run
        """
        self._free: queue.SimpleQueue[ProjectCopy] = queue.SimpleQueue()
        for copy in copies:
            self._free.put(copy)
        self._jobs = len(copies)
        self._timeout = timeout
        self._tell = tell

    def run(self, mutants: Sequence[Mutant]) -> Sequence[Result]:
        """Return the results, in the order of the mutants."""
        sets = list(dict.fromkeys(mutant.tests for mutant in mutants))
        with ThreadPoolExecutor(self._jobs) as pool:
            problems = dict(zip(sets, pool.map(self._problem, sets),
                                strict=True))
            return list(pool.map(
                lambda mutant: self._result(mutant, problems[mutant.tests]),
                mutants))

    @contextlib.contextmanager
    def _copy(self) -> Iterator[ProjectCopy]:
        copy = self._free.get()
        try:
            yield copy
        finally:
            self._free.put(copy)

    def _problem(self, tests: Sequence[str]) -> str | None:
        """Return why the tests do not pass without a mutant, or None if they
        pass."""
        with self._copy() as copy:
            ended = pytest_process.run(copy.root, tests, self._timeout)
        passed = ended.code == 0
        self._tell(f'without a mutant, {" ".join(tests)}: '
                   f'{"passed" if passed else _why(ended)}')
        return None if passed else (
            f'the tests do not pass without it: {_why(ended)}')

    def _result(self, mutant: Mutant, problem: str | None) -> Result:
        if problem is None:
            result = self._tried(mutant)
        else:
            result = Result(mutant, Status.ERROR, problem)
        self._tell(f'{result.status}: {mutant.name}')
        return result

    def _tried(self, mutant: Mutant) -> Result:
        with self._copy() as copy:
            try:
                with copy.mutated(mutant):
                    ended = pytest_process.run(
                        copy.root, mutant.tests, self._timeout)
            except DoesNotApply as error:
                return Result(mutant, Status.ERROR, str(error))
        if ended.code == 0:
            return Result(mutant, Status.SURVIVED)
        if ended.code == 1 and ended.failed:
            return Result(mutant, Status.KILLED, ended.failed)
        return Result(mutant, Status.ERROR, _why(ended))


def _why(ended: pytest_process.Ended) -> str:
    """Return in one line why a run neither passed nor killed a mutant."""
    if ended.code is None:
        return 'pytest took longer than the timeout'
    lines = [line for line in ended.output.splitlines() if line.strip()]
    named = [line for line in lines if line.startswith(('FAILED', 'ERROR'))]
    last = (named or lines or ['it wrote nothing'])[-1]
    return f'pytest ended with exit code {ended.code}: {last.strip()}'

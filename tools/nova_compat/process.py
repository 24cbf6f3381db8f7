# SPDX-License-Identifier: Apache-2.0
"""The client side of a worker process."""

from collections.abc import Iterator, Sequence
import json
import os
import pathlib
import subprocess
import sys
import threading
from typing import Any

from tools.nova_compat.outcome import NOT_RUN, Outcome

PROJECT = pathlib.Path(__file__).parents[2]


class WorkerFailed(Exception):
    """A worker ended, or was killed because it exceeded the timeout."""


class WorkerProcess:
    """One process of ``tools.nova_compat.worker``. It is started at the first
    use.

    :param manager: ``stock`` or ``holistic``
    :param log: file to which the output of the tests is appended
    :param timeout: maximum time in seconds of one test
    """

    def __init__(self, manager: str, log: pathlib.Path, timeout: float):
        self.manager = manager
        self._log = log
        self._timeout = timeout
        self._process: subprocess.Popen | None = None

    def listing(self, names: Sequence[str]) -> Sequence[str]:
        """Return the IDs of the tests that the names select.

        :raises WorkerFailed: one of the modules cannot be imported
        """
        return [answer['test'] for answer in self._ask({'list': list(names)})]

    def run(self, tests: Sequence[str]) -> list[Outcome]:
        """Return the outcome of each test, even if the worker ends early."""
        outcomes, failure = [], ''
        try:
            for answer in self._ask({'run': list(tests)}):
                outcomes.append(Outcome(**answer))
        except WorkerFailed as error:
            failure = str(error)
        run = {each.test for each in outcomes}
        return [*outcomes, *(Outcome(test, NOT_RUN, details=failure)
                             for test in tests if test not in run)]

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _ask(self, question: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if self._process is None:
            self._process = self._start()
        process = self._process
        try:
            process.stdin.write(json.dumps(question) + '\n')
            process.stdin.flush()
        except BrokenPipeError:
            pass
        while True:
            timer = threading.Timer(self._timeout, process.kill)
            timer.start()
            line = process.stdout.readline()
            timer.cancel()
            if not line:
                self.close()
                raise WorkerFailed(
                    f'the {self.manager} worker ended with code '
                    f'{process.returncode}; see {self._log}')
            answer = json.loads(line)
            if 'end' in answer:
                return
            yield answer

    def _start(self) -> subprocess.Popen:
        # Nova's tests must not find a nova.conf or an api-paste.ini in the
        # working directory.
        environment = os.environ | {'PYTHONPATH': str(PROJECT)}
        with self._log.open('a') as log:
            return subprocess.Popen(
                [sys.executable, '-m', 'tools.nova_compat.worker',
                 self.manager],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                text=True, cwd=PROJECT, env=environment)

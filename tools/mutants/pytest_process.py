# SPDX-License-Identifier: Apache-2.0
"""A run of pytest as a process in a copy of the project, until a test fails.
"""

from collections.abc import Sequence
from dataclasses import dataclass
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

_GRACE = 30
"""Timeout in seconds for an interrupted pytest."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The result of a run of pytest.

    :ivar code: its exit code; None if it exceeded the timeout
    :ivar failed: the test that failed; None if no test failed. The setup of a
        fixture is not part of a test, but its teardown is
    :ivar output: the output of pytest
    """

    code: int | None
    failed: str | None
    output: str


def run(root: pathlib.Path, tests: Sequence[str], timeout: float) -> Ended:
    """Run tests in a directory from which all modules are imported."""
    with tempfile.TemporaryDirectory(prefix='mutants-') as directory:
        report = pathlib.Path(directory, 'report.xml')
        command = [sys.executable, '-m', 'pytest', '-x', '-q',
                   f'--junitxml={report}', *tests]
        code, output = _run(command, root, timeout)
        return Ended(code, _failed(report), output)


def _run(command: Sequence[str], root: pathlib.Path,
         timeout: float) -> tuple[int | None, str]:
    # A mutant may be replaced within a second, and then pytest would use the
    # compiled file of the previous one.
    environ = {**os.environ, 'PYTHONPATH': str(root),
               'PYTHONDONTWRITEBYTECODE': '1'}
    with subprocess.Popen(
            command, cwd=root, env=environ, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
            errors='replace') as process:
        try:
            output, _ = process.communicate(timeout=timeout)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            return None, _end(process)


def _end(process: subprocess.Popen) -> str:
    """Interrupt pytest, so that fixtures end their processes, and kill it if
    it does not end in time. Return its output."""
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=_GRACE)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0]


def _failed(report: pathlib.Path) -> str | None:
    try:
        cases = ElementTree.parse(report).getroot().iter('testcase')
    except (OSError, ElementTree.ParseError):
        return None
    for case in cases:
        for problem in (*case.iter('failure'), *case.iter('error')):
            if not problem.get('message', '').startswith(
                    ('failed on setup', 'collection failure')):
                return f'{case.get("classname")}::{case.get("name")}'
    return None

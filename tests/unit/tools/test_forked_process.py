# SPDX-License-Identifier: Apache-2.0
"""A fork ends as a script does."""

import subprocess
import sys

import pytest


SCRIPT = '''
import sys
from tools.forked_process import run_and_exit
{}({})
print('code of the process that forked')
'''


def end(statement, call):
    """The exit status of a process, its output and its last error."""
    done = subprocess.run(
        [sys.executable, '-c', SCRIPT.format(statement, call)],
        capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr.splitlines()[-1:]


@pytest.mark.parametrize('result', [
    'None', '3', '-1', '"refused"', 'sys.exit()', 'sys.exit(2)',
    'sys.exit("refused")', 'print("written", end="")', '1 / 0'])
def test_a_fork_ends_as_a_script(result):
    assert end('run_and_exit', f'lambda: {result}') == end('sys.exit', result)

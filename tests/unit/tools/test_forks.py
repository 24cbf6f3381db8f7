# SPDX-License-Identifier: Apache-2.0
"""Forks of a process behave like processes that import their module."""

import signal
import subprocess
import sys

import pytest

from tests.unit.tools import waiting_process
from tools.federation.forks import Forks
from tools.federation.processes import log_path

MODULE = waiting_process.__name__
POINT = 'federation.part-created'


@pytest.fixture(scope='module')
def forks():
    with Forks(MODULE) as forks:
        yield forks


@pytest.fixture
def start(forks, tmp_path):
    started = []

    def start(url='http://one', crash_point=None):
        process = forks.start({'url': url}, tmp_path, crash_point)
        started.append(process)
        return process

    yield start
    for each in started:
        each.stop()


def test_each_process_has_its_own_options_and_streams(start):
    first, second = start('http://one'), start('http://two')
    for process in (second, first):
        process.wait_until_ready()
    assert (first.url, second.url) == ('http://one', 'http://two')
    first.stop()
    # The second process still runs.
    with pytest.raises(subprocess.TimeoutExpired):
        second.wait_until_killed(0.01)
    second.stop()
    assert [each.wait_until_killed(1) for each in (first, second)] == [0, 0]


def test_the_module_is_preloaded_once(start, tmp_path):
    for process in (start(), start()):
        process.wait_until_ready()
    with open(log_path(MODULE, tmp_path)) as written:
        first, second = written.read().splitlines()
    assert first == second
    assert first.startswith('preloaded by ')
    assert first.split()[-1].isdecimal()


def test_an_interrupt_of_the_terminal_ends_no_process(tmp_path):
    """The terminal sends it to the whole process group."""
    code = ('import os, signal\n'
            'from tools.federation.forks import Forks\n'
            'signal.signal(signal.SIGINT, lambda *_: None)\n'
            f'with Forks({MODULE!r}) as forks:\n'
            f'    process = forks.start({{"url": "one"}}, {str(tmp_path)!r})\n'
            '    process.wait_until_ready()\n'
            '    os.killpg(0, signal.SIGINT)\n'
            '    process.stop()\n'
            '    print(process.wait_until_killed(1))\n')
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True,
        timeout=300, start_new_session=True)
    assert (done.stdout, done.stderr) == ('0\n', '')


def test_a_process_is_killed_at_its_crash_point_only(start):
    killed, other = start(crash_point=POINT), start()
    assert killed.wait_until_killed(60) == -signal.SIGKILL
    with pytest.raises(subprocess.TimeoutExpired):
        other.wait_until_killed(0.01)


def test_a_killed_process_can_be_stopped(start):
    process = start()
    process.wait_until_ready()
    process.kill()
    process.stop()
    assert process.wait_until_killed(1) == -signal.SIGKILL


def test_a_process_that_does_not_start_is_reported_with_its_log(
        start, tmp_path):
    process = start(crash_point='nowhere')
    log = log_path(MODULE, tmp_path)
    with pytest.raises(RuntimeError, match=log):
        process.wait_until_ready()
    with open(log) as written:
        assert "there is no crash point 'nowhere'" in written.read()

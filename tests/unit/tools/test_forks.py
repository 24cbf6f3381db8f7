# SPDX-License-Identifier: Apache-2.0
"""Forks of a process behave like processes that import their module."""

import signal
import subprocess

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

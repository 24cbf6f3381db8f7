# SPDX-License-Identifier: Apache-2.0
"""The times at which a waiting request reads the table."""

import threading
from types import SimpleNamespace

import pytest

from nova_holistic.api import waiting


class Clock:
    """A clock that moves only while a request sleeps.

    :ivar looks: times of the reads of the table
    """

    def __init__(self, ready):
        self.now = 0.0
        self.looks = []
        self._ready = ready

    def sleep(self, seconds):
        self.now += seconds

    def read(self):
        self.looks.append(self.now)
        return self.now >= self._ready

    def wait(self, seconds):
        service = SimpleNamespace(
            timer=lambda: self.now, sleep=self.sleep,
            waiters=threading.Semaphore(1),
            conf=SimpleNamespace(
                holistic_api=SimpleNamespace(wait_max=seconds)))
        call = SimpleNamespace(service=service, query={'wait': seconds})
        return waiting.wait_until_settled(call, self.read, bool)


@pytest.mark.parametrize('ready', [0.3, 1.0, 2.5, 7.0, 20.0])
def test_the_response_is_late_by_at_most_a_tenth(ready):
    clock = Clock(ready)
    assert clock.wait(100) == (True, True)
    assert clock.now - ready <= max(
        waiting.FIRST_PAUSE, 0.1 * ready) + 1e-9


def test_a_long_wait_reads_once_per_second():
    clock = Clock(ready=1000)
    assert clock.wait(300) == (False, False)
    assert clock.now == 300
    assert len(clock.looks) < 350

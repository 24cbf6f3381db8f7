# SPDX-License-Identifier: Apache-2.0
"""When a waiting request looks into the table."""

import threading
from types import SimpleNamespace

import pytest

from nova_holistic.api import waiting


class Clock:
    """A timer that only sleeping moves.

    :ivar looks: when the table was read
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
def test_the_answer_is_late_by_a_tenth_at_most(ready):
    clock = Clock(ready)
    assert clock.wait(100) == (True, True)
    assert clock.now - ready <= max(
        waiting.FIRST_PAUSE, 0.1 * ready) + 1e-9


def test_a_long_wait_looks_once_in_a_second():
    clock = Clock(ready=1000)
    assert clock.wait(300) == (False, False)
    assert clock.now == 300
    assert len(clock.looks) < 350

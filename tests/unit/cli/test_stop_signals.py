# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic-engine`` stops after a signal, whenever it arrives.

Python runs a signal handler between two instructions of the main thread. If
this thread has a lock then that the handler needs, neither continues.
"""

import os
import select
import signal
import sys
import threading

import pytest

from nova_holistic.cli import engine
from tools.forked_process import run_and_exit

STEPS = range(0, 40, 3)
"""Steps of the main thread after the start of the service. In the last ones,
the thread already waits."""
LATER_SECONDS = 0.2
"""Time after which the signal arrives in a thread that already waits."""
LONGEST_WAIT = 30


class Service:
    """A service that receives a signal after a number of steps of the main
    thread after its start."""

    def __init__(self, steps):
        self.steps = steps
        self.immediately = 0

    def start(self):
        later = threading.Timer(
            LATER_SECONDS, os.kill, (os.getpid(), signal.SIGTERM))
        later.daemon = True
        later.start()
        sys.settrace(self._trace)
        sys._getframe(1).f_trace = self._trace

    def _trace(self, frame, event, _):
        frame.f_trace_opcodes = True
        if event == 'opcode':
            self.steps -= 1
        if not self.steps:
            sys.settrace(None)
            signal.raise_signal(signal.SIGTERM)
        return self._trace

    def stop_immediately(self):
        self.immediately += 1

    def stop(self):
        sys.settrace(None)
        return True


@pytest.mark.parametrize('steps', STEPS)
def test_a_signal_at_any_step_stops_the_engine(steps):
    child = os.fork()
    if not child:
        run_and_exit(lambda: not engine._serve(Service(steps)))
    ended = os.pidfd_open(child)
    try:
        in_time = select.select([ended], [], [], LONGEST_WAIT)[0]
        if not in_time:
            os.kill(child, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        os.close(ended)

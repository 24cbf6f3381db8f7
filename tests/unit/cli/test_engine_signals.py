# SPDX-License-Identifier: Apache-2.0
"""A signal stops the engine at any time."""

import subprocess
import sys

import pytest

PROGRAM = '''
import signal
import threading
import time

from nova_holistic.cli import engine


class Service:
    """An engine whose other thread receives the signal, as if it arrived
    immediately before the main thread waits: the wait is not interrupted."""

    def start(self):
        threading.Thread(target=self._send).start()

    def stop(self):
        print('stopped')
        return True

    def _send(self):
        time.sleep(0.5)
        signal.pthread_kill(threading.get_ident(), signal.%s)


engine._serve(Service())
'''


@pytest.mark.parametrize('name', ['SIGTERM', 'SIGINT'])
def test_a_signal_that_does_not_interrupt_the_wait_stops_the_engine(name):
    done = subprocess.run([sys.executable, '-c', PROGRAM % name], timeout=120,
                          capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, 'stopped\n'), done.stderr

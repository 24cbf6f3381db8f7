# SPDX-License-Identifier: Apache-2.0
"""An interrupt ends a command, even while the solver runs outside Python."""

import signal
import subprocess
import sys

from nova_holistic.cli import interrupt
import pytest

# Hashing replaces a solver: it takes minutes in one call that handles no
# signal. The call has begun when the main thread has used processor time,
# because the thread has no other work.
BUSY = '''
import hashlib
import threading
import time
from nova_holistic.cli import interrupt

used = time.pthread_getcpuclockid(threading.main_thread().ident)

def tell(before):
    while time.clock_gettime(used) < before + 0.2:
        time.sleep(0.05)
    print('busy', flush=True)

with interrupt.handle_promptly(lambda: print('tidy', flush=True)):
    threading.Thread(target=tell, args=[time.clock_gettime(used)]).start()
    hashlib.pbkdf2_hmac('sha256', b'', b'', 2**31 - 1)
'''


def test_an_interrupt_ends_a_solver_that_ignores_signals():
    process = subprocess.Popen([sys.executable, '-c', BUSY],
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == 'busy\n'
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=300)
    assert (process.returncode, out) == (130, 'tidy\n')


def test_an_interrupt_in_python_raises_keyboard_interrupt():
    tidied = []
    with pytest.raises(KeyboardInterrupt):
        with interrupt.handle_promptly(lambda: tidied.append(True)):
            signal.raise_signal(signal.SIGINT)
    assert tidied == []


def test_the_previous_wakeup_descriptor_is_restored():
    before = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(before)
    with interrupt.handle_promptly(lambda: None):
        pass
    assert signal.set_wakeup_fd(before) == before

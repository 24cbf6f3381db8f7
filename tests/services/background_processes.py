# SPDX-License-Identifier: Apache-2.0
"""Background processes of the tests, on loopback only."""

import contextlib
import os
import signal
import socket
import subprocess
import time

WAIT_SECONDS = 300
"""Timeout of a wait in seconds. A busy machine needs far less."""


class WaitTimeout(Exception):
    """A condition did not become true in time."""


def wait_for(description, condition, wait_seconds=WAIT_SECONDS):
    """Return the first true value of the condition.

    :raises WaitTimeout: the condition was false until the timeout
    """
    until = time.monotonic() + wait_seconds
    while time.monotonic() < until:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise WaitTimeout(f'{description} in {wait_seconds} s')


def answers(port):
    """Whether a server accepts connections on the port."""
    with socket.socket() as end:
        return end.connect_ex(('127.0.0.1', port)) == 0


class Process:
    """A command and its children, which end with the context manager.

    :ivar log: file with the output of the command
    """

    def __init__(self, arguments, log, **options):
        self.log = log
        with open(log, 'ab') as output:
            self._process = subprocess.Popen(
                [str(a) for a in arguments], stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True, **options)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.kill()

    @property
    def pid(self):
        return self._process.pid

    def wait_until(self, description, condition, wait_seconds=WAIT_SECONDS):
        """Wait for a condition; returns its first true value.

        :raises WaitTimeout: the condition did not become true in time, or the
            process has ended; in this case the message contains the end of its
            log
        """
        def condition_or_end():
            if self._process.poll() is not None:
                raise WaitTimeout(f'{description}: {self.said()[-2000:]}')
            return condition()

        return wait_for(description, condition_or_end, wait_seconds)

    def said(self):
        with open(self.log, errors='replace') as log:
            return log.read()

    def send(self, number):
        os.kill(self._process.pid, number)

    def wait(self, wait_seconds=WAIT_SECONDS):
        """The exit code."""
        return self._process.wait(wait_seconds)

    def kill(self):
        """Kill the process and all its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(WAIT_SECONDS)

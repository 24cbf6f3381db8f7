# SPDX-License-Identifier: Apache-2.0
"""What processes occupy and use: memory, threads, open files and processor
time, read from ``/proc``."""

import pathlib
import threading
import time

from benchmarks import processor

KINDS = ('memory', 'threads', 'files', 'cpu')
"""``memory`` is the resident set in MiB. ``files`` are all open descriptors:
files, pipes and connections. ``cpu`` are the processor seconds so far."""


def sample(leader):
    """The sum of each kind over the processes in the group of a leader."""
    pids = processor.members([leader])[leader]
    return {'memory': processor.resident_of(pids),
            'threads': sum(_entries(pid, 'task') for pid in pids),
            'files': sum(_entries(pid, 'fd') for pid in pids),
            'cpu': processor.seconds_of(pids)}


class Sampler:
    """A thread that samples processes at equal intervals.

    :ivar points: ``{name: {kind: [(seconds since the start, value), ...]}}``
    """

    def __init__(self, leaders, interval):
        """
        :param leaders: ``{name: process that leads a group}``
        :param interval: seconds between two samples
        """
        self._leaders, self._interval = leaders, interval
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.points = {name: {kind: [] for kind in KINDS} for name in leaders}

    def __enter__(self):
        self._begin = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def _run(self):
        while True:
            second = time.monotonic() - self._begin
            for name, leader in self._leaders.items():
                for kind, value in sample(leader).items():
                    self.points[name][kind].append((second, value))
            if self._ended.wait(self._interval):
                return


def _entries(pid, folder):
    """Number of entries of a folder of a process; 0 if it has ended."""
    try:
        return sum(1 for _ in pathlib.Path(f'/proc/{pid}/{folder}').iterdir())
    except OSError:
        return 0

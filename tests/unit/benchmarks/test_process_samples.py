# SPDX-License-Identifier: Apache-2.0
"""A sample counts the memory, threads and open files of a process group."""

import os
import subprocess
import sys

from benchmarks import process_samples

THREE_THREADS_AND_FOUR_FILES = """
import os, sys, threading
ended = threading.Event()
for _ in range(2):
    threading.Thread(target=ended.wait, daemon=True).start()
os.open(os.devnull, os.O_RDONLY)
print(flush=True)
sys.stdin.read()
"""


def test_a_sample_has_memory_threads_and_open_files():
    with subprocess.Popen(
            [sys.executable, '-c', THREE_THREADS_AND_FOUR_FILES],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, start_new_session=True) as process:
        process.stdout.readline()
        found = process_samples.sample(process.pid)
        process.stdin.close()
    assert (found['threads'], found['files']) == (3, 4)
    assert 1 < found['memory'] < 1000
    assert found['cpu'] >= 0


def test_a_group_that_has_ended_has_nothing():
    process = subprocess.Popen([sys.executable, '-c', ''],
                               start_new_session=True)
    process.wait()
    assert process_samples.sample(process.pid) == {
        'memory': 0, 'threads': 0, 'files': 0, 'cpu': 0}


def test_a_sampler_samples_each_process():
    leader = os.getpgid(0)
    with process_samples.Sampler({'own': leader}, 60) as sampler:
        pass
    assert {kind: len(points) for kind, points in sampler.points[
        'own'].items()} == dict.fromkeys(process_samples.KINDS, 1)

# SPDX-License-Identifier: Apache-2.0
"""Creates and releases of groups at a constant rate, for an hour.

One life of a group: a client creates it and waits until it is planned, a
server of one member is scheduled by nova-holistic-scheduler and becomes
active, the group is released, the server is deleted, and the group is deleted.
So many lives begin in each second, whether or not earlier ones have ended; at
most ``--clients`` of them are under way at once, and those that find no client
are counted as missed.

Printed are the latencies at the beginning and at the end, the memory of
engine, API and scheduler over time, and what is left in Placement and in the
placement table at the end, compared with the groups that still exist.
"""

import os

# Before any of Nova is imported: threads, as in the processes of the cloud.
os.environ['OS_NOVA_DISABLE_EVENTLET_PATCHING'] = '1'

import argparse  # noqa: E402
from concurrent import futures  # noqa: E402
import json  # noqa: E402
import pathlib  # noqa: E402
import sys  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks import (  # noqa: E402
    group_life, leaks, measured_cloud, report, steps)
from tools.cloud.waiting import wait_for  # noqa: E402

PROCESSES = (measured_cloud.ENGINE, 'holistic', 'nova-holistic-scheduler')
"""Processes whose memory is recorded."""
SAMPLES = 60
"""How often it is recorded, at equal intervals."""


def parse(words=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=float, default=3600)
    parser.add_argument('--hosts', type=int, default=1000)
    parser.add_argument('--servers', type=int, default=4,
                        help='of strangers on each host')
    parser.add_argument('--rate', type=float, default=5.0,
                        help='creates, and releases, in a second')
    parser.add_argument('--members', type=int, default=3)
    parser.add_argument('--clients', type=int, default=64)
    parser.add_argument('--kept', type=int, default=10,
                        help='groups that still exist at the end')
    parser.add_argument('--json', type=pathlib.Path,
                        help='file to which all figures are written')
    return parser.parse_args(words)


class Soak:
    """
    :ivar records: (moment, operation, seconds) of all that succeeded
    :ivar failures: texts
    :ivar missed: lives that no client was free for
    """

    def __init__(self, cloud, arguments):
        self._cloud = cloud
        self._arguments = arguments
        self._lock = threading.Lock()
        self.records, self.failures, self.missed = [], [], 0
        self.memory = {name: [] for name in PROCESSES}
        self._life = group_life.GroupLife(
            cloud.layout, arguments.members, self._record)

    def run(self):
        """Lives begin until the time is over, and then all end."""
        arguments, pending = self._arguments, set()
        begin = due = time.monotonic()
        threading.Thread(
            target=self._watch, args=(begin,), daemon=True).start()
        with futures.ThreadPoolExecutor(arguments.clients) as pool:
            while due < begin + arguments.seconds:
                time.sleep(max(0.0, due - time.monotonic()))
                pending = {each for each in pending if not each.done()}
                if len(pending) < arguments.clients:
                    pending.add(pool.submit(self._live))
                else:
                    self.missed += 1
                due += 1 / arguments.rate
        for _ in range(arguments.kept):
            self._life.create()
        return begin

    def warm_up(self):
        """The first life fills the caches of all services."""
        self._life.live()
        self.records.clear()

    def _live(self):
        try:
            self._life.live()
        except Exception as error:
            with self._lock:
                self.failures.append(f'{type(error).__name__}: {error}')

    def _record(self, operation, seconds):
        with self._lock:
            self.records.append((time.monotonic(), operation, seconds))

    def _watch(self, begin):
        every = self._arguments.seconds / SAMPLES
        for number in range(SAMPLES + 1):
            time.sleep(max(0.0, begin + number * every - time.monotonic()))
            for name in PROCESSES:
                self.memory[name].append(
                    (number * every, self._cloud.resident(name)))


def latencies(records, begin, seconds):
    """p50, p95 and p99 of each operation, in the first and the last tenth of
    the operations of its kind."""
    found = {}
    for operation in sorted({name for _, name, _ in records}):
        own = [taken for moment, name, taken in sorted(records)
               if name == operation]
        part = max(1, len(own) // 10)
        found[operation] = {
            'number': len(own), 'rate': len(own) / seconds,
            **{title: {f'p{share}': steps.percentile(values, share / 100)
                       for share in (50, 95, 99)}
               for title, values in (('beginning', own[:part]),
                                     ('end', own[-part:]))}}
    return found


def main():
    arguments = parse()
    found = {'machine': measured_cloud.machine()}
    report.print_machine(found['machine'])
    with measured_cloud.filled_cloud(
            arguments.hosts, arguments.servers) as cloud:
        cloud.start_engine(traced=False)
        cloud.services['nova'].start_command('nova-holistic-scheduler')
        before = leaks.consumers(cloud.layout)
        wait_for('the scheduler', lambda: cloud.compute().get(
            '/os-services?binary=nova-scheduler').json()['services'])
        soak = Soak(cloud, arguments)
        soak.warm_up()
        begin = soak.run()
        seconds = time.monotonic() - begin
        found.update(
            seconds=seconds, missed=soak.missed, failures=soak.failures,
            latencies=latencies(soak.records, begin, seconds),
            memory=soak.memory, left=leaks.settled(
                cloud.layout, before, arguments.kept,
                arguments.kept * arguments.members))
    report.print_soak(found)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1))
    return 1 if found['left']['leaks'] else 0


if __name__ == '__main__':
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Creates and releases of groups at a constant rate, for an hour.

The life cycle of one group: a client creates it and waits until it is planned,
nova-holistic-scheduler schedules a server of one member, the server becomes
active, the group is released, the server is deleted, and the group is deleted.
A life cycle begins at each interval, even if earlier ones have not ended. At
most ``--clients`` of them run at the same time; a life cycle without a free
client is counted as missed.

With ``--no-servers``, no server becomes active: the allocation of the
scheduled server is deleted, as Nova's conductor does if the build fails. This
covers the creation of groups, their holds, the scheduler's lookups and claims,
releases and deletions. It does not cover Nova's records and notifications of
servers, and the reads of servers by the engine. A life cycle then needs less
processor time, so that a small machine reaches a higher rate.

The program prints the latencies at the beginning and at the end, the memory,
threads and open files of engine, API and scheduler, the processor time of all
services for each life cycle, and the numbers of rows and consumers before the
first group and after the last one. The exit code is 1 if memory, threads,
files or one of these numbers has grown, or if a life cycle has failed. It is
not a failure if the cloud is too slow for the rate: the program prints the
rate that was reached.
"""

import os

# Before any of Nova is imported: threads, as in the processes of the cloud.
os.environ['OS_NOVA_DISABLE_EVENTLET_PATCHING'] = '1'

import argparse  # noqa: E402
import collections  # noqa: E402
from concurrent import futures  # noqa: E402
import json  # noqa: E402
import pathlib  # noqa: E402
import sys  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks import (  # noqa: E402
    group_life, growth, latencies, leaks, measured_cloud, process_samples,
    processor, report, soak_faults, soak_report, steps)
from tools.cloud.waiting import wait_for  # noqa: E402

PROCESSES = (measured_cloud.ENGINE, 'holistic', 'nova-holistic-scheduler')
"""Processes that must not grow: the engine, our API and the scheduler."""
SAMPLES = 240
"""Number of samples of each process."""
WARM_UP_LIVES = 64
"""Lives before the measurement. The threads of a server or listener of
oslo.messaging are bounded at 64, and each message adds one until then; a life
sends two notifications and more requests."""
WARM_UP_CLIENTS = 8
PROGRESS = 60
"""Seconds between two lines about the progress."""


def parse(words=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=float, default=3600)
    parser.add_argument('--hosts', type=int, default=1000)
    parser.add_argument('--servers', type=int, default=4,
                        help='other servers on each host')
    parser.add_argument('--rate', type=float, default=5.0,
                        help='creates, and releases, in a second')
    parser.add_argument('--members', type=int, default=3)
    parser.add_argument('--no-servers', dest='become_active',
                        action='store_false',
                        help='only schedule servers, without records in Nova')
    parser.add_argument('--clients', type=int, default=64)
    parser.add_argument('--json', type=pathlib.Path,
                        help='file to which all figures are written')
    return parser.parse_args(words)


class Soak:
    """
    :ivar records: (moment, operation, seconds) of all that succeeded
    :ivar failures: numbers by text
    :ivar missed: lives for which no client was free
    :ivar ends: moments at which lives succeeded
    """

    def __init__(self, cloud, arguments):
        self._arguments = arguments
        self._lock = threading.Lock()
        self.records, self.failures = [], collections.Counter()
        self.missed, self.ends = 0, []
        self._life = group_life.GroupLife(
            cloud.layout, arguments.members, arguments.clients, self._record,
            arguments.become_active)

    def run(self):
        """Begin lives until the time is over, and wait until all have ended.

        :returns: seconds that this took
        """
        arguments, pending = self._arguments, set()
        begin = due = reported_at = time.monotonic()
        with futures.ThreadPoolExecutor(arguments.clients) as pool:
            while due < begin + arguments.seconds:
                time.sleep(max(0.0, due - time.monotonic()))
                pending = {each for each in pending if not each.done()}
                if len(pending) < arguments.clients:
                    pending.add(pool.submit(self._live))
                else:
                    self.missed += 1
                due += 1 / arguments.rate
                if due - reported_at >= PROGRESS:
                    reported_at = due
                    self._tell(due - begin, len(pending))
        return time.monotonic() - begin

    def warm_up(self):
        """Fill caches, connection pools and thread pools.

        :raises RuntimeError: a life failed
        """
        self._life.live()
        with futures.ThreadPoolExecutor(min(
                WARM_UP_CLIENTS, self._arguments.clients)) as pool:
            for life in [pool.submit(self._life.live)
                         for _ in range(WARM_UP_LIVES)]:
                life.result()
        self.records.clear()

    def _live(self):
        try:
            self._life.live()
            with self._lock:
                self.ends.append(time.monotonic())
        except Exception as error:
            with self._lock:
                self.failures[f'{type(error).__name__}: {error}'[:200]] += 1

    def _record(self, operation, seconds):
        with self._lock:
            self.records.append((time.monotonic(), operation, seconds))

    def _tell(self, seconds, running):
        with self._lock:
            last = [record[2] for record in self.records
                    if record[1] == 'create'][-100:]
        if last:
            print(f'{seconds:.0f} s: {len(self.ends)} lives ended, '
                  f'{running} run, {self.missed} missed, '
                  f'{self.failures.total()} failed; the last creates took '
                  f'{steps.percentile(last, .5):.2f} s '
                  '(median)', file=sys.stderr, flush=True)


def soaked(cloud, arguments):
    """All figures of one run on a filled cloud."""
    # nova-api asks it when the reconciler reads a server.
    cloud.start('network')
    cloud.start_engine(traced=False)
    cloud.services['nova'].start_command('nova-holistic-scheduler')
    wait_for('the scheduler', lambda: cloud.compute().get(
        '/os-services?binary=nova-scheduler').json()['services'])
    before = leaks.counts(cloud.layout)
    soak = Soak(cloud, arguments)
    soak.warm_up()
    leaders = {name: cloud.processes.leader(name) for name in PROCESSES}
    idle = {name: process_samples.sample(leader)
            for name, leader in leaders.items()}
    used = processor_seconds(cloud)
    begin = time.monotonic()
    with process_samples.Sampler(
            leaders, arguments.seconds / SAMPLES) as sampler:
        seconds = soak.run()
    used = {name: after - used[name]
            for name, after in processor_seconds(cloud).items()}
    after = leaks.settled(cloud.layout, before)
    return {
        'seconds': seconds, 'rate': arguments.rate,
        'ends': [moment - begin for moment in soak.ends],
        'missed': soak.missed, 'failures': dict(soak.failures), 'cpu': used,
        'latencies': latencies.table(soak.records),
        'points': sampler.points, 'idle': idle, 'before': before,
        'after': after, 'load_average': os.getloadavg(),
        'idle_at_end': {name: process_samples.sample(leader)
                        for name, leader in leaders.items()}}


def processor_seconds(cloud):
    """CPU seconds, so far, of each service and of the clients."""
    return {'clients': time.process_time(), **{
        name: processor.seconds(cloud.processes.leader(name))
        for name in cloud.processes.names()}}


def main():
    arguments = parse()
    machine = measured_cloud.machine()
    report.print_machine(machine)
    with measured_cloud.filled_cloud(
            arguments.hosts, arguments.servers) as cloud:
        results = {'machine': machine, **soaked(cloud, arguments)}
        results['growth'] = {
            name: {kind: growth.growth(kinds[kind])
                   for kind in growth.TOLERANCE}
            for name, kinds in results['points'].items()}
        results['cost'] = {name: growth.cost(kinds['cpu'], results['ends'])
                           for name, kinds in results['points'].items()}
        results['faults'] = soak_faults.faults(results)
        if arguments.json:
            arguments.json.write_text(json.dumps(results, indent=1))
        soak_report.print_soak(results)
    return 1 if results['faults'] else 0


if __name__ == '__main__':
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""The steps from a create to a planned and held group.

Real providers in a real Placement and Nova on MariaDB, with our API and one
engine as separate processes (``benchmarks.measured_cloud``). For each
number of hosts and members, a new engine creates a group (*cold*). An engine
that has created groups before creates another one (*warm*), also while servers
outside of groups are created and deleted (*others*). A cold create
begins when the engine is started, a warm one when the client sends it. Both
end when the client knows that the group is planned.

In addition to the wall clock, the program measures the processor time of the
engine, of Placement, of nova-api and of the database in each step, and the
number of the engine's requests. ``--stock`` measures stock Nova on the same
cloud in the same run.
"""

import argparse
import contextlib
import functools
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks import measured_cloud, report, steps  # noqa: E402
from nova_holistic.client import errors  # noqa: E402

TIMEOUT = 3600
"""Seconds after which a create has failed."""
FULL = ['--hosts', '1000', '5000', '10000', '--members', '10', '100', '1000',
        '--repeat', '5', '--stock', '50']


def parse(words=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hosts', type=int, nargs='+', default=[200])
    parser.add_argument('--members', type=int, nargs='+', default=[10, 100])
    parser.add_argument('--servers', type=int, default=4,
                        help='other servers on each host, before the start')
    parser.add_argument('--repeat', type=int, default=3,
                        help='warm creates, with other servers and without')
    parser.add_argument('--cold', type=int, default=1,
                        help='cold creates; 0 leaves them out, and starts the '
                             'engine only once')
    parser.add_argument('--rate', type=float, default=10.0,
                        help='other servers created and deleted per second; '
                             '0 disables them')
    parser.add_argument('--pause', type=float, default=0.0,
                        help='seconds before each warm create; a minute of '
                             'creates includes all periodic work of an engine')
    parser.add_argument('--idle', type=float, default=0.0,
                        help='seconds without a create, whose processor time '
                             'is subtracted from that of creates')
    parser.add_argument('--stock', type=int, default=0,
                        help='servers that stock Nova schedules one by one; '
                             '0 leaves stock Nova out')
    parser.add_argument('--drivers', nargs='+', default=['placement'],
                        choices=['placement', 'placement-db'],
                        help='inventory drivers of the engine')
    parser.add_argument('--folder', type=pathlib.Path,
                        help='keeps the databases of each number of hosts, '
                             'for the next run; the path has to be short')
    parser.add_argument('--json', type=pathlib.Path,
                        help='file to which all figures are written')
    parser.add_argument('--full', action='store_true',
                        help='all sizes: ' + ' '.join(FULL))
    arguments = parser.parse_args(words)
    if arguments.full:
        return parser.parse_args(FULL + [
            word for word in (sys.argv[1:] if words is None else words)
            if word != '--full'])
    return arguments


def document(members):
    """A group of which no rack has more than half."""
    return {'name': f'group-{members}', 'policies': [
        {'type': 'anti-affinity', 'level': 'rack',
         'max_per_domain': -(-members // 2)}],
        'members': [{'name': 'node', 'flavor': 'small', 'count': members}]}


class Bench:
    def __init__(self, cloud, driver):
        self._cloud = cloud
        self._driver = driver
        self._client = cloud.client()
        # The time of a create does not include the token.
        next(self._client.groups.list(), None)

    def cold(self, members):
        """The cost of a create by an engine that is started for it."""
        self._cloud.stop_engine()
        return self._measured(members, self.start_engine)

    def start_engine(self):
        return self._cloud.start_engine(driver=self._driver)

    def warm(self, members, pause=0.0):
        """:param pause: seconds before the create"""
        time.sleep(pause)
        return self._measured(members, None)

    def idle(self, seconds):
        """Processor seconds by process for each second without a create."""
        with self._cloud.sampled() as samples:
            begin = time.monotonic()
            time.sleep(seconds)
            used = samples.between(begin, time.monotonic())
        return {name: value / seconds for name, value in used.items()}

    def _measured(self, members, start):
        with self._cloud.sampled() as samples:
            requested = time.monotonic()
            if start is None:
                group = self._create(members, 300)
            else:
                group = self._create(members, 0)
                requested = start()
            if group['task'] is not None:
                group = self._client.groups.wait(group['id'], TIMEOUT)
            answered = time.monotonic()
            self._await_alternates(requested)
        if group['status'] != 'planned':
            raise RuntimeError(f'not planned: {group["reasons"]}')
        spans = self._cloud.spans(requested)
        intervals = steps.of_create(spans, requested, answered)
        cost = steps.summary(intervals, samples, spans)
        self._remove(group['id'])
        held = answered - requested - cost['answer']['wall']
        return {'held': held, 'total': answered - requested, 'steps': cost}

    def _create(self, members, wait):
        """The group when it is planned, or at the time limit."""
        return self._client.groups._request(
            'POST', '/groups', query={'wait': wait}, body={
                'group': document(members), 'lease': 0})['group']

    def _remove(self, uuid):
        """Delete the group. Retry while the engine continues a release that
        exceeded the timeout of the API."""
        until = time.monotonic() + TIMEOUT
        while True:
            try:
                self._client.groups.release(uuid)
                return self._client.groups.delete(uuid)
            except errors.Refused:
                if time.monotonic() > until:
                    raise
                time.sleep(2)

    def _await_alternates(self, since):
        """An engine may choose alternates after the answer."""
        until = time.monotonic() + 60
        while time.monotonic() < until and not any(
                span['name'] == 'nova_holistic_alternates_seconds'
                for span in self._cloud.spans(since)):
            time.sleep(0.2)


@contextlib.contextmanager
def other_servers(cloud, rate):
    """Create and delete servers outside of groups until the end of the block.
    The yielded dict contains their numbers after the block."""
    process = subprocess.Popen(
        cloud.command('benchmarks.ungrouped_servers', rate),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=cloud.environment())
    totals = {}
    try:
        if not process.stdout.readline():
            raise RuntimeError('the creation of other servers did not start')
        yield totals
    finally:
        output, _ = process.communicate('\n', timeout=120)
    totals.update(json.loads(output))


def measure(cloud, hosts, driver, arguments):
    """One row for each number of members and state of the engine."""
    bench, rows = Bench(cloud, driver), []

    def row(members, state, create, repeat, **more):
        costs = [create(members) for _ in range(repeat)]
        rows.append({'hosts': hosts, 'driver': driver, 'members': members,
                     'state': state, 'runs': costs,
                     'load_average': os.getloadavg(), **more})
        report.print_row(rows[-1])
        return rows[-1]

    cloud.stop_engine()
    if not arguments.cold:
        bench.start_engine()
    idle = {}
    for members in arguments.members:
        if arguments.cold:
            row(members, 'cold', bench.cold, arguments.cold)
        if arguments.idle and not idle:
            bench.warm(members)
            idle.update(bench.idle(arguments.idle))
        # The first warm create fills the remaining caches.
        bench.warm(members)
        row(members, 'warm', functools.partial(
            bench.warm, pause=arguments.pause), arguments.repeat, idle=idle)
        if arguments.rate:
            with other_servers(cloud, arguments.rate) as numbers:
                last = row(members, 'others', bench.warm,
                           arguments.repeat)
            last['other_servers'] = numbers
            report.print_other_servers(numbers)
    cloud.stop_engine()
    return rows


def main():
    arguments = parse()
    results = {'machine': measured_cloud.machine(), 'creates': [], 'stock': []}
    report.print_machine(results['machine'])
    for hosts in arguments.hosts:
        begin = time.monotonic()
        with measured_cloud.filled_cloud(
                hosts, arguments.servers, folder=arguments.folder) as cloud:
            print(f'{hosts} hosts with {arguments.servers} servers each, '
                  f'ready after {time.monotonic() - begin:.0f} s', flush=True)
            for driver in arguments.drivers:
                results['creates'].extend(
                    measure(cloud, hosts, driver, arguments))
            if arguments.stock:
                results['stock'].append({'hosts': hosts, **json.loads(
                    cloud.run_module('benchmarks.stock_nova',
                                     arguments.stock))})
                report.print_stock(results['stock'][-1])
        if arguments.json:
            arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == '__main__':
    main()

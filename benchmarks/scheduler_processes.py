# SPDX-License-Identifier: Apache-2.0
"""One server at a time: nova-holistic-scheduler and stock nova-scheduler as
processes, on the same cloud, in turns.

MariaDB, RabbitMQ, keystone and Placement are processes, and the hosts are rows
as nova-compute with the libvirt driver writes them
(``benchmarks.measured_cloud``). Each request is Nova's own RPC
``select_destinations`` as nova-conductor sends it, for one server and its
alternates. The schedulers answer in turns, so that other programs on the
machine affect both. nova-compute does not run; therefore this program sends
both schedulers the servers of each host, as nova-compute does every two
minutes. Without them, the stock scheduler would read the servers of each
host from the database for each request.

The processor time of a request is that of the scheduler, Placement, MariaDB
and RabbitMQ.
"""

import os

# Before any of Nova is imported: threads, as in the processes of the cloud.
os.environ['OS_NOVA_DISABLE_EVENTLET_PATCHING'] = '1'

import argparse  # noqa: E402
import json  # noqa: E402
import pathlib  # noqa: E402
import statistics  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks import measured_cloud, report  # noqa: E402


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hosts', type=int, nargs='+', default=[1000])
    parser.add_argument('--servers', type=int, default=4,
                        help='other servers on each host')
    parser.add_argument('--rounds', type=int, default=3,
                        help='rounds of both schedulers')
    parser.add_argument('--lookups', type=int, default=40,
                        help='requests with a pointer in each round')
    parser.add_argument('--stock', type=int, default=10,
                        help='requests without a pointer in each round')
    parser.add_argument('--members', type=int, default=0,
                        help='members of the group; by default, one for each '
                             'lookup')
    parser.add_argument('--folder', type=pathlib.Path,
                        help='keeps the databases of each number of hosts')
    return parser.parse_args()


def main():
    arguments = parse()
    report.print_machine(measured_cloud.machine())
    for hosts in arguments.hosts:
        with measured_cloud.filled_cloud(
                hosts, arguments.servers, folder=arguments.folder) as cloud:
            cloud.start_engine(traced=False)
            process = subprocess.run(cloud.command(
                'benchmarks.scheduler_requests', arguments.rounds,
                arguments.lookups, arguments.stock, arguments.members),
                check=True, stdout=subprocess.PIPE, text=True,
                env=cloud.environment())
            cloud.stop_engine()
            _print(hosts, json.loads(process.stdout.splitlines()[-1]))


def _print(hosts, turns):
    """A row for each scheduler, and the ratios of both rows."""
    medians, sums = {}, {}
    for kind, rounds in turns.items():
        times = [1000 * each for turn in rounds for each in turn['seconds']]
        used = {name: 1000 * sum(turn['cpu'][name] for turn in rounds)
                / len(times) for name in rounds[0]['cpu']}
        medians[kind] = statistics.median(times)
        sums[kind] = sum(used.values())
        of_rounds = ', '.join(
            f'{1000 * statistics.median(turn["seconds"]):.1f}'
            for turn in rounds)
        print(f'{hosts} hosts, {kind}: {len(times)} requests, median '
              f'{medians[kind]:.1f} ms ({min(times):.1f} to {max(times):.1f};'
              f' of the rounds {of_rounds}); processor time '
              f'{sums[kind]:.1f} ms: '
              + ', '.join(f'{name} {ms:.1f}' for name, ms in used.items()),
              flush=True)
    print(f'{hosts} hosts: stock takes '
          f'{medians["stock"] / medians["looked up"]:.1f} times as long, and '
          f'{sums["stock"] / sums["looked up"]:.1f} times the processor time',
          flush=True)


if __name__ == '__main__':
    main()

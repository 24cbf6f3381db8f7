# SPDX-License-Identifier: Apache-2.0
"""The cost of the periodic work of an engine and of a scheduler, by the
options and constants that limit its interval or its amount.

The cloud is that of ``numbered_world``. The lines are: one second of the
comparison of the snapshot, by ``[inventory] compare_interval``; readings
of services and aggregates, which happen every ``[inventory] nova_interval``
seconds, by the seconds since hypervisors were verified; the reading of
providers, by ``[inventory] threads`` and by the latency of the network; passes
of the reconciler, by ``[reconciler] recheck_requests``; and the request of a
scheduler for the hosts with a trait, which ``[holistic] traits_lifetime``
avoids.
"""

import argparse
import itertools
import pathlib
import sys
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks import numbered_cloud as numbered  # noqa: E402
from benchmarks import numbered_rows  # noqa: E402
from benchmarks.numbered_world import (  # noqa: E402
    add_arguments, print_cost, worlds)
from benchmarks.reconcile import start  # noqa: E402
from nova_holistic.inventory.nova import compute_reader  # noqa: E402
from nova_holistic.scheduler.hosts import trait_owners  # noqa: E402


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument('--compare-interval', type=float, nargs='*',
                        default=[60, 600, 3600])
    parser.add_argument('--since', type=float, nargs='*',
                        default=[0, 10, 60, 600])
    parser.add_argument('--most', type=int, nargs='*', default=[100, 10**6],
                        help='hypervisors that one reading verifies')
    parser.add_argument('--readers', type=int, nargs='*',
                        default=[1, 2, 4, 8, 16, 32])
    parser.add_argument('--providers', type=int, default=200)
    parser.add_argument('--latency', type=float, nargs='*',
                        default=[0, 0.02],
                        help='delay of each request in seconds')
    parser.add_argument('--recheck', type=int, nargs='*',
                        default=[0, 20, 100])
    return parser.parse_args()


def compare(world, intervals):
    world.inventory.snapshot()
    world.inventory.compare()
    for interval in intervals:
        with mock.patch.object(world.inventory, '_interval', interval):
            print_cost(f'piece of a comparison in {interval:g} s', world,
                       world.inventory.compare)


def read_nova(world, arguments):
    # The fields are private, and have no option.
    reader = world.inventory._reader._computes
    for since, most in itertools.product(arguments.since, arguments.most):
        reader._verified_at = reader._timer() - since
        with mock.patch.object(compute_reader, 'MOST_VERIFIED', most):
            print_cost(f'services, {since:g} s, at most {most}', world,
                       world.inventory.read_nova)


def read_providers(world, arguments):
    number = min(arguments.providers, world.sizes.hosts)
    uuids = [numbered.provider_uuid(host) for host in range(number)]
    reader = world.inventory._reader._providers
    for latency, threads in itertools.product(
            arguments.latency, arguments.readers):
        with (mock.patch.object(reader, '_threads', threads),
              mock.patch.object(world.to_placement, 'latency', latency)):
            print_cost(
                f'{number} providers, {1000 * latency:g} ms, {threads} thr.',
                world, lambda: reader.reread(uuids))


def recheck(world, numbers):
    for number in numbers:
        world.conf.set_override('recheck_requests', number,
                                group='reconciler')
        for _ in range(2):
            print_cost(f'pass, recheck_requests = {number}', world,
                       world.reconciler.reconcile)


def main():
    arguments = parse()
    for world in worlds(arguments):
        start(world, arguments.shortcut)
        compare(world, arguments.compare_interval)
        read_nova(world, arguments)
        read_providers(world, arguments)
        recheck(world, arguments.recheck)
        for _ in range(3):
            print_cost('hosts with a trait', world, lambda: (
                trait_owners.providers_with_trait(
                    world.to_placement, numbered_rows.TRAIT)))


if __name__ == '__main__':
    main()

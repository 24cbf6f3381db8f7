# SPDX-License-Identifier: Apache-2.0
"""The cost of a pass of the reconciler in a cloud with many groups, and the
cost of an engine that has just started.

The cloud is that of ``numbered_world``. The lines are: the first read of all
members; the first snapshot; two passes whose limits are high enough to check
everything; passes without a change; passes after the given number of members
got their servers, or after the given number of other servers have appeared;
and the pass after an hour, which reads all servers from Nova. *Rows* are those
that the database read in the placement table, *MiB* is the memory of this
process afterwards.
"""

import argparse
import contextlib
import cProfile
from datetime import timedelta
import pathlib
import pstats
import sys
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.numbered_world import (  # noqa: E402
    add_arguments, print_cost, worlds)
from nova_holistic.reconcile import (  # noqa: E402
    degraded_groups, resized_servers)

UNLIMITED = 10**9


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument('--only-start', action='store_true',
                        help='measure only the first two lines, without any '
                             'pass')
    parser.add_argument('--changes', type=int, nargs='*',
                        default=[10, 100, 1000])
    parser.add_argument('--repeat', type=int, default=3,
                        help='passes before which nothing has changed')
    parser.add_argument('--profile', action='store_true',
                        help='print the profile of one pass before which '
                             'nothing has changed')
    return parser.parse_args()


def start(world, shortcut, only_first):
    """Read everything, and look at everything, for the first time.

    :param only_first: do not look at it
    """
    with world.shortcut() if shortcut else contextlib.nullcontext():
        print_cost('first read of all members', world,
                   world.table.outlines.read)
        print_cost('first snapshot', world, world.inventory.snapshot)
        if only_first:
            return
        with _without_limits(world.conf):
            print_cost('first pass', world, world.reconciler.reconcile)
            print_cost('second pass', world, world.reconciler.reconcile)


def passes(arguments, world):
    def one_pass():
        world.inventory.follow()
        return world.reconciler.reconcile()

    def quiet():
        for _ in range(arguments.repeat):
            print_cost('nothing has changed', world, one_pass)

    quiet()
    for number in arguments.changes:
        world.build(number)
        print_cost(f'{number} members got servers', world, one_pass)
    for number in arguments.changes:
        world.add_other_servers(number)
        print_cost(f'{number} other servers', world, one_pass)
    quiet()
    world.later = timedelta(hours=1)
    print_cost('an hour later', world, one_pass)
    quiet()
    if arguments.profile:
        with cProfile.Profile() as profile:
            one_pass()
        pstats.Stats(profile).sort_stats('tottime').print_stats(40)


@contextlib.contextmanager
def _without_limits(conf):
    """One pass looks at as much as many passes do otherwise."""
    conf.set_override('scan_requests', UNLIMITED, group='reconciler')
    with (mock.patch.object(resized_servers, 'MOST_HOSTS', UNLIMITED),
          mock.patch.object(degraded_groups, 'MAX_GROUPS', UNLIMITED)):
        yield
    conf.clear_override('scan_requests', group='reconciler')


def main():
    arguments = parse()
    for world in worlds(arguments):
        start(world, arguments.shortcut, arguments.only_start)
        if not arguments.only_start:
            passes(arguments, world)


if __name__ == '__main__':
    main()

# SPDX-License-Identifier: Apache-2.0
"""Creates a second of one engine and of two, and the memory of one that goes
on planning.

Engines are processes, as they are deployed, with one table and one Placement,
both on SQLite, and a broker where there is to be one. All creates are in the
table before the first engine starts, so that none of them waits for work; the
rate is that between the first tenth of the groups and the last.
"""

import argparse
import contextlib
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from tests.services.background import wait_for  # noqa: E402
from tests.services.engine.world import EngineWorld, pair  # noqa: E402
from tests.services.placement import PlacementServer  # noqa: E402
from tests.services.rabbit import RabbitBroker  # noqa: E402

ROOM = 100_000
"""VCPUs of a host: nothing is ever full."""
PATIENCE = 3600
STEPS = 10


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--engines', type=int, nargs='+', default=[1, 2])
    parser.add_argument('--groups', type=int, default=200)
    parser.add_argument('--members', type=int, default=4)
    parser.add_argument('--plans', type=int, default=1000,
                        help='of one engine, while its memory is looked at')
    parser.add_argument('--workers', type=int, default=2)
    parser.add_argument('--broker', action='store_true',
                        help='RabbitMQ instead of the in-process transport, '
                             'which no message crosses')
    return parser.parse_args()


class Stage:
    """A world of its own for each measurement."""

    def __init__(self, arguments):
        self._arguments = arguments

    @contextlib.contextmanager
    def world(self):
        with contextlib.ExitStack() as stack:
            directory = pathlib.Path(stack.enter_context(
                tempfile.TemporaryDirectory()))
            placement = stack.enter_context(PlacementServer(directory))
            url = 'fake://'
            if self._arguments.broker:
                url = stack.enter_context(RabbitBroker()).url
            world = stack.enter_context(EngineWorld(
                directory, placement, transport_url=url, vcpus=ROOM))
            inventory = directory / 'inventory.yaml'
            inventory.write_text(world.inventory_document())
            yield world, inventory

    def creates(self, engines):
        """Groups a second."""
        count = self._arguments.groups
        with self.world() as (world, inventory):
            groups = [world.ask(pair(count=self._arguments.members))
                      for _ in range(count)]
            for _ in range(engines):
                world.start_process(
                    inventory, workers=self._arguments.workers)

            def left():
                return len(world.table.tasks.waiting(
                    world.table.get_group(groups[0]).created_at, count))

            def done(number):
                return lambda: left() <= count - number
            wait_for('the first groups', done(count // 10), PATIENCE)
            first, started = count - left(), time.monotonic()
            wait_for('the last group', done(count), PATIENCE)
            assert world.statuses(groups) == {'planned'}
            seconds = time.monotonic() - started
        return (count - first) / seconds

    def memory(self):
        """MiB after each tenth of the plans."""
        found = []
        with self.world() as (world, inventory):
            engine = world.start_process(
                inventory, workers=self._arguments.workers)
            for _ in range(STEPS):
                plans = [
                    world.ask_plan(pair(count=self._arguments.members))
                    for _ in range(self._arguments.plans // STEPS)]
                for plan in plans:
                    wait_for('a plan', lambda: (
                        world.table.plans.get(plan).answer),  # noqa: B023
                        PATIENCE)
                found.append(resident(engine.pid))
        return found


def resident(pid):
    """MiB of memory that a process has."""
    with open(f'/proc/{pid}/status') as status:
        kib = next(line.split()[1] for line in status
                   if line.startswith('VmRSS:'))
    return int(kib) / 1024


def main():
    arguments = parse()
    stage = Stage(arguments)
    for engines in arguments.engines:
        rate = stage.creates(engines)
        print(f'{engines} engine(s), {arguments.members} members a group: '
              f'{rate:.1f} creates/s', flush=True)
    if arguments.plans:
        sizes = stage.memory()
        print(f'memory of one engine after each {arguments.plans // STEPS} '
              f'plans: {" ".join(f"{size:.0f}" for size in sizes)} MiB')


if __name__ == '__main__':
    main()

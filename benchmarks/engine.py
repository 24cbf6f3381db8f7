# SPDX-License-Identifier: Apache-2.0
"""Creates per second of one engine and of two, and the memory of one engine
during many plans.

Engines are processes, as they are deployed, with one table and one Placement
on SQLite, where Placement answers one request at a time; or with --mariadb on
MariaDB, Placement in uwsgi with eight threads; and with a broker if --broker
is set. All creates are in the table before the first engine starts, so no
engine waits for work; the rate is that between the first tenth of the groups
and the last. The processor time of each kind of process for one create shows
which of them limits the rate, and the rate with separate processors.
"""

import argparse
import collections
import contextlib
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks import processor  # noqa: E402
from tests.services.background_processes import (  # noqa: E402
    answers, Process, wait_for)
from tests.services.engine.world import EngineWorld, pair  # noqa: E402
from tests.services.mariadb import MariaDB  # noqa: E402
from tests.services.placement import PlacementServer  # noqa: E402
from tests.services.rabbit import RabbitBroker  # noqa: E402
from tools.cloud.processes import scripts  # noqa: E402

ROOM = 100_000
"""VCPUs of a host: nothing is ever full."""
WAIT_SECONDS = 3600
STEPS = 10
THREADS = 8
"""Of Placement, where that is on MariaDB."""
PLACEMENT = '''
[api]
auth_strategy = noauth2
[placement_database]
connection = {url}
sync_on_startup = true
'''


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--engines', type=int, nargs='+', default=[1, 2])
    parser.add_argument('--groups', type=int, default=200)
    parser.add_argument('--members', type=int, default=4)
    parser.add_argument('--plans', type=int, default=1000,
                        help='plans of one engine during the memory test')
    parser.add_argument('--workers', type=int, default=2)
    parser.add_argument('--broker', action='store_true',
                        help='RabbitMQ instead of the in-process transport, '
                             'which no message crosses')
    parser.add_argument('--mariadb', action='store_true',
                        help='start a MariaDB server instead of SQLite')
    return parser.parse_args()


class ThreadedPlacement(PlacementServer):
    """Placement as it is deployed, on a database server."""

    def __init__(self, directory, url):
        super().__init__(directory)
        self._url = url

    def __enter__(self):
        folder = self._directory / 'placement'
        folder.mkdir()
        (folder / 'placement.conf').write_text(
            PLACEMENT.format(url=self._url))
        self._process = Process([
            scripts('uwsgi'), '--master', '--die-on-term', '--need-app',
            '--lazy-apps', '--enable-threads', '--threads', THREADS,
            '--http-socket', f'127.0.0.1:{self._port}', '--listen', 100,
            '--buffer-size', 65535, '--disable-logging',
            '--add-header', 'Connection: close',
            '--module', 'placement.wsgi.api:application',
        ], self._directory / 'placement.log', env={
            **os.environ, 'OS_PLACEMENT_CONFIG_DIR': str(folder)})
        self._process.wait_until('Placement', lambda: answers(self._port))
        return self


class Stage:
    """A separate environment for each measurement."""

    def __init__(self, arguments):
        self._arguments = arguments

    @contextlib.contextmanager
    def world(self):
        with contextlib.ExitStack() as stack:
            directory = pathlib.Path(stack.enter_context(
                tempfile.TemporaryDirectory()))
            table, pids = None, {}
            if self._arguments.mariadb:
                server = stack.enter_context(MariaDB())
                table = server.create('holistic')
                placement = stack.enter_context(ThreadedPlacement(
                    directory, server.create('placement')))
                pids['MariaDB'] = server.pid
            else:
                placement = stack.enter_context(PlacementServer(directory))
            pids['Placement'] = placement.pid
            url = 'fake://'
            if self._arguments.broker:
                url = stack.enter_context(RabbitBroker()).url
            world = stack.enter_context(EngineWorld(
                directory, placement, table, url, ROOM))
            inventory = directory / 'inventory.yaml'
            inventory.write_text(world.inventory_document())
            yield world, inventory, pids

    def creates(self, engines):
        """Groups a second, and CPU milliseconds of each by who takes them.
        """
        count = self._arguments.groups
        with self.world() as (world, inventory, pids):
            groups = [world.ask(pair(count=self._arguments.members))
                      for _ in range(count)]
            processes = [*pids.items(), *(
                ('engines', world.start_process(
                    inventory, workers=self._arguments.workers).pid)
                for _ in range(engines))]

            def left():
                return len(world.table.tasks.waiting(
                    world.table.get_group(groups[0]).created_at, count))

            def done(number):
                return lambda: left() <= count - number
            wait_for('the first groups', done(count // 10), WAIT_SECONDS)
            first, started = count - left(), time.monotonic()
            before = used(processes)
            wait_for('the last group', done(count), WAIT_SECONDS)
            assert world.statuses(groups) == {'planned'}
            seconds = time.monotonic() - started
            cost = used(processes) - before
        return (count - first) / seconds, {
            name: 1000 * cost[name] / (count - first) for name in cost}

    def memory(self):
        """MiB after each tenth of the plans."""
        sizes = []
        with self.world() as (world, inventory, _):
            engine = world.start_process(
                inventory, workers=self._arguments.workers)
            for _ in range(STEPS):
                plans = [
                    world.ask_plan(pair(count=self._arguments.members))
                    for _ in range(self._arguments.plans // STEPS)]
                for plan in plans:
                    wait_for('a plan', lambda: (
                        world.table.plans.get(plan).answer),  # noqa: B023
                        WAIT_SECONDS)
                sizes.append(resident(engine.pid))
        return sizes


def used(processes):
    """CPU seconds by name."""
    seconds = collections.Counter()
    for name, pid in processes:
        seconds[name] += processor.seconds(pid)
    return seconds


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
        rate, cost = stage.creates(engines)
        print(f'{engines} engine(s), {arguments.members} members a group: '
              f'{rate:.1f} creates/s; CPU ms of a create: ' + ', '.join(
                  f'{name} {cost[name]:.0f}' for name in sorted(cost)),
              flush=True)
    if arguments.plans:
        sizes = stage.memory()
        print(f'memory of one engine after each {arguments.plans // STEPS} '
              f'plans: {" ".join(f"{size:.0f}" for size in sizes)} MiB')


if __name__ == '__main__':
    main()

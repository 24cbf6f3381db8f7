# SPDX-License-Identifier: Apache-2.0
"""The cost in Placement of writing the holds of a large group, in one request
and in parts.

A real Placement runs as a WSGI application in separate processes of uwsgi, on
SQLite, MariaDB or PostgreSQL. The database servers write each
transaction to the disk before they confirm it, as in production. Providers are
inserted into the database. Each hold takes three resource classes of one
provider, and consecutive holds are on different providers.

Each line is one group: its holds are written with ``POST /allocations``, all
in one request or in parts, by one or more parallel connections. The processor
time is that of all processes of uwsgi, and of the database server. The memory
is the maximum of all worker processes in twenty samples per second. SQLite has
one writer at a time, so it gets one connection only.

uwsgi and the drivers of the databases must be installed.
"""

import argparse
from concurrent import futures
import contextlib
import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from keystoneauth1 import (  # noqa: E402
    adapter, exceptions, session, token_endpoint)
from placement.db.sqlalchemy import models  # noqa: E402
import sqlalchemy as sa  # noqa: E402

from tests.services.background_processes import Process  # noqa: E402
from tests.services.mariadb import MariaDB  # noqa: E402
from tests.services.postgresql import PostgreSQL  # noqa: E402
from tools.cloud.ports import free_ports  # noqa: E402

TOTALS = {'VCPU': 100_000, 'MEMORY_MB': 100_000_000, 'DISK_GB': 1_000_000}
HOLD = {'VCPU': 2, 'MEMORY_MB': 4096, 'DISK_GB': 20}
CONFIGURATION = """[api]
auth_strategy = noauth2
[placement_database]
connection = {url}
max_pool_size = 64
"""


class DurableMariaDB(MariaDB):
    """It writes each transaction to the disk before it confirms it."""

    def installed(self):
        command, options = super().installed()
        return [*command, '--innodb-flush-log-at-trx-commit=1',
                '--innodb-doublewrite=1'], options


class DurablePostgreSQL(PostgreSQL):
    """It writes each transaction to the disk before it confirms it."""

    def installed(self):
        command, options = super().installed()
        return [*command, '-c', 'fsync=on', '-c', 'synchronous_commit=on',
                '-c', 'full_page_writes=on'], options


SERVERS = {'mariadb': DurableMariaDB, 'postgresql': DurablePostgreSQL}


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--database', nargs='+',
                        choices=['sqlite', *SERVERS],
                        default=['sqlite', *SERVERS])
    parser.add_argument('--hosts', type=int, default=1000)
    parser.add_argument('--holds', type=int, nargs='+',
                        default=[10, 100, 1000])
    parser.add_argument('--parts', type=int, nargs='+',
                        default=[50, 100, 200, 400],
                        help='maximum number of holds in a request, in '
                             'addition to all in one')
    parser.add_argument('--connections', type=int, nargs='+',
                        default=[1, 2, 4])
    parser.add_argument('--workers', type=int, default=4,
                        help='processes of Placement')
    parser.add_argument('--repeat', type=int, default=1)
    return parser.parse_args()


class Placement:
    """Placement in uwsgi.

    :ivar adapter: keystoneauth Adapter with admin rights
    :ivar engine: SQLAlchemy engine of its database
    """

    def __init__(self, directory, url, workers):
        self._directory = directory
        self._url = url
        self._workers = workers
        self._port, = free_ports(1)
        endpoint = f'http://127.0.0.1:{self._port}'
        self.adapter = adapter.Adapter(session.Session(
            auth=token_endpoint.Token(endpoint, 'admin')),
            service_type='placement')

    def __enter__(self):
        configuration = self._directory / 'placement.conf'
        configuration.write_text(CONFIGURATION.format(url=self._url))
        subprocess.run([_script('placement-manage'), '--config-file',
                        configuration, 'db', 'sync'], check=True)
        self._process = Process([
            _script('uwsgi'), '--master', '--die-on-term', '--need-app',
            '--lazy-apps', '--processes', self._workers,
            '--http-socket', f'127.0.0.1:{self._port}',
            '--buffer-size', 65535, '--disable-logging',
            '--add-header', 'Connection: close',
            '--module', 'placement.wsgi.api:application'],
            self._directory / 'placement.log', env={
                **os.environ, 'OS_PLACEMENT_CONFIG_DIR': self._directory})
        self._process.wait_until('Placement', self._ready)
        self.engine = sa.create_engine(self._url)
        return self

    def __exit__(self, *failure):
        self.engine.dispose()
        self._process.kill()

    def _ready(self):
        try:
            return self.adapter.get('/', raise_exc=False).status_code == 200
        except exceptions.ClientException:
            return False

    @property
    def pid(self):
        return self._process.pid

    def workers(self):
        """Process ids of the processes that answer requests."""
        return [int(pid) for pid in pathlib.Path(
            f'/proc/{self.pid}/task/{self.pid}/children'
        ).read_text().split()]

    def insert_hosts(self, number):
        """Insert providers; gives their UUIDs."""
        provider, inventory = models.ResourceProvider, models.Inventory
        uuids = [str(uuid.uuid4()) for _ in range(number)]
        with self.engine.begin() as link:
            link.execute(sa.insert(provider.__table__), [
                {'uuid': each, 'name': each, 'generation': 1}
                for each in uuids])
            link.execute(sa.update(provider.__table__).values(
                root_provider_id=provider.id))
            classes = dict(link.execute(sa.select(
                models.ResourceClass.name, models.ResourceClass.id)).all())
            ids = link.scalars(sa.select(provider.id)).all()
            link.execute(sa.insert(inventory.__table__), [
                {'resource_provider_id': each, 'total': total,
                 'resource_class_id': classes[name], 'reserved': 0,
                 'min_unit': 1, 'max_unit': total, 'step_size': 1,
                 'allocation_ratio': 1.0}
                for each in ids for name, total in TOTALS.items()])
        return uuids

    def empty(self):
        """Delete all holds."""
        with self.engine.begin() as link:
            for model in models.Allocation, models.Consumer:
                link.execute(sa.delete(model.__table__))


def _script(name):
    beside = pathlib.Path(sys.executable).parent / name
    return beside if beside.exists() else shutil.which(name)


class Memory(threading.Thread):
    """Reads the memory of processes twenty times a second.

    :ivar peak: MiB of the process that needed most
    """

    def __init__(self, pids):
        super().__init__(daemon=True)
        self._pids = pids
        self._ended = threading.Event()
        self.peak = 0

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *failure):
        self._ended.set()
        self.join()

    def run(self):
        while not self._ended.wait(0.05):
            self.peak = max(self.peak, *map(_resident, self._pids))


def _resident(pid):
    """MiB of a process that are in memory."""
    pages = pathlib.Path(f'/proc/{pid}/statm').read_text().split()[1]
    return int(pages) * os.sysconf('SC_PAGE_SIZE') / 2 ** 20


def processor_seconds(pid):
    """Processor time of a process and of its children, including ended
    children."""
    ticks = 0
    for folder in pathlib.Path('/proc').glob('[0-9]*'):
        try:
            stat = (folder / 'stat').read_text()
        except OSError:
            # It has just ended.
            continue
        # proc(5): the name, in parentheses, may contain spaces.
        facts = stat.rpartition(')')[2].split()
        if pid in (int(folder.name), int(facts[1])):
            ticks += sum(map(int, facts[11:15]))
    return ticks / os.sysconf('SC_CLK_TCK')


def bodies(number, hosts):
    """Consumers as they are posted, by their UUIDs."""
    return {str(uuid.uuid4()): {
        'allocations': {host: {'resources': HOLD}},
        'project_id': 'blue', 'user_id': 'ann', 'consumer_generation': None,
        'consumer_type': 'HOLISTIC_HOLD'}
        for host in itertools.islice(itertools.cycle(hosts), number)}


def post(placement, part):
    """Seconds of one request."""
    started = time.perf_counter()
    response = placement.adapter.post(
        '/allocations', json=part, microversion='1.38', raise_exc=False)
    if response.status_code != 204:
        raise SystemExit(f'{response.status_code}: {response.text[:500]}')
    return time.perf_counter() - started


def write(placement, server, holds, size, connections):
    """Write a group in parts; gives the columns of its line."""
    items = list(holds.items())
    parts = [dict(items[at:at + size]) for at in range(0, len(items), size)]
    pids = [placement.pid, *([server.pid] if server else [])]
    before = [processor_seconds(pid) for pid in pids]
    started = time.perf_counter()
    with (Memory(placement.workers()) as memory,
          futures.ThreadPoolExecutor(connections) as pool):
        longest = max(pool.map(lambda part: post(placement, part), parts))
    wall = time.perf_counter() - started
    used = [processor_seconds(pid) - then for pid, then in zip(pids, before)]
    return len(parts), wall, longest, used[0], sum(used[1:]), memory.peak


def cases(arguments, number, database):
    """Sizes of parts, and connections, for a group."""
    yield number, 1
    for size in arguments.parts:
        if size >= number:
            continue
        for connections in arguments.connections:
            if connections == 1 or database != 'sqlite':
                yield size, connections


def measure(arguments, database):
    with contextlib.ExitStack() as stack:
        directory = pathlib.Path(stack.enter_context(
            tempfile.TemporaryDirectory()))
        server, url = None, f'sqlite:///{directory}/placement.sqlite'
        if database in SERVERS:
            server = stack.enter_context(SERVERS[database]())
            url = server.create('placement')
        placement = stack.enter_context(
            Placement(directory, url, arguments.workers))
        hosts = placement.insert_hosts(arguments.hosts)
        # Each worker fills its caches.
        for _ in range(5 * arguments.workers):
            write(placement, server, bodies(1, hosts), 1, 1)
        for number in arguments.holds:
            for size, connections in cases(arguments, number, database):
                for _ in range(arguments.repeat):
                    placement.empty()
                    costs = write(placement, server, bodies(number, hosts),
                                  size, connections)
                    print(f'{database:10} {number:6} {size:6} '
                          f'{connections:11} {costs[0]:8} {costs[1]:8.2f} '
                          f'{costs[2]:9.2f} {costs[3]:13.2f} '
                          f'{costs[4]:12.2f} {costs[5]:9.1f}', flush=True)


def main():
    arguments = parse()
    print('database    holds   part connections requests  seconds longest s '
          'Placement CPU database CPU  peak MiB')
    for database in arguments.database:
        measure(arguments, database)


if __name__ == '__main__':
    main()

# SPDX-License-Identifier: Apache-2.0
"""A cloud of ``numbered_cloud`` with a real Placement and a placement table,
and the parts of an engine in this process.

Placement runs in uwsgi; it and the placement table are on a separate MariaDB
or PostgreSQL. ``numbered_nova`` replaces Nova.
"""

from collections import Counter
import contextlib
from datetime import timedelta
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from keystoneauth1 import adapter, session, token_endpoint
from oslo_config import cfg
import sqlalchemy as sa

from benchmarks import holds as placements
from benchmarks import numbered_cloud as numbered
from benchmarks import numbered_rows, processor
from nova_holistic import conf as options
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds.use_tracking_adapter import UseTrackingAdapter
from nova_holistic.inventory.cached_inventory import with_cache
from nova_holistic.inventory.placement import PlacementInventory
from nova_holistic.reconcile.components import ReconcileComponents
from nova_holistic.reconcile.instances import NovaInstances
from nova_holistic.reconcile.reconciler import Reconciler
from nova_holistic.table.clock import DatabaseClock
from nova_holistic.table.store import PlacementTable
from nova_holistic.topology.aggregates import AggregatesTopology
from tests.services.background_processes import answers, Process
from tests.services.mariadb import MariaDB
from tests.services.postgresql import PostgreSQL
from tests.statements import recorded
from tools.cloud.ports import free_ports

SERVERS = {'mariadb': MariaDB, 'postgresql': PostgreSQL}
ROWS_READ = {
    'mysql': 'SELECT SUM(ROWS_READ) FROM information_schema.TABLE_STATISTICS '
             "WHERE TABLE_SCHEMA = 'holistic'",
    'postgresql': 'SELECT SUM(seq_tup_read + COALESCE(idx_tup_fetch, 0)) '
                  'FROM pg_stat_user_tables'}
COLUMNS = ('wall s', 'engine CPU', 'Placement CPU', 'database CPU',
           'to Placement', 'to Nova', 'statements', 'rows', 'MiB')
_PART = re.compile(r'/resource_providers/([0-9a-f-]+)/([a-z]+)$')


class Counted(adapter.Adapter):
    """
    :ivar number: of requests
    :ivar latency: additional seconds of each request
    :ivar shortcut: answers a path in the place of the service, unless it
        returns None
    """

    number = 0
    latency = 0.0
    shortcut = None

    def request(self, url, *arguments, **keywords):
        self.number += 1
        if self.latency:
            time.sleep(self.latency)
        known_answer = self.shortcut and self.shortcut(url)
        return known_answer or super().request(url, *arguments, **keywords)


class Answer:
    """What the code under measurement uses of a response."""

    status_code = 200

    def __init__(self, body):
        self._body = body

    def json(self):
        return self._body


class World:
    """The services, filled, and an engine's parts in this process."""

    def __init__(self, stack, kind, sizes, threads):
        self.sizes = sizes
        self._stack = stack
        directory = pathlib.Path(stack.enter_context(
            tempfile.TemporaryDirectory()))
        self.server = stack.enter_context(SERVERS[kind]())
        urls = [self.server.create(name) for name in ('placement', 'holistic')]
        self.placement = stack.enter_context(
            placements.Placement(directory, urls[0], 4))
        self._run('benchmarks.numbered_rows', *urls)
        self.nova_port, = free_ports(1)
        stack.enter_context(Process(
            [sys.executable, '-m', 'benchmarks.numbered_nova', self.nova_port,
             *self._numbers()], directory / 'nova.log',
            env=_environment())).wait_until(
                'Nova', lambda: answers(self.nova_port))
        self.engines = [sa.create_engine(url) for url in urls]
        if kind == 'mariadb':
            self.server.execute('SET GLOBAL userstat = 1')
        self._members = iter(range(sizes.per_group, sizes.members))
        self._other_servers = 0
        self._make_parts(urls[1], threads)

    def _make_parts(self, url, threads):
        self.conf = cfg.ConfigOpts()
        options.register_opts(self.conf)
        self.conf([])
        self.to_placement = _counted(
            'placement', self.placement.adapter.get_endpoint(), threads)
        self.to_nova = _counted(
            'compute', f'http://127.0.0.1:{self.nova_port}', threads)
        self.inventory = with_cache(self.conf, PlacementInventory(
            self.to_placement, self.to_nova,
            AggregatesTopology(['az', 'rack', 'host']), threads))
        self.table = PlacementTable(url)
        clock = DatabaseClock(self.table.database)
        self.later = timedelta()
        self.reconciler = Reconciler(ReconcileComponents(
            self.conf, self.inventory, self.table,
            HoldClient(UseTrackingAdapter(
                self.to_placement, self.inventory.mark_providers)),
            NovaInstances(self.to_nova), lambda: clock() + self.later))

    def _numbers(self):
        return [str(each) for each in (
            self.sizes.hosts, self.sizes.groups, self.sizes.members)]

    def _run(self, module, *arguments):
        subprocess.run([sys.executable, '-m', module, *arguments,
                        *self._numbers()], check=True, env=_environment())

    @contextlib.contextmanager
    def shortcut(self):
        """Answer requests about single providers as they were written."""
        self.to_placement.shortcut = self._answer
        yield
        self.to_placement.shortcut = None

    def _answer(self, url):
        match = _PART.match(url)
        if not match:
            return None
        host = numbered.number_of(match[1])
        parts = {'inventories': numbered_rows.inventories(),
                 'traits': [numbered_rows.TRAIT],
                 'allocations': numbered_rows.allocations(self.sizes, host)}
        return Answer({match[2]: parts[match[2]],
                       'resource_provider_generation': 1})

    def rows_read(self):
        engine = self.engines[1]
        if engine.dialect.name == 'postgresql':
            # A session reports what it has read within a second.
            time.sleep(1.5)
        with engine.connect() as link:
            return link.scalar(
                sa.text(ROWS_READ[engine.dialect.name])) or 0

    def build(self, number):
        """Some planned members get their servers."""
        members = []
        while len(members) < number:
            member = next(self._members)
            if not self.sizes.has_server(member):
                members.append(member)
        numbered_rows.claim(self.engines, self.sizes, members)
        self.to_nova.post('/built', json=members)

    def add_other_servers(self, number):
        first = self._other_servers
        self._other_servers += number
        numbers = range(first, self._other_servers)
        hosts = [each * 7 % self.sizes.hosts for each in numbers]
        numbered_rows.add_other_servers(self.engines[0], numbers, hosts)

    def cost(self, work):
        """The columns of a line: what the work takes."""
        before, rows = self._used(), self.rows_read()
        begun = time.perf_counter()
        with recorded(self.table.database.engine) as sent:
            outcome = work()
        wall = time.perf_counter() - begun
        used = [after - then for after, then in zip(self._used(), before)]
        return outcome, (wall, *used, len(sent.statements),
                         int(self.rows_read() - rows), int(_resident()))

    def _used(self):
        return (time.process_time(), processor.seconds(self.placement.pid),
                processor.seconds(self.server.pid), self.to_placement.number,
                self.to_nova.number)


def _counted(service, endpoint, threads):
    plain = session.Session(auth=token_endpoint.Token(endpoint, 'admin'))
    for each in plain.session.adapters.values():
        each.init_poolmanager(10, 10 + threads)
    return Counted(plain, service_type=service)


def _environment():
    return {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}


def _resident():
    with open('/proc/self/status') as status:
        kib = next(line.split()[1] for line in status
                   if line.startswith('VmRSS:'))
    return int(kib) / 1024


def add_arguments(parser):
    """What the benchmarks of such a cloud have in common."""
    parser.add_argument('--database', nargs='+', choices=SERVERS,
                        default=['mariadb'])
    parser.add_argument(
        '--sizes', nargs='+', metavar='HOSTS,GROUPS,MEMBERS', default=[
            '1000,200,10000', '10000,200,10000', '10000,2000,100000'])
    parser.add_argument('--threads', type=int, default=8)
    parser.add_argument(
        '--shortcut', action='store_true',
        help='this program answers requests about single providers while the '
             'engine reads everything for the first time; they are counted')


def worlds(arguments):
    """A world of each size on each database, one after the other."""
    for kind in arguments.database:
        for sizes in arguments.sizes:
            with contextlib.ExitStack() as stack:
                world = World(stack, kind, numbered.Sizes(
                    *map(int, sizes.split(','))), arguments.threads)
                print(f'{kind}: {world.sizes}; an engine that has read '
                      f'nothing has {_resident():.0f} MiB\n{"":<32} '
                      + ' '.join(COLUMNS))
                yield world


def print_cost(name, world, work):
    """Do the work, and print what it takes."""
    outcome, cost = world.cost(work)
    print(f'{name:<32} ' + ' '.join(
        f'{value:>{len(column)}.2f}' if isinstance(value, float)
        else f'{value:>{len(column)}}'
        for column, value in zip(COLUMNS, cost)) +
        (f'  {dict(outcome)}'
         if isinstance(outcome, Counter) and outcome else ''),
        flush=True)

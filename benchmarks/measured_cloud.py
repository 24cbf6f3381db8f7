# SPDX-License-Identifier: Apache-2.0
"""A cloud of processes (``tools.cloud``) with many hosts in its databases,
and the processor time and memory of its processes.

MariaDB, RabbitMQ, memcached, keystone, Placement, nova-api, our API and one
engine are separate processes. nova-compute does not run.
"""

import contextlib
from importlib import metadata
import itertools
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import threading
import time

from keystoneauth1.adapter import Adapter

from benchmarks import processor, steps
from nova_holistic.client.client import Client
from tools.cloud import catalog, initial_resources
from tools.cloud.cloud import Cloud
from tools.cloud.layout import Layout, write
from tools.cloud.nova import Nova
from tools.cloud.placement import Placement
from tools.cloud.processes import scripts
from tools.cloud.service import WebService

ENGINE = 'engine-1'
WATCHED = (ENGINE, 'placement', 'nova', 'holistic', 'keystone', 'mariadb',
           'rabbitmq')
"""Processes whose processor time is sampled, where they run."""
INTERVAL = 0.02
"""Seconds between two samples."""
REFRESHED = 20
"""Number of samples between two searches for new processes."""
OPTIONS = {
    # No process sends reports for services that do not run.
    'nova.conf': {'DEFAULT': {'service_down_time': 10_000_000}}}


class MeasuredPlacement(Placement):
    """Placement with a process for each processor."""

    workers = os.cpu_count()

    def prepare(self):
        super().prepare()
        # All of its processes would create the schema at the same time.
        self.manage('placement.cmd.manage:main', [(
            '--config-file', self.layout.configuration('placement')
            / 'placement.conf', 'db', 'sync')], self.environment())


class NovaServices(Nova):
    """nova-api alone, with a process for each processor; the benchmarks start
    other services when needed."""

    workers = os.cpu_count()

    def start(self):
        WebService.start(self)


class MeasuredCloud(Cloud):
    """:ivar trace: file with the spans of the engine"""

    def __init__(self, layout, report=lambda line: None):
        super().__init__(layout, report)
        self.services['nova'] = NovaServices(layout, self.processes)
        self.services['placement'] = MeasuredPlacement(
            layout, self.processes)
        self.trace = layout.state(ENGINE) / 'trace'

    def resume(self):
        """Start a cloud that was filled before, with its databases."""
        for name in ('rabbitmq', 'mariadb', 'memcached', 'keystone',
                     'placement', 'nova'):
            self._start(self.services[name])
        self.services['holistic'].start_api()
        self.services['holistic'].wait()

    def up(self):
        for name in ('rabbitmq', 'mariadb', 'memcached'):
            self._run(self.services[name])
        self._each(self._prepare, ('nova', 'keystone', 'holistic',
                                   'placement'))
        self._each(self._start, ('keystone', 'placement'))
        catalog.fill(self.layout)
        self._start(self.services['nova'])
        self.services['holistic'].start_api()
        self.services['holistic'].wait()
        for name, (vcpus, ram, disk) in initial_resources.FLAVORS.items():
            self.compute().post('/flavors', json={'flavor': {
                'id': name, 'name': name, 'vcpus': vcpus, 'ram': ram,
                'disk': disk}})

    def fill(self, hosts, servers):
        """Insert hosts, each with a number of servers outside of groups.

        :raises RuntimeError: they cannot be inserted, or the APIs of Nova and
            Placement report something else than what was inserted
        """
        self.run_module('benchmarks.filled_databases', hosts, servers)

    def run_module(self, name, *arguments):
        """Run a module to its end; returns what it prints."""
        process = subprocess.run(
            self.command(name, *arguments), check=False, text=True,
            capture_output=True, env=self.environment())
        if process.returncode:
            raise RuntimeError(f'{name}: {process.stderr[-3000:]}')
        return process.stdout

    def command(self, name, *arguments):
        return [sys.executable, '-m', name, str(self.layout.directory),
                *map(str, arguments)]

    def environment(self):
        return os.environ | {
            'OS_NOVA_DISABLE_EVENTLET_PATCHING': '1',
            'PYTHONPATH': str(pathlib.Path(__file__).parents[1])}

    def start_engine(self, traced=True, driver='placement'):
        """Start the engine; returns the moment, by ``time.monotonic``.

        :param traced: whether it writes spans; the file grows
        :param driver: of the inventory
        """
        conf = self.layout.configuration('holistic') / 'nova-holistic.conf'
        own = write(self.layout.configuration(ENGINE) / 'engine.conf', {
            'engine': {'host': ENGINE},
            'inventory': {
                'driver': driver,
                'placement_connection': self.layout.database('placement')}})
        ports = {name: self.layout.ports[name]
                 for name in ('placement', 'nova', 'keystone')}
        command = [
            sys.executable, '-m', 'benchmarks.traced_engine', self.trace,
            json.dumps(ports)] if traced else [scripts('nova-holistic-engine')]
        begin = time.monotonic()
        self.processes.start(ENGINE, [
            *command, '--config-file', conf, '--config-file', own])
        return begin

    def stop_engine(self):
        if ENGINE in self.processes.names():
            self.processes.end([ENGINE])

    def spans(self, since):
        """Spans of the engine that have begun since a moment."""
        if not self.trace.exists():
            return []
        return [span for span in steps.read_spans(self.trace.read_text())
                if span['begin'] >= since]

    def client(self):
        return Client(self.session())

    def session(self):
        return catalog.session(self.layout, catalog.ADMIN)

    def compute(self):
        return Adapter(self.session(), service_type='compute',
                       default_microversion='2.53')

    def placement(self):
        return Adapter(self.session(), service_type='placement',
                       default_microversion='1.39')

    def groups(self):
        """Numbers of the processes of each service that runs."""
        running = self.processes.names()
        leaders = {name: self.processes.leader(name) for name in WATCHED
                   if name in running}
        members = processor.members(leaders.values())
        return {name: members[leader] for name, leader in leaders.items()}

    def resident(self, name):
        """MiB of memory of a process and its children."""
        return processor.resident(self.processes.leader(name))

    @contextlib.contextmanager
    def sampled(self):
        """Samples of the processor time, taken by a thread."""
        samples, ended = steps.Samples(), threading.Event()

        def sample():
            for number in itertools.count():
                if number % REFRESHED == 0:
                    groups = self.groups()
                samples.add(time.monotonic(), {
                    name: processor.seconds_of(pids)
                    for name, pids in groups.items()})
                if ended.wait(INTERVAL):
                    return

        thread = threading.Thread(target=sample, daemon=True)
        thread.start()
        try:
            yield samples
        finally:
            ended.set()
            thread.join()


@contextlib.contextmanager
def filled_cloud(hosts, servers, options=None, folder=None):
    """A cloud with a number of hosts. It is removed at the end.

    :param folder: keeps the directory of the cloud, with its databases. The
        next call with the same folder and numbers finds it filled. None keeps
        nothing; then the directory stays only if anything fails, with all
        logs in ``log``.
    """
    chosen = {**OPTIONS, **(options or {})}
    if folder is None:
        # A short path, because sockets are below it.
        directory = pathlib.Path(tempfile.mkdtemp(prefix='filled-'))
    else:
        directory = pathlib.Path(folder) / f'{hosts}-{servers}'
    ready = directory / 'filled'
    cloud = MeasuredCloud(
        Layout.read(directory) if ready.exists()
        else Layout.make(directory, 0, options=chosen))
    try:
        if ready.exists():
            cloud.resume()
        else:
            cloud.up()
            cloud.fill(hosts, servers)
            ready.touch()
        yield cloud
    except BaseException:
        print(f'logs: {directory}/log', file=sys.stderr)
        raise
    finally:
        cloud.down()
    if folder is None:
        cloud.remove()


def machine():
    """What the figures depend on: processor, memory, load and versions."""
    facts = dict(line.split(':', 1) for line in pathlib.Path(
        '/proc/meminfo').read_text().splitlines())
    model = next((line.partition(':')[2].strip() for line in pathlib.Path(
        '/proc/cpuinfo').read_text().splitlines()
        if line.startswith('model name')), platform.machine())
    mariadb = subprocess.run(
        ['mariadbd', '--version'], capture_output=True, text=True, check=False,
        env=os.environ | {'PATH': f'{os.environ["PATH"]}:/usr/sbin'})
    return {
        'processor': model, 'processors': os.cpu_count(),
        'memory_mib': int(facts['MemTotal'].split()[0]) // 1024,
        'load_average': os.getloadavg(), 'kernel': platform.release(),
        'python': platform.python_version(),
        'mariadb': mariadb.stdout.strip(),
        **{name: metadata.version(name) for name in (
            'nova', 'openstack-placement', 'nova_holistic', 'SQLAlchemy')}}

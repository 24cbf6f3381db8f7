# SPDX-License-Identifier: Apache-2.0
"""The whole cloud: what is started after what."""

from collections.abc import Callable, Iterable
from concurrent import futures
import pathlib
import shutil
import time

from tools.cloud import catalog, initial_resources
from tools.cloud.glance import Glance
from tools.cloud.heat import Heat
from tools.cloud.holistic import Holistic
from tools.cloud.keystone import Keystone, ShortKeystone
from tools.cloud.layout import Layout
from tools.cloud.mariadb import MariaDB
from tools.cloud.memcached import Memcached
from tools.cloud.network import Network
from tools.cloud.nova import Nova
from tools.cloud.placement import Placement
from tools.cloud.processes import Processes
from tools.cloud.rabbitmq import RabbitMQ
from tools.cloud.service import Service

_BELOW = ('memcached', 'rabbitmq', 'epmd', 'mariadb')
"""What the rest needs to the very end."""


class Cloud:
    """
    :ivar layout: where its files and ports are
    :ivar services: by name
    """

    def __init__(self, layout: Layout,
                 report: Callable[[str], None] = lambda line: None):
        self.layout = layout
        self.processes = Processes(layout)
        self.services: dict[str, Service] = {
            kind.name: kind(layout, self.processes) for kind in (
                MariaDB, RabbitMQ, Memcached, Keystone, ShortKeystone,
                Placement, Glance, Network, Nova, Holistic,
                *((Heat,) if layout.heat else ()))}
        self._report = report

    def up(self) -> None:
        """From nothing to a cloud on which a server can be made."""
        begin = time.monotonic()

        def step(what: str) -> None:
            self._report(f'{time.monotonic() - begin:5.1f} s  {what}')

        with futures.ThreadPoolExecutor(1) as beside:
            # Nobody needs it yet, and it takes its time.
            broker = beside.submit(self._run, self.services['rabbitmq'])
            self._each(self._run, ('mariadb', 'memcached'))
            step('database, cache')
            # Nova's schema takes longest, so it comes first.
            self._each(self._prepare, (
                'nova', 'keystone', 'glance', 'holistic', 'placement',
                'network', 'short-keystone', *self._heat))
            broker.result()
        step('schemas, broker')
        self._each(self._start, ('keystone', 'placement', 'glance',
                                 'network'))
        catalog.fill(self.layout)
        step('keystone, placement, glance')
        self._each(self._start, ('nova', 'holistic', *self._heat))
        step('nova, nova_holistic')
        initial_resources.create_resources(self.layout,
                                           self.layout.host_names())
        step(f'{self.layout.hosts} hosts')

    def down(self) -> None:
        """End every process, those last that others need."""
        there = self.processes.names()
        self.processes.end(n for n in there if n not in _BELOW)
        for name in _BELOW:
            if name in there:
                self.processes.end([name])

    def remove(self) -> None:
        """Forget all that it wrote; it is down."""
        shutil.rmtree(self.layout.directory)

    @property
    def _heat(self) -> tuple[str, ...]:
        return ('heat',) if self.layout.heat else ()

    def start(self, name: str) -> None:
        """Start a service that was prepared; returns when it serves."""
        self._start(self.services[name])

    def _run(self, service: Service) -> None:
        self._prepare(service)
        self._start(service)

    @staticmethod
    def _prepare(service: Service) -> None:
        service.prepare()

    @staticmethod
    def _start(service: Service) -> None:
        service.start()
        service.wait()

    def _each(self, step: Callable[[Service], None],
              names: Iterable[str]) -> None:
        with futures.ThreadPoolExecutor(3) as pool:
            for done in [pool.submit(step, self.services[n]) for n in names]:
                done.result()


def make(directory: pathlib.Path, hosts: int,
         report: Callable[[str], None] = print, **others: object) -> Cloud:
    """:param others: of ``Layout.make``"""
    return Cloud(Layout.make(directory, hosts, **others), report)

# SPDX-License-Identifier: Apache-2.0
"""The cloud, and the order in which its services start."""

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

_LAST = ('memcached', 'rabbitmq', 'epmd', 'mariadb')
"""Services that other services need until those have ended."""


class Cloud:
    """The services of one cloud.

    :ivar layout: files and ports of the cloud
    :ivar processes: processes of the cloud
    :ivar services: the services by their names
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
        """Prepare and start all services, until servers can be created."""
        begin = time.monotonic()

        def step(text: str) -> None:
            self._report(f'{time.monotonic() - begin:5.1f} s  {text}')

        with futures.ThreadPoolExecutor(1) as pool:
            # The broker is needed last and starts slowly.
            broker = pool.submit(self._run, self.services['rabbitmq'])
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
        """End every process; the services that others need end last."""
        running = self.processes.names()
        self.processes.end(n for n in running if n not in _LAST)
        for name in _LAST:
            if name in running:
                self.processes.end([name])

    def remove(self) -> None:
        """Remove all files of the cloud, whose processes must have ended."""
        shutil.rmtree(self.layout.directory)

    @property
    def _heat(self) -> tuple[str, ...]:
        return ('heat',) if self.layout.heat else ()

    def start(self, name: str) -> None:
        """Start a service that was prepared, and wait until it responds."""
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
            for future in [pool.submit(step, self.services[n]) for n in names]:
                future.result()


def make(directory: pathlib.Path, hosts: int,
         report: Callable[[str], None] = print, **options: object) -> Cloud:
    """Choose the layout of a cloud.

    :param options: arguments of ``Layout.make``
    """
    return Cloud(Layout.make(directory, hosts, **options), report)

# SPDX-License-Identifier: Apache-2.0
"""Starts and stops Nova's services and Placement."""

import fixtures
from nova.compute import rpcapi as compute_rpcapi
import nova.conf
from nova import context, objects
from nova.tests import fixtures as nova_fixtures
import nova.utils
from oslo_config import cfg
from oslo_config import fixture as config_fixture
from placement import conf as placement_options
from placement import db_api as placement_database
from placement.tests.functional.fixtures import placement as placement_fixtures
from requests import adapters

from nova_holistic.embedded.fake_driver import EmbeddedDriver
from nova_holistic.embedded import identity
from nova_holistic.embedded.nova_runtime import KEPT_CONNECTIONS
from nova_holistic.embedded.placement_rows import PlacementRows

CONF = nova.conf.CONF
# From Nova 33 on, a compute listens on a second topic.
_TOPICS = ({'topic_alt': compute_rpcapi.RPC_TOPIC_ALT}
           if hasattr(compute_rpcapi, 'RPC_TOPIC_ALT') else {})
ADMIN = identity.HeaderIdentity('admin', 'admin', identity.ADMIN_ROLES)


class PlacementService(fixtures.Fixture):
    """Placement's WSGI application, served to Nova and to other clients.

    :ivar endpoint: its URL inside this process
    :ivar rows: PlacementRows of its database
    """

    def _setUp(self):
        # The interceptor does not support the keep-alive options of sockets.
        self.useFixture(fixtures.MonkeyPatch(
            'keystoneauth1.session.TCPKeepAliveAdapter.init_poolmanager',
            adapters.HTTPAdapter.init_poolmanager))
        options = self.useFixture(config_fixture.Config(cfg.ConfigOpts()))
        placement_options.register_opts(options.conf)
        options.config(group='placement_database', **KEPT_CONNECTIONS)
        self.endpoint = self.useFixture(placement_fixtures.PlacementFixture(
            conf_fixture=options, register_opts=False)).endpoint
        self.rows = PlacementRows(placement_database.get_placement_engine())
        for name in ('get_sdk_adapter', 'get_ksa_adapter'):
            self.useFixture(fixtures.MonkeyPatch(
                f'nova.utils.{name}',
                self._for_placement(getattr(nova.utils, name))))

    def _for_placement(self, original):
        """The function of nova.utils, with the endpoint of this Placement,
        because no service catalog exists."""
        def get_adapter(service_type, *args, **kwargs):
            if service_type == 'placement':
                return identity.make_adapter(
                    'placement', self.endpoint, ADMIN, None, raise_exc=False)
            return original(service_type, *args, **kwargs)
        return get_adapter


class ComputeApiService(fixtures.Fixture):
    """nova-api, behind a replacement for the middleware auth_token.

    :ivar endpoint: its URL inside this process
    """

    def _setUp(self):
        self.useFixture(fixtures.MockPatch(
            'keystonemiddleware.auth_token.filter_factory',
            return_value=lambda application: application))
        self.endpoint = self.useFixture(
            nova_fixtures.OSAPIFixture(stub_keystone=False)).base_url


class ComputeServices(fixtures.Fixture):
    """A nova-compute with a fake hypervisor for each host.

    :ivar services: nova.service.Service by host
    """

    def __init__(self, cell):
        super().__init__()
        self.cell = cell
        self.services = {}
        self._hosts = {}
        self._drivers = {}
        self._stopped = set()

    def _setUp(self):
        self.useFixture(fixtures.MonkeyPatch(
            'nova.virt.driver.load_compute_driver', self._load_driver))
        for name in _nova_conf(None):
            self.addCleanup(CONF.clear_override, name)

    def _load_driver(self, virtapi, compute_driver=None):
        # A restarted service must find the guests that it had.
        name = CONF.host
        if name not in self._drivers:
            self._drivers[name] = EmbeddedDriver(virtapi, self._hosts[name])
        return self._drivers[name]

    def start(self, host):
        """Start the nova-compute of an EmbeddedHost and map it to the cell."""
        first_start = host.name not in self._hosts
        self._hosts[host.name] = host
        self._use_nova_conf(host)
        service = self.useFixture(nova_fixtures.ServiceFixture(
            'compute', host.name, cell=self.cell, **_TOPICS)).service
        self.services[host.name] = service
        self._stopped.discard(host.name)
        if first_start:
            self._map(host.name, service)

    @staticmethod
    def _use_nova_conf(host):
        """Set the options of a host in Nova's global configuration, because
        all computes of this process share it."""
        for name, value in _nova_conf(host).items():
            CONF.set_override(name, value)

    def stop(self, name):
        """Stop the nova-compute of a host until ``restart``."""
        self.services[name].stop()
        self._stopped.add(name)

    def restart(self, name):
        """Start a stopped nova-compute again."""
        self.start(self._hosts[name])

    def remove(self, name):
        """Stop the nova-compute of a host permanently, and forget the host."""
        self.services.pop(name).stop()
        self._stopped.discard(name)
        del self._hosts[name], self._drivers[name]

    def _map(self, name, service):
        admin = context.get_admin_context()
        objects.HostMapping(
            context=admin, host=name, cell_mapping=self.cell).create()
        with context.target_cell(admin, self.cell) as target:
            node = objects.ComputeNode.get_by_service_id(
                target, service.service_ref.id)
            node.mapped = 1
            node.save()

    def run_periodics(self):
        """Make every running nova-compute report its resources."""
        admin = context.get_admin_context()
        for name, service in self.services.items():
            if name in self._stopped:
                continue
            self._use_nova_conf(self._hosts[name])
            with context.target_cell(admin, self.cell) as target:
                service.manager.update_available_resource(target)


def _nova_conf(host):
    """Options that differ between computes, with the values of a host."""
    return {
        'host': host and host.name,
        'initial_cpu_allocation_ratio': host and host.cpu_allocation_ratio,
        'reserved_host_memory_mb': host and host.reserved_memory_mb}

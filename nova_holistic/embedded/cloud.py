# SPDX-License-Identifier: Apache-2.0
"""A real Nova and a real Placement in this process, with hosts and load."""

import os

import fixtures

from nova_holistic.embedded.calls.consumers import ConsumerCalls
from nova_holistic.embedded.calls.hosts import HostCalls
from nova_holistic.embedded.calls.moves import MoveCalls
from nova_holistic.embedded.calls.servers import PROJECT, ServerCalls, USER
from nova_holistic.embedded.configuration import HolisticOptions
from nova_holistic.embedded.controllers import Controllers
from nova_holistic.embedded.host_insertion.insertion import HostInsertion
from nova_holistic.embedded import identity
from nova_holistic.embedded.image_service import ImageService
from nova_holistic.embedded.nova_runtime import CELL, NovaRuntime
from nova_holistic.embedded.project_components import ProjectComponents
from nova_holistic.embedded.quiet_logging import QuietLogging
from nova_holistic.embedded.services import (
    ADMIN, ComputeApiService, ComputeServices, PlacementService)
from nova_holistic.embedded.waiting import EmbeddedCloudError


class EmbeddedCloud(fixtures.Fixture, ServerCalls, MoveCalls, HostCalls,
                    ConsumerCalls, HostInsertion, ProjectComponents):
    """Nova (API, conductor, scheduler, one compute per host) and Placement.

    One at a time in a process, as many after each other as one likes: Nova's
    configuration is a global.

    :param hosts: EmbeddedHosts; each gets a running nova-compute
    :param scheduler: ``stock``, or ``holistic`` for this project's driver
    :param options: further options, ``{(group or None, name): value}``
    :ivar conf: Nova's CONF
    :ivar directory: temporary folder of the databases and the log
    :ivar log_path: file with what all services logged
    :ivar compute: keystoneauth Adapter of Nova's API, as an administrator
    :ivar placement: keystoneauth Adapter of Placement's API, likewise
    :ivar placement_rows: what Placement's database contains
    :ivar image: what stands for an Adapter of Glance's API
    :ivar volumes: Nova's fake of Cinder
    :ivar progress: which servers Nova is at work on
    :ivar controllers: conductor and scheduler
    :ivar computes: the running nova-computes
    """

    _running = False

    def __init__(self, hosts, *, scheduler='holistic', options=None):
        super().__init__()
        self.hosts = tuple(hosts)
        self.scheduler = scheduler
        self.options = dict(options or {})

    def setUp(self):
        """Start it.

        :raises EmbeddedCloudError: one is running in this process already
        """
        if EmbeddedCloud._running:
            raise EmbeddedCloudError(
                'an embedded cloud is running in this process already')
        try:
            super().setUp()
        except fixtures.MultipleExceptions as failed:
            # The cause comes first, before the message of fixtures.
            raise failed.args[0][1]

    def _setUp(self):
        EmbeddedCloud._running = True
        self.addCleanup(setattr, EmbeddedCloud, '_running', False)
        self.directory = self.useFixture(fixtures.TempDir()).path
        self.log_path = os.path.join(self.directory, 'cloud.log')
        self.useFixture(QuietLogging(self.log_path))
        runtime = self.useFixture(NovaRuntime(self.directory))
        self.conf = runtime.conf
        self.progress = runtime.progress
        self.image = ImageService(runtime.images)
        self.volumes = runtime.volumes
        self.useFixture(HolisticOptions(self.directory))
        for (group, name), value in self.options.items():
            runtime.flags(group=group, **{name: value})
        placement = self.useFixture(PlacementService())
        self.placement = identity.make_adapter(
            'placement', placement.endpoint, ADMIN,
            identity.PLACEMENT_MICROVERSION)
        self.placement_rows = placement.rows
        self._compute_endpoint = self.useFixture(ComputeApiService()).endpoint
        self.compute = self._compute_as(ADMIN)
        self.controllers = self.useFixture(Controllers(self.scheduler))
        self.computes = self.useFixture(ComputeServices(runtime.cells[CELL]))
        self._start_hosts(self.hosts)

    def add_hosts(self, hosts):
        """Start computes, place them in their aggregates, put their load."""
        self._start_hosts(hosts)
        self.hosts += tuple(hosts)

    def _start_hosts(self, hosts):
        for host in hosts:
            self.computes.start(host)
        self.place_in_aggregates(hosts)
        self.put_load(hosts)

    def remove_hosts(self, names):
        """Remove hosts that have no servers, with their load.

        Nova takes a host whose compute service is deleted out of its
        aggregates, and deletes its resource provider.
        """
        for name in names:
            self.computes.remove(name)
            if name in self.providers():
                for consumer in self.consumers(name):
                    self.delete_consumer(consumer)
            self.delete_compute_service(name)
        self.hosts = tuple(
            host for host in self.hosts if host.name not in names)

    def restart_scheduler(self, scheduler):
        """Stop nova-scheduler, and start stock Nova's or ours instead."""
        self.controllers.restart_scheduler(scheduler)
        self.scheduler = scheduler

    def compute_for(self, project_id=PROJECT, user_id=USER, admin=False):
        """Adapter of Nova's API for a user of a project."""
        roles = identity.ADMIN_ROLES if admin else identity.PROJECT_ROLES
        return self._compute_as(
            identity.HeaderIdentity(user_id, project_id, roles))

    def _compute_as(self, caller):
        return identity.make_adapter(
            'compute', self._compute_endpoint, caller,
            identity.COMPUTE_MICROVERSION)

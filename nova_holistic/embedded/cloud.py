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

    A process can run only one cloud at a time, because Nova's configuration is
    global. It can run several clouds one after the other.

    :param hosts: EmbeddedHosts; each gets a running nova-compute
    :param scheduler: ``stock``, or ``holistic`` for this project's driver
    :param options: values of configuration options, as
        ``{(group or None, name): value}``
    :ivar conf: Nova's CONF
    :ivar directory: temporary folder of the databases and the log
    :ivar log_path: log file of all services
    :ivar compute: keystoneauth Adapter of Nova's API, as an administrator
    :ivar placement: keystoneauth Adapter of Placement's API, as an
        administrator
    :ivar placement_rows: PlacementRows of Placement's database
    :ivar image: ImageService, in place of an Adapter of Glance's API
    :ivar volumes: Nova's fake of Cinder
    :ivar progress: ServerProgress, which shows whether Nova works on a server
    :ivar controllers: Controllers with nova-conductor and nova-scheduler
    :ivar computes: ComputeServices with all nova-computes
    """

    _running = False

    def __init__(self, hosts, *, scheduler='holistic', options=None):
        super().__init__()
        self.hosts = tuple(hosts)
        self.scheduler = scheduler
        self.options = dict(options or {})

    def setUp(self):
        """Start the cloud.

        :raises EmbeddedCloudError: this process already runs a cloud, or the
            scheduler is unknown
        """
        if EmbeddedCloud._running:
            raise EmbeddedCloudError(
                'an embedded cloud is running in this process already')
        try:
            super().setUp()
        except fixtures.MultipleExceptions as failed:
            # The first exception is the cause, and the last is of fixtures.
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
        """Start the computes of EmbeddedHosts, add them to their aggregates
        and allocate their load."""
        self._start_hosts(hosts)
        self.hosts += tuple(hosts)

    def _start_hosts(self, hosts):
        for host in hosts:
            self.computes.start(host)
        self.place_in_aggregates(hosts)
        self.put_load(hosts)

    def remove_hosts(self, names):
        """Remove hosts without servers, and delete their load.

        When a compute service is deleted, Nova removes its host from the
        aggregates, and deletes its resource provider.

        :param names: names of the hosts
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
        """Stop nova-scheduler, and start a scheduler of the given kind.

        :param scheduler: ``stock`` or ``holistic``
        :raises EmbeddedCloudError: the scheduler is unknown
        """
        self.controllers.restart_scheduler(scheduler)
        self.scheduler = scheduler

    def compute_for(self, project_id=PROJECT, user_id=USER, admin=False):
        """Adapter of Nova's API for a user of a project.

        :param admin: whether the user has the role admin
        """
        roles = identity.ADMIN_ROLES if admin else identity.PROJECT_ROLES
        return self._compute_as(
            identity.HeaderIdentity(user_id, project_id, roles))

    def _compute_as(self, caller):
        return identity.make_adapter(
            'compute', self._compute_endpoint, caller,
            identity.COMPUTE_MICROVERSION)

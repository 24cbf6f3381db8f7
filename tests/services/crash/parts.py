# SPDX-License-Identifier: Apache-2.0
"""The components of an engine, of a scheduler and of the API, in one
process."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
import functools
from importlib import import_module

from keystoneauth1 import adapter, session, token_endpoint
from oslo_config import cfg
from oslo_utils import timeutils

from nova_holistic.boot.booter import Booter, Hooks
from nova_holistic import conf as options
from nova_holistic.engine.lifecycle import Lifecycle
from nova_holistic.engine.planner import Planner
from nova_holistic.holds.client import HoldClient
from nova_holistic.reconcile.action_runner import ActionRunner
from nova_holistic.reconcile.components import ReconcileComponents
from nova_holistic.reconcile.instances import InstanceView
from nova_holistic.reconcile.reconciler import Reconciler
from nova_holistic.reconcile.repairer import Repairer
from nova_holistic.reconcile.server_positions import ServerPositions
from nova_holistic.service.boot_queue import BootQueue
from nova_holistic.service.periodic_tasks import PeriodicTask, PeriodicTasks
from nova_holistic.service.record_expiry import RecordExpiry
from nova_holistic.service.work_queues import (
    AlternatesQueue, GroupQueue, PlanQueue)
from nova_holistic.table.store import PlacementTable
from tests.services.crash.created_servers import CreatedServers
from tests.services.crash.moving_servers import MovingServers
from tests.services.placement import TOKEN
from tests.services.placement_calls import PlacementCalls
from tests.world.inventory import RackInventory


@dataclass(frozen=True)
class Site:
    """The databases and the cloud that a process uses.

    :ivar endpoint: URL of Placement
    :ivar hosts: UUID of each host's provider, by the name of the host; the
        first letter of the name is its rack
    :ivar vcpus: VCPUs of each host, which also has 512 MiB for each of them
    :ivar servers: servers as Nova reports them
    :ivar deleted: UUIDs of servers that Nova has deleted
    :ivar down: names of hosts that accept no servers
    :ivar part_size: maximum number of holds that one request writes or deletes
    :ivar ahead: offset of the clock of the process in seconds
    :ivar moves: path of a file with the servers that Nova moves
    :ivar created: path of a file with the servers that engines create
    """

    table_url: str
    endpoint: str
    hosts: Mapping[str, str]
    vcpus: int
    servers: Collection[InstanceView] = ()
    deleted: Collection[str] = ()
    down: Collection[str] = ()
    ahead: float = 0
    moves: str = ''
    created: str = ''
    part_size: int = 100


class Calls(PlacementCalls):
    """Requests to a Placement that another process has started."""

    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.adapter = adapter.Adapter(
            session.Session(auth=token_endpoint.Token(endpoint, TOKEN)),
            service_type='placement')


@dataclass
class Parts:
    """The components, created in each process from the site alone.

    :ivar skew: offset of the clock
    """

    site: Site
    skew: timedelta = field(init=False)

    def __post_init__(self):
        self.skew = timedelta(seconds=self.site.ahead)

    def clock(self):
        return timeutils.utcnow() + self.skew

    @functools.cached_property
    def conf(self):
        conf = cfg.ConfigOpts()
        options.register_opts(conf)
        conf([], default_config_files=[])
        return conf

    @functools.cached_property
    def placement(self):
        return Calls(self.site.endpoint)

    @functools.cached_property
    def table(self):
        return PlacementTable(self.site.table_url)

    @functools.cached_property
    def holds(self):
        return HoldClient(self.placement.adapter,
                          part_size=self.site.part_size)

    @functools.cached_property
    def inventory(self):
        for provider in self.site.hosts.values():
            self.placement.room[provider] = {
                'VCPU': self.site.vcpus, 'MEMORY_MB': self.site.vcpus * 512}
        inventory = RackInventory(self.placement, self.site.hosts, {
            name: name[0] for name in self.site.hosts})
        inventory.down.update(self.site.down)
        return inventory

    @functools.cached_property
    def instances(self):
        instances = MovingServers(
            self.site.moves, self.site.hosts, self.placement)
        instances.views.update({each.uuid: each
                                for each in self.site.servers})
        instances.deleted.update(self.site.deleted)
        instances.views.update(self.created.views())
        instances.deleted.update(self.created.deleted())
        return instances

    @functools.cached_property
    def created(self):
        return CreatedServers(self.site.created, self, self.claim)

    @staticmethod
    def claim(parts, group, path, server):
        """Claim a member for a server, as the scheduler does."""
        # The operations are functions of these components.
        import_module('tests.services.crash.operations').claim(
            parts, group, path, server)

    @functools.cached_property
    def planner(self):
        planner = Planner(self.conf, self.inventory, self.table, self.holds,
                          self.clock)
        positions = ServerPositions(
            self.inventory, self.table, self.instances, self.clock)
        repairer = Repairer(
            self.reconcile_components, sleep=lambda seconds: None)
        planner.connect(
            positions.refresh, self.instances.find,
            repairing=repairer.run, act=self.action_runner.run,
            check_status=self.action_runner.check_status)
        return planner

    @functools.cached_property
    def reconcile_components(self):
        return ReconcileComponents(
            self.conf, self.inventory, self.table, self.holds,
            self.instances, self.clock)

    @functools.cached_property
    def action_runner(self):
        runner = ActionRunner(self.reconcile_components, self.instances)
        runner.wait_with(lambda seconds: None)
        return runner

    @functools.cached_property
    def lifecycle(self):
        return Lifecycle(self.conf, self.table, self.holds, self.clock)

    @functools.cached_property
    def reconciler(self):
        return Reconciler(self.reconcile_components)

    def queues(self, engine):
        """The queues of an engine: groups, dry runs, and groups that need
        alternates."""
        return [kind(self.conf, self.table, self.planner, engine, self.clock)
                for kind in (GroupQueue, PlanQueue, AlternatesQueue)]

    def boot_queue(self, engine):
        """The queue of groups whose servers the engine creates."""
        self.conf.set_override('parallel', 1, group='boot')
        self.conf.set_override('poll_interval', 0.05, group='boot')
        booter = Booter(self.conf, self.table, self.created, self.clock)
        return BootQueue(
            self.conf, self.table.boots, booter, Hooks(
                self.lifecycle.release,
                lambda server: self.reconciler.check_servers([server])),
            (engine, self.clock))

    def periodic_tasks(self, engine):
        """The periodic tasks of an engine."""
        return PeriodicTasks({
            'reconcile': PeriodicTask(self.reconciler.reconcile, 60),
            'forget': PeriodicTask(
                RecordExpiry(self.conf, self.table, self.clock).delete, 60),
        }, self.table.jobs, engine, self.conf.engine.stale_after, self.clock)

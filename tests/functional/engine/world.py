# SPDX-License-Identifier: Apache-2.0
"""Planner, table and a real Placement, with hosts, a clock and servers."""

import uuid
from datetime import datetime, timedelta

import fixtures
from oslo_config import cfg

from nova_holistic import conf as options
from nova_holistic.engine.instances import Instances, InstanceView
from nova_holistic.engine.lifecycle import Lifecycle
from nova_holistic.engine.planner import Planner
from nova_holistic.engine.reconciler import Reconciler
from nova_holistic.holds.client import HoldClient
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.inventory import Inventory
from nova_holistic.model.snapshot import Host, Snapshot
from nova_holistic.table import migration
from nova_holistic.table.records import MemberState
from nova_holistic.table.store import PlacementTable
from tests.functional.placement_service import PlacementService

SMALL = {'VCPU': 1, 'MEMORY_MB': 512}
RACKS = {'a1': 'a', 'a2': 'a', 'b1': 'b', 'b2': 'b'}


def shop(nodes=2):
    """A web server and database nodes, no two of those in one rack."""
    return {'group': {
        'name': 'shop',
        'members': [{'name': 'web', 'resources': SMALL}],
        'groups': [{
            'name': 'db',
            'policies': [{'type': 'anti-affinity', 'level': 'rack'}],
            'members': [
                {'name': 'node', 'count': nodes, 'resources': SMALL}]}]}}


class RackInventory:
    """The hosts, with what Placement says is used of them.

    :ivar stale: what others take between snapshot and plan: called with the
        number of the snapshot, from 1, once that is taken
    :ivar down: names of hosts that take no servers
    """

    def __init__(self, placement, providers):
        self._placement = placement
        self._providers = providers
        self.stale = lambda number: None
        self.taken = 0
        self.down = set()

    def snapshot(self):
        hosts = tuple(self._host(name, rack) for name, rack in RACKS.items())
        self.taken += 1
        self.stale(self.taken)
        return Snapshot(('rack', 'host'), hosts)

    def _host(self, name, rack):
        provider = self._providers[name]
        path = f'/resource_providers/{provider}/inventories'
        used = self._placement.used(provider)
        inventories = self._placement.adapter.get(path).json()['inventories']
        return Host(
            name, f'{name}.example.org', provider, (rack,),
            FrozenMapping({
                name: Inventory(total=found['total'], used=used[name])
                for name, found in inventories.items()}),
            labels=FrozenMapping({'power': name[-1]}),
            servers=len(self._placement.consumers(provider)),
            enabled=name not in self.down)


class KnownInstances(Instances):
    """Servers that the scenario says there are."""

    def __init__(self):
        self.views = {}

    def get(self, instance_uuid):
        return self.views.get(instance_uuid)

    def set(self, instance_uuid, status, host=None):
        self.views[instance_uuid] = InstanceView(instance_uuid, host, status)


class World(fixtures.Fixture):
    """Two racks of two hosts, each with room for two small servers."""

    def __init__(self, directory):
        super().__init__()
        self._directory = directory

    def setUp(self):
        super().setUp()
        self.now = datetime(2030, 1, 1, 12)
        self.conf = cfg.ConfigOpts()
        options.register_opts(self.conf)
        self.conf([])
        self.placement = self.useFixture(PlacementService())
        self.endpoint = self.placement.endpoint
        self.hosts = {name: self.placement.add_host(name, 2, 1024)
                      for name in RACKS}
        url = f'sqlite:///{self._directory}/table.sqlite'
        migration.upgrade(url)
        self.table = PlacementTable(url)
        self.holds = HoldClient(self.placement.adapter)
        self.inventory = RackInventory(self.placement, self.hosts)
        self.instances = KnownInstances()
        self.planner = self.planner_with(self.table, self.holds)
        self.lifecycle = self.lifecycle_with(self.table, self.holds)
        self.reconciler = Reconciler(
            self.conf, self.inventory, self.table, self.holds,
            self.instances, self.clock)

    def clock(self):
        return self.now

    def wait(self, seconds):
        self.now += timedelta(seconds=seconds)

    def wait_out_grace(self):
        self.wait(self.conf.reconciler.grace + 1)

    def mend(self):
        """Passes of the reconciler until nothing is waited for."""
        self.reconciler.reconcile()
        self.wait_out_grace()
        self.reconciler.reconcile()
        self.wait_out_grace()
        self.reconciler.reconcile()

    def planner_with(self, table, holds):
        return Planner(self.conf, self.inventory, table, holds, self.clock)

    def lifecycle_with(self, table, holds):
        return Lifecycle(self.conf, table, holds, self.clock)

    def create(self, document=None, **arguments):
        return self.planner.create(
            document or shop(),
            **{'project_id': 'blue', 'user_id': 'ann', **arguments})

    def claim(self, group, path, instance=None):
        """A row handed to an instance, which has no room yet."""
        instance = instance or str(uuid.uuid4())
        return self.table.claim(group.uuid, path, instance, self.now)

    def build(self, group, path):
        """A server is created and becomes ACTIVE where it was planned."""
        row = self.claim(group, path)
        self.swap(row)
        self.instances.set(row.instance_uuid, 'ACTIVE', row.place.host)
        self.table.change_state(row.id, [MemberState.CLAIMED],
                                MemberState.BUILT, self.now, held=False)
        return row

    def swap(self, row):
        self.holds.swap(row, row.instance_uuid, 'blue', 'ann')

    def states(self, group):
        return {m.member.path: str(m.state)
                for m in self.table.members(group.uuid)}

    def vcpus_used(self):
        return sum(self.placement.used(provider)['VCPU']
                   for provider in self.hosts.values())

    def assert_lost_holds_nothing(self, group):
        for row in self.table.members(group.uuid):
            if row.state == MemberState.LOST:
                assert not row.held, row
                assert self.holds.exists(row.hold) is None, row

    def assert_agreement(self):
        """Each planned member has its hold, a built one its server's
        allocation, and nothing else is taken in Placement."""
        expected = 0
        for group in self.table.list_groups():
            for row in self.table.members(group.uuid):
                planned = row.state == MemberState.PLANNED
                built = row.state == MemberState.BUILT
                assert row.held == planned, row
                assert self.holds.has(row.hold, row) == planned, row
                if built:
                    assert self.holds.has(row.instance_uuid, row), row
                assert planned or built or row.state in (
                    MemberState.RELEASED, MemberState.LOST), row
                expected += planned + built
        assert self.vcpus_used() == expected

# SPDX-License-Identifier: Apache-2.0
"""What every world of the tests has: hosts, a placement table, holds."""

import abc
import uuid

from nova_holistic.holds.client import HoldClient
from nova_holistic.table.records import MemberState
from nova_holistic.table.store import OCCUPYING, PlacementTable
from tests.world import agreement
from tests.world.instances import KnownInstances
from tests.world.inventory import RackInventory

SMALL = {'VCPU': 1, 'MEMORY_MB': 512}


class BaseWorld(abc.ABC):
    """Hosts in racks, with room for as many small servers as VCPUs.

    :ivar placement: PlacementCalls
    :ivar endpoint: URL of that Placement
    :ivar hosts: UUID of each host's provider, by the host's name
    :ivar table_url: of a database with an empty placement table
    :ivar table: PlacementTable
    :ivar holds: HoldClient, on that Placement
    :ivar inventory: RackInventory, of the hosts
    :ivar instances: KnownInstances, at first none
    :ivar servers: UUIDs of instances that ``swap`` has given room
    """

    inventory_type = RackInventory

    def __init__(self, placement, table_url, racks, vcpus, name='{}'):
        """
        :param racks: the rack of each host, by the host's name
        :param vcpus: of each host, and as many times 512 MiB
        :param name: of a host's provider, as a format of the host's name
        """
        self.placement = placement
        self.endpoint = placement.endpoint
        added = placement.add_hosts(
            [name.format(host) for host in racks], vcpus, vcpus * 512)
        self.hosts = dict(zip(racks, added.values(), strict=True))
        self.table_url = table_url
        self.table = PlacementTable(table_url)
        self.holds = HoldClient(placement.adapter)
        self.inventory = self.inventory_type(placement, self.hosts, racks)
        self.instances = KnownInstances()
        self.servers = set()

    @abc.abstractmethod
    def clock(self):
        """The current time of the world, in naive UTC."""

    def claim(self, group, path, instance=None):
        """A row handed to an instance, which has no room yet."""
        instance = instance or str(uuid.uuid4())
        return self.table.claim(group.uuid, path, instance, self.clock())

    def swap(self, row):
        """The instance of a claimed row takes the room of its hold."""
        self.servers.add(row.instance_uuid)
        self.holds.swap(row, row.instance_uuid, 'blue', 'ann')

    def build(self, group, path):
        """A server is created and becomes ACTIVE where it was planned."""
        row = self.claim(group, path)
        self.swap(row)
        self.instances.set(row.instance_uuid, 'ACTIVE', row.place.host)
        self.table.change_state(row.id, [MemberState.CLAIMED],
                                MemberState.BUILT, self.clock(), held=False)
        return row

    def states(self, group):
        return {m.member.path: str(m.state)
                for m in self.table.members(group.uuid)}

    def hosts_in_use(self, group_uuid):
        """Host of each member that uses capacity, by the member's path."""
        return {m.member.path: m.place.host
                for m in self.table.members(group_uuid)
                if m.state in OCCUPYING}

    def providers(self):
        """UUIDs of all providers that tests of this world use."""
        return self.hosts.values()

    def rows(self):
        """The members of all groups."""
        return [row for group in self.table.list_groups()
                for row in self.table.members(group.uuid)]

    def vcpus_used(self):
        return sum(self.placement.used(provider)['VCPU']
                   for provider in self.hosts.values())

    def assert_agreement(self):
        agreement.assert_settled(self)

    def disagreements(self):
        """Sentences about what table and Placement do not agree on."""
        return agreement.disagreements(self)

    def assert_nothing_left(self):
        disagreements = self.disagreements()
        assert not disagreements, '\n'.join(disagreements)

    def assert_lost_holds_nothing(self, group):
        for row in self.table.members(group.uuid):
            if row.state == MemberState.LOST:
                assert not row.held, row
                assert self.holds.exists(row.hold) is None, row

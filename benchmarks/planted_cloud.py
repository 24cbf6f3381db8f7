# SPDX-License-Identifier: Apache-2.0
"""Nearly full clouds in which a plan was planted: members of many groups were
put on hosts so that all policies hold, and the hosts were filled around them.

So a plan exists, and little capacity remains for other plans. The remaining
capacity is in pieces, and on hosts that do not suit the groups: with CPUs but
no memory, in racks whose uplink is full, or empty next to a group that
requires exclusive hosts and needs more of them.
"""

from collections import Counter
import random

from planted_groups import PLANTS

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Host, Link, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements

CLASSES = ('VCPU', 'MEMORY_MB')
CAPACITY = (32, 96 * 1024)
FLAVORS = ((1, 2048), (2, 4096), (4, 8192), (1, 8192), (4, 4096))
PER_RACK = 8
ZONES = 3
FEEDS = 'ABCD'
HOSTS_PER_GROUP = 12
CLEARED = 0.1
"""Share of hosts without other servers that the plan does not need."""

_PIECES = (1, 2, 4, 8)
"""Room beyond the plan, in 32nds of a host."""


class PlantedCloud:
    """One cloud with a planted group.

    :ivar group: all the planted groups in one
    :ivar snapshot: the cloud without them
    :param utilisation: share of all resources in use once they are there
    :param groups: number of planted groups; by default one for each
        ``HOSTS_PER_GROUP`` hosts
    """

    def __init__(self, hosts, seed, utilisation, groups=None):
        self.chance = random.Random(seed)
        self.count = hosts
        self.racks = -(-hosts // PER_RACK)
        self._used = [[0, 0] for _ in range(hosts)]
        self._alone = set()
        self._load = Counter()
        self._leaves = []
        plants = list(PLANTS)
        self.chance.shuffle(plants)
        nested = []
        for number in range(groups or max(4, hosts // HOSTS_PER_GROUP)):
            plant = plants[number % len(plants)]
            name = f'{plant.__name__}{number}'
            nested.append(plant(self, name))
        self.group = Group('garden', (), tuple(
            g for g in nested if g.all_members()))
        free = self._free(utilisation)
        self.snapshot = Snapshot(
            ('az', 'rack', 'host'),
            tuple(self._host(h, free[h]) for h in range(hosts)),
            tuple(self._links(utilisation)))

    def planted(self):
        """Member path to host name: the plan that is known to exist."""
        where = {id(leaf): hosts for leaf, hosts in self._leaves}
        return {member.path: f'h{host:03d}'
                for scope in self.group.scopes() if id(scope.group) in where
                for member, host in zip(
                    scope.members, where[id(scope.group)], strict=True)}

    # Where hosts stand.

    def zone(self, host):
        return self.rack(host) * ZONES // self.racks

    def rack(self, host):
        return host // PER_RACK

    def feed(self, host):
        return host % len(FEEDS)

    def fast(self, host):
        return host % 3 == 0

    def with_disks(self, host):
        return host % 3 == 1

    # Methods for plants.

    def open(self, number, is_allowed=lambda host: True):
        """Up to this number of hosts with capacity for a plant that are not
        reserved for another one."""
        numbers = [
            h for h in range(self.count)
            if is_allowed(h) and h not in self._alone and all(
                used <= capacity // 2
                for used, capacity in zip(self._used[h], CAPACITY))]
        self.chance.shuffle(numbers)
        return numbers[:number]

    def untouched(self, number):
        """Reserve up to this number of hosts without members."""
        hosts = [h for h in self.open(self.count) if not any(self._used[h])]
        self._alone.update(hosts[:number])
        return hosts[:number]

    def some_rack(self):
        return self.chance.randrange(self.racks)

    def some_zone(self):
        return self.chance.randrange(ZONES)

    def leaf(self, name, where, *policies):
        """Members of one flavor on the hosts, under the policies."""
        flavor = self.chance.choice(FLAVORS)
        for host in where:
            for resource, amount in enumerate(flavor):
                self._used[host][resource] += amount
        requirements = Requirements(FrozenMapping(zip(CLASSES, flavor)))
        leaf = Group(name, (MemberDescription(
            'node', requirements, len(where)),), (), policies)
        self._leaves.append((leaf, where))
        return leaf

    def talk(self, first, second, mbps):
        """Members on the first hosts exchange that with those on others."""
        for one in first:
            for other in second:
                if self.rack(one) != self.rack(other):
                    self._load[self.rack(one)] += mbps
                    self._load[self.rack(other)] += mbps

    # The remaining capacity.

    def _free(self, utilisation):
        """[host][resource]: for the plan, and beyond it."""
        free = [list(used) for used in self._used]
        hosts = [h for h in range(self.count) if h not in self._alone]
        for resource, capacity in enumerate(CAPACITY):
            left = round((1 - utilisation) * capacity * self.count)
            while left > 0:
                host = self.chance.choice(hosts)
                piece = min(left, capacity - free[host][resource],
                            self.chance.choice(_PIECES) * capacity // 32)
                free[host][resource] += piece
                left -= piece
        return free

    def _links(self, utilisation):
        """Uplinks that carry the plan, and are then in use to the share."""
        for rack in range(self.racks):
            free = round(self._load[rack] / utilisation)
            used = self.chance.randrange(0, 1000)
            yield Link((f'az{self.zone(rack * PER_RACK)}', f'r{rack}'),
                       free + used, used)

    def _host(self, number, free):
        clear = number in self._alone or self.chance.random() < CLEARED
        name = f'h{number:03d}'
        return Host(
            name=name, node=name, uuid='',
            location=(f'az{self.zone(number)}', f'r{self.rack(number)}'),
            inventories=FrozenMapping({
                resource: self._inventory(capacity, left, clear)
                for resource, capacity, left in zip(
                    CLASSES, CAPACITY, free)}),
            traits=frozenset(
                {'CUSTOM_FAST'} if self.fast(number) else ()),
            aggregates=frozenset(
                {'ssd'} if self.with_disks(number) else ()),
            availability_zone=f'az{self.zone(number)}',
            labels=FrozenMapping(
                {'power_feed': FEEDS[self.feed(number)]}),
            servers=0 if clear else 1)

    @staticmethod
    def _inventory(capacity, free, clear):
        """Capacity that is not free is reserved if the host has no servers."""
        return Inventory(capacity, reserved=capacity - free if clear else 0,
                         used=0 if clear else capacity - free)

# SPDX-License-Identifier: Apache-2.0
"""Nearly full clouds with devices in which a plan was planted: nodes with
eight GPUs in one rack, pinned servers in one rack, and pairs of servers with a
port on each of two switches. Around them, the hosts are filled.

The remaining capacity is in pieces: cards on hosts that do not have eight of
them, and processors and bandwidth on any hosts.
"""

from collections import Counter
import random

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.request_group import RequestGroup
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity

PER_RACK = 4
GPUS = 8
SWITCHES = ('red', 'blue')
BANDWIDTH = ('NET_BW_EGR_KILOBIT_PER_SEC', 'NET_BW_IGR_KILOBIT_PER_SEC')
CAPACITY = {'PCPU': 32, 'PGPU': GPUS, 'red': 10, 'blue': 10}
"""Of each host; bandwidth in units of a port."""
PINNED = (16, 12, 8, 4)
HOSTS_PER_GROUP = 4


class PlantedDevices:
    """One cloud with a planted group; as ``planted_cloud.PlantedCloud``.

    :ivar group: all the planted groups in one
    :ivar snapshot: the cloud without them
    """

    def __init__(self, hosts, seed, utilisation):
        self.chance = random.Random(seed)
        self.count = hosts
        self._used = [Counter() for _ in range(hosts)]
        self._where = {}
        kinds = [self._nodes, self._pinned, self._pairs]
        self.chance.shuffle(kinds)
        nested = [kinds[n % 3](f'{kinds[n % 3].__name__[1:]}{n}')
                  for n in range(max(3, hosts // HOSTS_PER_GROUP))]
        self.group = Group('garden', (), tuple(
            each for each in nested if each.all_members()))
        free = self._free(utilisation)
        self.snapshot = Snapshot(('rack', 'host'), tuple(
            _host(number, free[number]) for number in range(hosts)))

    def planted(self):
        """Member path to host name: the plan that is known to exist."""
        return {path: f'h{host:03d}' for path, host in self._where.items()}

    def _nodes(self, name):
        """Two or three nodes with all GPUs of their hosts, in one rack."""
        hosts = self._in_a_rack(lambda used: not used['PGPU'])
        return self._leaf(
            name, hosts[:self.chance.choice((2, 3))], [{'PGPU': GPUS}],
            Affinity(level='rack'))

    def _pinned(self, name):
        """Servers of different sizes that fill the hosts of a rack, the
        smallest first."""
        sizes = sorted(self.chance.choices(PINNED, k=6))
        where = []
        hosts = self._in_a_rack(lambda used: used['PCPU'] <= 4)
        room = {host: CAPACITY['PCPU'] - self._used[host]['PCPU']
                for host in hosts}
        kept = []
        for size in sorted(sizes, reverse=True):
            host = next((h for h in hosts if room[h] >= size), None)
            if host is not None:
                room[host] -= size
                where.insert(0, host)
                kept.insert(0, size)
        return self._leaf(name, where, [{'PCPU': each} for each in kept],
                          Affinity(level='rack'))

    def _pairs(self, name):
        """Pairs of servers in different racks, each with two ports."""
        hosts = [h for h in range(self.count)
                 if all(self._used[h][each] < 8 for each in SWITCHES)]
        self.chance.shuffle(hosts)
        groups = []
        for number in range(3):
            pair = hosts[:1] + [h for h in hosts if h // PER_RACK
                                != hosts[0] // PER_RACK][:1]
            hosts = [h for h in hosts if h not in pair]
            if len(pair) == 2:
                groups.append(self._leaf(
                    f'{number}', pair, [dict.fromkeys(SWITCHES, 4)],
                    AntiAffinity(level='rack'), prefix=f'{name}/'))
        return Group(name, (), tuple(groups))

    def _in_a_rack(self, is_free):
        """All such hosts of one rack."""
        racks = list(range(-(-self.count // PER_RACK)))
        self.chance.shuffle(racks)
        for rack in racks:
            hosts = [h for h in range(self.count) if h // PER_RACK == rack
                     and is_free(self._used[h])]
            if len(hosts) > 1:
                return hosts
        return []

    def _leaf(self, name, where, wanted, *policies, prefix=''):
        """Members on the hosts; they have one kind of demand, or one each."""
        members = []
        for number, host in enumerate(where):
            demand = wanted[number % len(wanted)]
            self._used[host].update(demand)
            members.append(MemberDescription(
                f'm{number}', _requirements(demand)))
            self._where[f'{prefix}{name}/m{number}'] = host
        return Group(name, tuple(members), (), policies)

    def _free(self, utilisation):
        """For each host: room for the plan, and pieces beyond it."""
        free = [Counter(each) for each in self._used]
        for name, capacity in CAPACITY.items():
            left = round((1 - utilisation) * capacity * self.count)
            while left > 0:
                host = self.chance.randrange(self.count)
                # A host without a planted node never has all its GPUs free.
                most = capacity - (name == 'PGPU'
                                   and not self._used[host][name])
                piece = min(left, self.chance.choice((1, 2, 3)),
                            most - free[host][name])
                free[host][name] += max(piece, 0)
                left -= max(piece, 1)
        return free


def _requirements(demand):
    root = {'VCPU': 1}
    groups = []
    for name, amount in demand.items():
        if name == 'PCPU':
            root[name] = amount
        elif name == 'PGPU':
            groups += [RequestGroup(f'gpu{n}', FrozenMapping({'PGPU': 1}))
                       for n in range(amount)]
        else:
            groups.append(RequestGroup(
                name, FrozenMapping(dict.fromkeys(BANDWIDTH, 1000 * amount)),
                frozenset([f'CUSTOM_PHYSNET_{name.upper()}'])))
    return Requirements(FrozenMapping(root), request_groups=tuple(groups))


def _host(number, free):
    name = f'h{number:03d}'
    cards = [NestedProvider(
        f'{name}-gpu{n}', f'{name}-gpu{n}', '', FrozenMapping({
            'PGPU': Inventory(1, used=int(n >= free['PGPU']))}))
        for n in range(GPUS)]
    ports = [NestedProvider(
        f'{name}-{switch}', f'{name}-{switch}', '', FrozenMapping({
            each: Inventory(1000 * CAPACITY[switch], used=1000 * (
                CAPACITY[switch] - free[switch])) for each in BANDWIDTH}),
        frozenset([f'CUSTOM_PHYSNET_{switch.upper()}']))
        for switch in SWITCHES]
    return Host(
        name=name, node=name, uuid='', location=(f'r{number // PER_RACK}',),
        inventories=FrozenMapping({
            'VCPU': Inventory(1000),
            'PCPU': Inventory(CAPACITY['PCPU'], used=CAPACITY['PCPU']
                              - free['PCPU'])}),
        providers=(*cards, *ports))

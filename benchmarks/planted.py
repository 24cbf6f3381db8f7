# SPDX-License-Identifier: Apache-2.0
"""Nearly full clouds in which a plan was planted: how often it, or another, is
found; jointly, and one server at a time with the same filters and weighers.
"""

import argparse
import random
import time

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.inventory import Inventory
from nova_holistic.model.member import MemberDescription
from nova_holistic.model.plan import Plan
from nova_holistic.model.requirements import Requirements
from nova_holistic.model.snapshot import Host, Snapshot
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.aggregates import Aggregates
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.availability_zone import AvailabilityZone
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.location import Location
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.policies.spread import Spread
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.check import check
from nova_holistic.solver.solve import solve

SIZES = (1, 2, 4)
CAPACITY = 32
PER_RACK = 8
ZONES = 3
TEMPTING = 0.15
"""Share of hosts with room that the planted plan does not need."""


class Garden:
    """One cloud with a planted group."""

    def __init__(self, hosts, seed):
        self.chance = random.Random(seed)
        self.count = hosts
        self.racks = -(-hosts // PER_RACK)
        self.asked = [0] * hosts
        self.taken = set()
        leaves = []
        for number in range(max(3, hosts // 12)):
            kind = self.KINDS[number % len(self.KINDS)]
            leaves.append(kind(self, f'{kind.__name__[1:]}{number}'))
        apart = [g.name for g in leaves if g.name.startswith('anti')][:2]
        self.group = Group('garden', (), tuple(leaves), (), tuple(
            [RelationshipAntiAffinity(level='host', between=tuple(apart))]
            if len(apart) == 2 and not self._shared(apart) else ()))
        self.snapshot = Snapshot(
            ('az', 'rack', 'host'), tuple(map(self._host, range(hosts))))

    def zone(self, host):
        return host // PER_RACK * ZONES // self.racks

    def _leaf(self, name, where, *policies):
        """Members of one size on the hosts, with the policies."""
        size = self.chance.choice(SIZES)
        for host in where:
            self.asked[host] += size
        self.where = getattr(self, 'where', {}) | {name: set(where)}
        return Group(name, (MemberDescription(
            'node', Requirements(FrozenMapping({'VCPU': size})),
            len(where)),), (), policies)

    def _shared(self, names):
        first, second = (self.where[name] for name in names)
        return first & second

    def _open(self, hosts, number):
        """So many of the hosts that have room to plant in and are no one's
        alone."""
        found = [h for h in hosts if h not in self.taken
                 and self.asked[h] <= CAPACITY // 2]
        self.chance.shuffle(found)
        return found[:number]

    def _all(self):
        return range(self.count)

    def _anti(self, name):
        return self._leaf(name, self._open(self._all(), 6), AntiAffinity())

    def _near(self, name):
        rack = self.chance.randrange(self.racks)
        hosts = self._open([h for h in self._all()
                            if h // PER_RACK == rack], 3)
        return self._leaf(name, hosts * 2, Affinity(level='rack'))

    def _even(self, name):
        per_zone = [self._open([h for h in self._all()
                                if self.zone(h) == z], 2)
                    for z in range(ZONES)]
        number = min(map(len, per_zone))
        return self._leaf(
            name, [h for hosts in per_zone for h in hosts[:number]],
            Spread(level='az', max_skew=0))

    def _alone(self, name):
        empty = [h for h in self._all() if not self.asked[h]]
        hosts = self._open(empty, 2)
        self.taken.update(hosts)
        return self._leaf(name, hosts * 2, Exclusive())

    def _zonal(self, name):
        return self._leaf(name, self._open(
            [h for h in self._all() if self.zone(h) == 0], 3),
            Location(path=('az0',)))

    def _named(self, name):
        return self._leaf(name, self._open(
            [h for h in self._all() if self.zone(h) == 1], 3),
            AvailabilityZone(zone='az1'))

    def _fast(self, name):
        return self._leaf(name, self._open(self._all()[::3], 3),
                          Traits(has=frozenset({'CUSTOM_FAST'})))

    def _disks(self, name):
        return self._leaf(name, self._open(self._all()[1::3], 3),
                          Aggregates(names=frozenset({'ssd'})))

    KINDS = (_anti, _near, _even, _alone, _zonal, _named, _fast, _disks)

    def _host(self, number):
        left = self.chance.choice((0, 0, 0, 1))
        if self.chance.random() < TEMPTING and number not in self.taken:
            left = self.chance.choice((2, 4, 8))
        free = min(CAPACITY, self.asked[number] + left)
        alone = number in self.taken
        return Host(
            name=f'h{number:03d}', node=f'h{number:03d}', uuid='',
            location=(f'az{self.zone(number)}', f'r{number // PER_RACK}'),
            inventories=FrozenMapping({'VCPU': Inventory(
                CAPACITY, reserved=CAPACITY - free if alone else 0,
                used=0 if alone else CAPACITY - free)}),
            traits=frozenset({'CUSTOM_FAST'} if number % 3 == 0 else ()),
            aggregates=frozenset({'ssd'} if number % 3 == 1 else ()),
            availability_zone=f'az{self.zone(number)}',
            servers=0 if alone else 1)


def one_by_one(group, snapshot):
    """Whether every server finds a host when each is given the emptiest that
    its filters leave, in the document's order."""
    free = {h.name: h.inventories['VCPU'].free for h in snapshot.hosts}
    rules = [(rule, scope) for scope in group.scopes()
             for rule in scope.group.rules if rule.hard]
    where = {}
    for member in group.all_members():
        asked = member.requirements.resources['VCPU']
        mine = [(rule, scope) for rule, scope in rules
                if member in scope.members]
        for host in sorted(snapshot.hosts, key=lambda h: -free[h.name]):
            if free[host.name] < asked:
                return False
            where[member.path] = host
            if not any(rule.check(scope, where, snapshot).count
                       for rule, scope in mine):
                free[host.name] -= asked
                break
            del where[member.path]
        else:
            return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hosts', type=int, nargs='+',
                        default=[24, 60, 120, 240, 500])
    parser.add_argument('--seeds', type=int, default=40)
    parser.add_argument('--time-limit', type=float, default=10.0)
    arguments = parser.parse_args()
    print(f'{"hosts":>5} {"members":>7} {"seeds":>5} {"joint %":>8} '
          f'{"one by one %":>12} {"median s":>8} {"max s":>6}')
    for hosts in arguments.hosts:
        joint, single, seconds, members = 0, 0, [], 0
        for seed in range(arguments.seeds):
            garden = Garden(hosts, seed)
            members = max(members, len(garden.group.all_members()))
            started = time.perf_counter()
            answer = solve(garden.group, garden.snapshot,
                           time_limit=arguments.time_limit)
            seconds.append(time.perf_counter() - started)
            joint += isinstance(answer, Plan) and not check(
                garden.group, garden.snapshot, answer.hosts())
            single += one_by_one(garden.group, garden.snapshot)
        print(f'{hosts:>5} {members:>7} {arguments.seeds:>5} '
              f'{100 * joint / arguments.seeds:>8.1f} '
              f'{100 * single / arguments.seeds:>12.1f} '
              f'{sorted(seconds)[len(seconds) // 2]:>8.2f} '
              f'{max(seconds):>6.2f}', flush=True)


if __name__ == '__main__':
    main()

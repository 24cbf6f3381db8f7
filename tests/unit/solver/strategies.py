# SPDX-License-Identifier: Apache-2.0
"""Random groups and clouds, as documents: hard and weighted rules of every
type, at every level, in nested groups, on small heterogeneous clouds.

The generators use the interface of ``random.Random``. The first choice of each
list is the simplest, and rare features have the highest random numbers, so
that hypothesis shrinks a failure to a simple case.
"""

import copy
from dataclasses import dataclass, field, replace
import random
from typing import Any

from hypothesis import strategies as st

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.inventories.inventory import parse_inventory
from nova_holistic.policies import load_policy_types
from tests.unit.solver import random_rules

TYPES = load_policy_types()
TREE = ('az', 'rack', 'host')
OBJECTIVES = ('fewest-hosts', 'spread', 'stack', 'network')


@dataclass(frozen=True)
class Case:
    """A group on a cloud, with the hosts of its placed members.

    :ivar placed: path to host name of the placed members
    :ivar unknown: names of hosts of which only the zone is known; documents
        cannot express this
    """

    group: dict[str, Any]
    inventory: dict[str, Any]
    placed: dict[str, str] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()

    def read(self):
        """Return group and snapshot, as the parsers build them."""
        snapshot = parse_inventory(self.inventory)
        return parse_group(self.group, TYPES), replace(
            snapshot, hosts=tuple(
                replace(h, location=h.location[:1])
                if h.name in self.unknown else h for h in snapshot.hosts))

    def copy(self):
        """Return a deep copy that may be modified."""
        return copy.deepcopy(self)


def cases(hosts=4, members=4):
    """Return a hypothesis strategy that draws random cases."""
    return st.randoms(use_true_random=False).map(
        lambda chance: random_case(chance, hosts, members))


def seeded(seed, hosts=4, members=4):
    """Return the case with this seed, which is the same on every machine."""
    return random_case(random.Random(seed), hosts, members)


def random_case(chance, hosts, members):
    """Return a random case.

    :param chance: source of randomness with the interface of ``random.Random``
    :param hosts: maximum number of hosts
    :param members: maximum number of members of all groups together
    """
    inventory = {
        'levels': list(TREE),
        'hosts': [_host(chance, n)
                  for n in range(chance.randint(1, hosts))]}
    levels = [*TREE, *sorted({
        label for host in inventory['hosts'] for label in host['labels']})]
    links = list(_links(chance, inventory['hosts']))
    if links:
        inventory['links'] = links
    group = _Groups(chance, levels, members).group('shop', 3)
    paths = [m.path for m in parse_group(group, TYPES).all_members()]
    names = [host['name'] for host in inventory['hosts']]
    return Case(
        group, inventory,
        {path: chance.choice(names) for path in paths
         if chance.random() > 0.93},
        frozenset(n for n in names if chance.random() > 0.97))


def _host(chance, number):
    resources = {'VCPU': _amounts(chance)}
    if chance.random() < 0.9:
        resources['MEMORY_MB'] = _amounts(chance)
    return {
        'name': f'h{number}',
        'location': [chance.choice(('az1', 'az1', 'az2')),
                     chance.choice(('r1', 'r2', 'r3'))],
        'resources': resources,
        'traits': [t for t in 'TU' if chance.random() < 0.7],
        'aggregates': [a for a in ('ssd', 'fast') if chance.random() < 0.8],
        'labels': {label: chance.choice(values) for label, values in (
            ('feed', 'AB'), ('power', 'PQ')) if chance.random() < 0.9},
        'servers': chance.choice((0, 0, 0, 0, 1)),
        'enabled': chance.random() < 0.93,
    }


def _amounts(chance):
    found = {'total': chance.choice((8, 8, 6, 5, 4, 3))}
    if chance.random() > 0.6:
        found['used'] = chance.choice((1, 2, 6))
    if chance.random() > 0.8:
        found['reserved'] = 1
    if chance.random() > 0.8:
        found['allocation_ratio'] = chance.choice((2.0, 1.5, 0.9))
    if chance.random() > 0.9:
        found.update(chance.choice((
            {'min_unit': 2}, {'max_unit': 2}, {'step_size': 2})))
    return found


def _links(chance, hosts):
    if chance.random() < 0.4:
        return
    vertices = {(*host['location'], host['name'])[:depth]
                for host in hosts for depth in (1, 2, 3)}
    for path in sorted(vertices):
        if chance.random() < 0.7:
            yield {'domain': '/'.join(path),
                   'uplink_mbps': 100 * chance.choice((8, 6, 4, 3, 2, 1, 0)),
                   'used_mbps': chance.choice((0, 0, 50, 200))}


class _Groups:
    """A generator of nested groups that distributes a number of members."""

    def __init__(self, chance, levels, members):
        self.chance = chance
        self.levels = levels
        self.left = members

    def group(self, name, depth):
        chance = self.chance
        document = {'name': name, 'members': [self._description('web')]}
        for other in ('node', 'node-x'):
            if self.left and chance.random() > 0.5:
                document['members'].append(self._description(other))
        nested = []
        while depth > 1 and self.left and chance.random() > 0.5:
            nested.append(self.group(f'part{len(nested)}', depth - 1))
        if nested:
            document['groups'] = nested
            if chance.random() > 0.7:
                # A group that has nested groups and no direct members.
                self.left += document['members'][0].get('count', 1)
                del document['members'][0]
        document['policies'] = [
            random_rules.policy(chance, self.levels)
            for _ in range(chance.choice((0, 0, 1, 1, 2)))]
        sides = random_rules.sides(document)
        document['relationships'] = [
            random_rules.relationship(chance, self.levels, sides)
            for _ in range(chance.choice((0, 0, 1, 2)) if sides else 0)]
        return document

    def _description(self, name):
        chance = self.chance
        document = {'name': name, 'resources': {
            'VCPU': chance.choice((1, 1, 1, 2, 3))}}
        if chance.random() > 0.5:
            document['resources']['MEMORY_MB'] = chance.choice((1, 2, 4))
        if chance.random() > 0.8:
            document.update(chance.choice((
                {'traits': {'required': ['T']}},
                {'traits': {'forbidden': ['U']}},
                {'aggregates': ['ssd']}, {'availability_zone': 'az1'},
                {'location': 'az1'}, {'location': 'az1/r1'})))
        count = chance.randint(0, self.left)
        if count:
            document['count'] = count
        self.left -= max(count, 1)
        return document

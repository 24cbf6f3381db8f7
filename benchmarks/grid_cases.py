# SPDX-License-Identifier: Apache-2.0
"""Cases of the grid: clouds and groups of many sizes and shapes.

Each family makes a group and a snapshot from a point of the grid. Where a plan
was planted, the case has it: such a group can be placed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
import math
import random

from clouds import cloud
from groups import chatty_shop, related_shop, shop
from planted_cloud import PlantedCloud

from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.spread import Spread

OBJECTIVES = ('spread', 'stack', 'fewest-hosts', 'network')
HOSTS = (100, 50_000)
RACKS = (30, 2_000)
MEMBERS = (10, 5_000)
UTILISATION = (60, 97)
PLANTED_HOSTS = (24, 500)
"""Hosts of clouds in which every host is full but for the planted plan and
a few pieces: from the smallest to the largest that ``planted.py`` measures."""

MEMBERS_PER_HOST = 0.5
"""Members that a cloud of the grid has room for, at 97 % as well."""

MEMBERS_PER_PLANT = 5
"""Members of a planted group, on average."""


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the grid.

    :ivar utilisation: of the cloud, in percent
    """

    family: str
    hosts: int
    racks: int
    members: int
    utilisation: int
    objective: str
    seed: int


@dataclass(frozen=True, slots=True)
class Case:
    """What is planned.

    :ivar planted: member path to host name; None where no plan is known
    """

    group: Group
    snapshot: Snapshot
    planted: Mapping[str, str] | None = None


def plain(point):
    return _in_use(point, shop)


def related(point):
    return _in_use(point, related_shop)


def network(point):
    return _in_use(point, chatty_shop)


def mixed(point):
    """Every policy and relationship, on a cloud with further capacity."""
    planted_cloud = PlantedCloud(point.hosts, point.seed,
                                 point.utilisation / 100,
                                 max(2, point.members // MEMBERS_PER_PLANT))
    return Case(planted_cloud.group, planted_cloud.snapshot,
                planted_cloud.planted())


def planted(point):
    """The same groups, and as many of them as the cloud has room for."""
    planted_cloud = PlantedCloud(point.hosts, point.seed,
                                 point.utilisation / 100)
    return Case(planted_cloud.group, planted_cloud.snapshot,
                planted_cloud.planted())


def different(point):
    """All members have different requirements."""
    chance = random.Random(point.seed)
    sizes = {(chance.randint(1, 8), chance.randrange(512, 32768))
             for _ in range(point.members)}
    return Case(Group('shop', tuple(
        MemberDescription(f'm{number}', Requirements(FrozenMapping({
            'VCPU': vcpus, 'MEMORY_MB': memory, 'DISK_GB': 20})))
        for number, (vcpus, memory) in enumerate(sorted(sizes))), (), (
            AntiAffinity(max_per_domain=4), Spread(level='az', max_skew=4))),
        _cloud(point))


FAMILIES = {each.__name__: each for each in (
    plain, related, network, mixed, planted, different)}


def _in_use(point, make):
    return Case(make(point.members), _cloud(point))


def _cloud(point):
    return cloud(point.hosts, point.utilisation / 100, point.seed,
                 hosts_per_rack=-(-point.hosts // point.racks))


def case(point):
    return FAMILIES[point.family](point)


def points(number, seed, families, most_hosts=HOSTS[1],
           most_members=MEMBERS[1]):
    """Points that are drawn from the whole grid, sizes by their logarithm.

    :param number: of points of each family
    """
    for family in families:
        chance = random.Random(f'{seed} {family}')
        for index in range(number):
            yield _point(family, chance, OBJECTIVES[index % 4],
                         (most_hosts, most_members), 1000 * seed + index)


def _point(family, chance, objective, most, seed):
    """:param most: maximum number of hosts, and of members"""
    most_hosts, most_members = most
    full = chance.randint(*UTILISATION)
    if family == 'planted':
        hosts = _between(chance, *PLANTED_HOSTS)
        return Point(family, hosts, 0, 0, chance.randint(90, 97), objective,
                     seed)
    hosts = _between(chance, HOSTS[0], most_hosts)
    racks = _between(chance, min(RACKS[0], hosts // 2),
                     min(RACKS[1], hosts // 2))
    members = _between(chance, MEMBERS[0], min(
        most_members, int(hosts * MEMBERS_PER_HOST * (100 - full) / 20)))
    return Point(family, hosts, racks, members, full, objective, seed)


def _between(chance, least, most):
    most = max(least, most)
    return round(math.exp(chance.uniform(math.log(least), math.log(most))))


KNOWN = (
    *(Point('network', hosts, hosts // 40, 300, 75, 'network', 0)
      for hosts in (2_000, 2_400, 2_800)),
    *(Point('related', 2_000, 50, 300, 90, objective, 0)
      for objective in OBJECTIVES[:3]),
    *(Point('mixed', hosts, 0, 81, 75, 'spread', 0)
      for hosts in (1_000, 10_000)),
    *(Point('plain', 1_000, 25, 100, 90, objective, 0)
      for objective in OBJECTIVES[:3]),
    Point('plain', 1_400, 35, 150, 90, 'fewest-hosts', 0),
    *(Point('planted', hosts, 0, 0, full, 'spread', 0)
      for hosts in (120, 300, 500) for full in (95, 97)),
    Point('different', 1_000, 25, 100, 75, 'fewest-hosts', 0))
"""Points at which an earlier solver was weak."""

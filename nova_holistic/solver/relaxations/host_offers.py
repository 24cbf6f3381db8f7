# SPDX-License-Identifier: Apache-2.0
"""A snapshot with additional empty hosts that a plan may use at a cost of one
per host.

Hosts are offered next to existing hosts: for each distinct combination of
location, availability zone, set of aggregates and set of labels. They are also
offered in new domains, below every existing domain and at the top, for each
distinct combination of zone, aggregates and labels of the hosts below there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
import itertools
from typing import ClassVar

from pulp import LpAffineExpression

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import Member
from nova_holistic.model.objective import HostEncoder, Objective
from nova_holistic.model.policy import Expression
from nova_holistic.model.storage_pools import POOL
from nova_holistic.solver.check import fits
from nova_holistic.solver.limits.current import problem as limits
from nova_holistic.solver.problem.deadline import InTime

_ZONE_LEVEL = 'az'

Place = tuple[Host, tuple[str, ...]]
"""An existing host whose availability zone, aggregates and labels a new host
has, and the location of the new host. In a new zone, a new host has this
zone."""


@dataclass(frozen=True)
class NewHosts(Objective):
    """The number of distinct offered hosts that hold members.

    :ivar offered: names of the hosts
    """

    name: ClassVar[str] = 'new-hosts'
    integral: ClassVar[bool] = True

    offered: frozenset[str]

    def value(self, members: Sequence[Member], placement: Mapping[str, Host],
              placed: Mapping[str, str], snapshot: Snapshot) -> float:
        return float(len(self.offered.intersection(
            placement[member.path].name for member in members)))

    def encode(self, encoder: HostEncoder) -> Expression:
        total = LpAffineExpression()
        for host in encoder.hosts():
            if host.name in self.offered:
                total += encoder.host_used(host)
        return total


def next_to_hosts(snapshot: Snapshot, each: int) -> Iterator[Place]:
    """Places next to existing hosts.

    :param each: number of places next to each kind of existing place
    """
    places: dict[tuple, Host] = {}
    for host in snapshot.hosts:
        if host.enabled:
            places.setdefault((host.location, host.availability_zone,
                               host.aggregates, host.labels), host)
    return ((near, near.location) for near in places.values()
            for _ in range(each))


def in_new_domains(snapshot: Snapshot, each: int) -> Iterator[Place]:
    """Places in new domains, below every existing domain and at the top.

    :param each: number of new domains below each domain, and of places in
        each new domain of the lowest level
    """
    depth = len(snapshot.levels) - 1
    # A new domain may need hosts with the aggregates and labels of any host
    # below its parent, not only those of one of them.
    parents: dict[tuple, Place] = {}
    for host in snapshot.hosts:
        if host.enabled and len(host.location) == depth:
            for length in range(depth):
                parent = host.location[:length]
                unnamed = (*parent, *[''] * (depth - length))
                parents.setdefault((
                    parent, _zone(host, unnamed, snapshot), host.aggregates,
                    host.labels), (host, parent))
    names = _unused((name for host in snapshot.hosts
                     for name in host.location), each)
    return ((near, (*parent, *below)) for near, parent in parents.values()
            for below in itertools.product(names, repeat=depth - len(parent))
            for _ in range(each))


def anywhere(snapshot: Snapshot, each: int) -> Iterator[Place]:
    """Places next to existing hosts and in new domains."""
    return itertools.chain(next_to_hosts(snapshot, each),
                           in_new_domains(snapshot, each))


@dataclass(frozen=True, slots=True)
class Offer:
    """An empty host that a plan may use.

    :ivar template_host: name of the existing host whose availability zone,
        aggregates and labels the new host has
    """

    host: Host
    template_host: str


def offers(group: Group, snapshot: Snapshot, kind: Host,
           places: Iterator[Place], in_time: InTime) -> list[Offer] | None:
    """New hosts of a kind, at those places at which a member could be placed.

    :param group: a group with resolved resources
    :param kind: an empty host
    :returns: the offers; None if their number exceeds the limit
        ``part_hosts``
    """
    representatives = {member.requirements: member
                       for member in group.all_members()}
    found: list[Offer] = []
    for near, location in places:
        in_time()
        host = replace(
            kind, name='new', node='new', uuid='', location=location,
            # Storage pools are in no host aggregate.
            aggregates=(frozenset() if POOL in kind.traits
                        else near.aggregates), labels=near.labels,
            availability_zone=_zone(near, location, snapshot))
        if all(rule.admits(host) for rule in group.rules) and any(
                fits(member, host) for member in representatives.values()):
            if len(found) == limits().part_hosts:
                return None
            found.append(Offer(host, near.name))
    names = _unused((host.name for host in snapshot.hosts), len(found))
    return [replace(each, host=replace(each.host, name=name, node=name))
            for name, each in zip(names, found)]


def _zone(near: Host, location: tuple[str, ...],
          snapshot: Snapshot) -> str | None:
    """The availability zone of a new host: a new domain of the level ``az`` is
    a new zone. Otherwise, it is the zone of the existing host.

    :param near: the existing host
    :param location: the location of the new host
    """
    if _ZONE_LEVEL in snapshot.levels:
        number = snapshot.levels.index(_ZONE_LEVEL)
        zone = location[number:number + 1]
        if zone and zone != near.location[number:number + 1]:
            return zone[0]
    return near.availability_zone


def with_offers(snapshot: Snapshot, found: Sequence[Offer]) -> Snapshot:
    """The snapshot with these additional hosts."""
    # The lineage is copied, so that the results for these hosts do not replace
    # the cached results of the original snapshot.
    hosts = (*snapshot.hosts, *(each.host for each in found))
    return replace(snapshot, hosts=hosts, lineage=dict(snapshot.lineage))


def _unused(taken: Iterable[str], number: int) -> list[str]:
    """Unused names, in a deterministic order."""
    known = frozenset(taken)
    return list(itertools.islice(
        (name for name in (f'new-{n}' for n in itertools.count(1))
         if name not in known), number))

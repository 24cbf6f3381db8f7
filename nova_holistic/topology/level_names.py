# SPDX-License-Identifier: Apache-2.0
"""At each level, a host has at most one name."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from nova_holistic.topology.base import Aggregate
from nova_holistic.topology.errors import AmbiguousLocation

ZONE_KEY = 'availability_zone'
"""Metadata key by which Nova makes an aggregate an availability zone."""


@dataclass(frozen=True, slots=True)
class HostNames:
    """The names of the domains of hosts at one level.

    :ivar names: by host; without the hosts in ``ambiguous``
    :ivar ambiguous: for each host with several names, why it has none
    """

    names: Mapping[str, str]
    ambiguous: Mapping[str, AmbiguousLocation]


def name_hosts(level: str, key: str,
               aggregates: Collection[Aggregate]) -> HostNames:
    """The name of the domain of each host at a level, from the metadata of
    aggregates.

    :param key: key of the metadata; an aggregate without it is ignored
    """
    said_by: dict[str, tuple[str, str]] = {}
    ambiguous: dict[str, AmbiguousLocation] = {}
    for aggregate in aggregates:
        name = aggregate.metadata.get(key)
        if not name:
            continue
        for host in aggregate.hosts:
            before = said_by.setdefault(host, (aggregate.name, name))
            if before[1] != name:
                ambiguous.setdefault(host, AmbiguousLocation(
                    host, level, before, (aggregate.name, name)))
    return HostNames({host: name for host, (_, name) in said_by.items()
                      if host not in ambiguous}, ambiguous)


def name_zones(level: str,
               aggregates: Collection[Aggregate]) -> Mapping[str, str]:
    """The availability zone of each host that is in one.

    :param level: name of the zones in the error
    :raises AmbiguousLocation: a host is in two zones, which Nova's API does
        not permit: Nova would use one of them
    """
    found = name_hosts(level, ZONE_KEY, aggregates)
    for error in found.ambiguous.values():
        raise error
    return found.names

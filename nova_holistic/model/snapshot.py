# SPDX-License-Identifier: Apache-2.0
"""An immutable picture of the cloud at one time."""

from collections.abc import Mapping
from dataclasses import dataclass

from nova_holistic.model.domain import HOST, Domain
from nova_holistic.model.flavor import Flavor
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.inventory import Inventory


@dataclass(frozen=True, slots=True)
class Host:
    """A compute host: one resource provider, at one place in the topology.

    :ivar name: Nova's compute host, unique in a snapshot
    :ivar node: hypervisor host name
    :ivar uuid: of the resource provider (and compute node); '' in a bare file
    :ivar location: one name for each level above host, coarse to fine
    :ivar labels: levels outside the tree, e.g. ``power_feed: A``
    :ivar servers: number of servers already there
    """

    name: str
    node: str
    uuid: str
    location: tuple[str, ...]
    inventories: FrozenMapping[str, Inventory]
    traits: frozenset[str] = frozenset()
    aggregates: frozenset[str] = frozenset()
    availability_zone: str | None = None
    labels: FrozenMapping[str, str] = FrozenMapping()
    servers: int = 0
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Link:
    """The uplink of a domain, in Mbit/s."""

    domain: tuple[str, ...]
    uplink_mbps: int
    used_mbps: int = 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Hosts, their capacity and use, and the topology they stand in.

    :ivar levels: of the tree, coarse to fine; the last is always ``host``
    :ivar flavors: by name and by id
    """

    levels: tuple[str, ...]
    hosts: tuple[Host, ...]
    links: tuple[Link, ...] = ()
    flavors: Mapping[str, Flavor] = FrozenMapping()

    def all_levels(self) -> frozenset[str]:
        """Levels a policy may name: those of the tree, and label keys."""
        labels = {label for host in self.hosts for label in host.labels}
        return frozenset(self.levels) | labels

    def domain(self, host: Host, level: str) -> Domain | None:
        """The domain of ``level`` that holds the host.

        None where the host is in no such domain: it lacks the label, or its
        location is not known down to that level.
        """
        if level == HOST:
            return Domain(level, host.location + (host.name,))
        if level in self.levels:
            depth = self.levels.index(level) + 1
            known = len(host.location) >= depth and all(host.location[:depth])
            return Domain(level, host.location[:depth]) if known else None
        value = host.labels.get(level)
        return None if value is None else Domain(level, (value,))

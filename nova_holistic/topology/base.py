# SPDX-License-Identifier: Apache-2.0
"""The interface of topology drivers."""

import abc
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from nova_holistic.model.cloud.snapshot import Link
from nova_holistic.model.frozen import FrozenMapping


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A host aggregate of Nova."""

    name: str
    uuid: str
    hosts: frozenset[str]
    metadata: FrozenMapping[str, str] = FrozenMapping()


@dataclass(frozen=True, slots=True)
class Location:
    """The location of a host.

    :ivar path: one name for each level above host, coarse to fine; it ends
        before the first level whose name is unknown
    """

    path: tuple[str, ...]
    labels: FrozenMapping[str, str] = FrozenMapping()
    availability_zone: str | None = None


class TopologyDriver(abc.ABC):
    """Returns the locations of hosts: one file, one entry point in
    ``nova_holistic.topology``.

    :ivar levels: of the tree, coarse to fine; the last is always ``host``
    :ivar links: uplinks of domains, for ``bandwidth``; empty if the driver
        knows no uplinks, which then have no limits
    """

    levels: tuple[str, ...]
    links: tuple[Link, ...] = ()

    @classmethod
    @abc.abstractmethod
    def from_conf(cls, conf) -> 'TopologyDriver':
        """Create a driver from the options in [topology]."""

    @abc.abstractmethod
    def locate(self, hosts: Collection[str],
               aggregates: Collection[Aggregate]) -> Mapping[str, Location]:
        """Location of each of the hosts, by name.

        :raises HolisticError: a host is in two availability zones
        """

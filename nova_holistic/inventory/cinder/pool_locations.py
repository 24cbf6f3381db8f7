# SPDX-License-Identifier: Apache-2.0
"""The locations of storage pools."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.topology.aggregates import ZONE
from nova_holistic.topology.base import Location, TopologyDriver

Locate = Callable[[str, str], Location]
"""(name of a pool, availability zone of its service) to its location."""


def pool_locations(snapshot: Snapshot, topology: TopologyDriver) -> Locate:
    """A function that returns the location of a pool ``host@backend#pool``.

    It tries this name, then ``host@backend``, then ``host``. The first name
    that is a compute host, or that the topology knows, determines the
    location. If there is no such name, only the availability zone of Cinder's
    service is known.

    :param snapshot: snapshot with the compute hosts
    """
    hosts = {host.name: Location(host.location, host.labels)
             for host in snapshot.hosts}
    levels = snapshot.levels
    located_by_topology = topology.levels == levels

    def locate(name: str, zone: str) -> Location:
        for candidate in _names(name):
            found = hosts.get(candidate)
            if found is None and located_by_topology:
                found = _known(topology, candidate)
            if found is not None:
                return replace(found, availability_zone=zone)
        path = (zone,) if levels[0] == ZONE and len(levels) > 1 else ()
        return Location(path, availability_zone=zone)

    return locate


def _names(pool: str) -> Sequence[str]:
    backend = pool.partition('#')[0]
    return pool, backend, backend.partition('@')[0]


def _known(topology: TopologyDriver, name: str) -> Location | None:
    """The location of a name, if the topology has one in addition to the
    default availability zone."""
    found = topology.locate({name}, ())[name]
    beyond = found.path[1:] if topology.levels[0] == ZONE else found.path
    return found if beyond or found.labels else None

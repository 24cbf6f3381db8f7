# SPDX-License-Identifier: Apache-2.0
"""Nova's hosts at their places in the topology."""

from collections.abc import Collection, Iterable
from dataclasses import replace
import functools

from nova import objects

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.snapshot import Host
from nova_holistic.table.records import GroupRecord, MemberRecord, Place
from nova_holistic.topology.base import (
    Aggregate, Location, TopologyDriver)


@functools.lru_cache(maxsize=16_384)
def remembered(place: Place) -> Host:
    """A host where it stood when the group was planned."""
    return _host(place.host, place.location, dict(place.labels))


def located(topology: TopologyDriver, name: str,
            aggregates: 'Iterable[objects.Aggregate]') -> Host:
    """A host where it stands now.

    :param aggregates: those that hold the host
    :raises HolisticError: they contradict each other
    """
    aggregates = list(aggregates)
    # The other hosts of an aggregate say nothing of where this one stands.
    location = topology.locate([name], [
        Aggregate(a.name, a.uuid, frozenset([name]), FrozenMapping(a.metadata))
        for a in aggregates])[name]
    return replace(
        at(name, location), availability_zone=location.availability_zone,
        aggregates=frozenset(key for a in aggregates
                             for key in (a.name, a.uuid)))


def looked_up(topology: TopologyDriver, context, name: str) -> Host:
    """A host where it stands now, its aggregates read from Nova's database."""
    return located(
        topology, name, objects.AggregateList.get_by_host(context, name))


def at(name: str, location: Location) -> Host:
    """A host at a location that a topology driver gave."""
    return _host(name, location.path, location.labels)


def of_state(topology: TopologyDriver, state,
             own: Collection[str] = ()) -> Host:
    """A candidate of Nova's where it stands now, with the servers that the
    scheduler remembers there: good enough for a preference.

    :param state: nova.scheduler.host_manager.HostState
    :param own: UUIDs of instances that do not count
    :raises HolisticError: its aggregates contradict each other
    """
    return replace(located(topology, state.host, state.aggregates),
                   servers=len(set(state.instances or ()).difference(own)))


def of_member(topology: TopologyDriver, context, record: GroupRecord,
              row: MemberRecord, name: str) -> Host:
    """The host that a member is really on.

    It costs a query where that is another one than the table says.
    """
    if row.place.host == name and record.levels == topology.levels:
        return remembered(row.place)
    return looked_up(topology, context, name)


def _host(name, location, labels) -> Host:
    return Host(name=name, node=name, uuid='', location=tuple(location),
                inventories=FrozenMapping(), labels=FrozenMapping(labels))

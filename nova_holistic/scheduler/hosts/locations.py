# SPDX-License-Identifier: Apache-2.0
"""The locations of Nova's hosts in the topology."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections import defaultdict
from dataclasses import replace
import functools

from nova.db.api import api as api_database
from nova.db.api import models as api_models
from nova import objects
import sqlalchemy as sa

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.scheduler import request_memory
from nova_holistic.table.batches import batches
from nova_holistic.table.records import Place
from nova_holistic.topology.base import (
    Aggregate, Location, TopologyDriver)


@functools.lru_cache(maxsize=16_384)
def planned_host(place: Place) -> Host:
    """The host of a place, at its location when the group was planned."""
    return _host(place.host, place.location, dict(place.labels))


def locate_host(topology: TopologyDriver, name: str,
                aggregates: 'Iterable[objects.Aggregate]') -> Host:
    """A host at its current location.

    :param aggregates: Nova's aggregates that contain the host
    :raises HolisticError: its aggregates contradict each other
    """
    return _located(topology, name, [
        # The other hosts of an aggregate do not determine the location of this
        # host.
        Aggregate(a.name, a.uuid, frozenset([name]), FrozenMapping(a.metadata))
        for a in aggregates])


def locate_once(topology: TopologyDriver, name: str,
                aggregates: 'Iterable[objects.Aggregate]') -> Host:
    """A host at its current location, which ``locate_host`` determines once
    per request.

    :raises HolisticError: its aggregates contradict each other
    """
    known = request_memory.of_kind('locations')
    if known is None:
        return locate_host(topology, name, aggregates)
    if name not in known:
        known[name] = locate_host(topology, name, aggregates)
    return known[name]


def locate_hosts(topology: TopologyDriver, context,
                 names: Collection[str]) -> Mapping[str, Host]:
    """Hosts at their current locations, by name. Their aggregates are read
    from Nova's API database: two queries for ``batches.MAX_BATCH_SIZE`` hosts.

    :raises HolisticError: the aggregates of a host contradict each other
    """
    aggregates = _aggregates(context, names) if names else {}
    return {name: _located(topology, name, [
        Aggregate(each.name, each.uuid, frozenset([name]), metadata)
        for each, metadata in aggregates.get(name, ())]) for name in names}


def _located(topology: TopologyDriver, name: str,
             aggregates: Collection[Aggregate]) -> Host:
    location = topology.locate([name], aggregates)[name]
    return replace(
        host_at(name, location), availability_zone=location.availability_zone,
        aggregates=frozenset(key for a in aggregates
                             for key in (a.name, a.uuid)))


@api_database.context_manager.reader
def _aggregates(context, names: Collection[str]
                ) -> Mapping[str, Sequence[tuple[sa.Row, FrozenMapping]]]:
    """Rows of the aggregates that contain each host, with their metadata.
    Nova's own lists read all hosts of each aggregate, or the aggregates of one
    host only."""
    known, holds = api_models.Aggregate, api_models.AggregateHost
    more = api_models.AggregateMetadata
    found = [row for batch in batches(names)
             for row in context.session.execute(
                 sa.select(holds.host, known.id, known.name, known.uuid)
                 .join(known, known.id == holds.aggregate_id)
                 .where(holds.host.in_(batch)))]
    metadata: dict[int, dict[str, str]] = defaultdict(dict)
    for batch in batches({row.id for row in found}):
        for number, key, value in context.session.execute(
                sa.select(more.aggregate_id, more.key, more.value).where(
                    more.aggregate_id.in_(batch))):
            metadata[number][key] = value
    by_host: dict[str, list[tuple[sa.Row, FrozenMapping]]] = defaultdict(list)
    for row in found:
        by_host[row.host].append((row, FrozenMapping(metadata[row.id])))
    return by_host


def host_at(name: str, location: Location) -> Host:
    """A host at a location that a topology driver returned."""
    return _host(name, location.path, location.labels)


def of_state(topology: TopologyDriver, state,
             own: Collection[str] = ()) -> Host:
    """A candidate of Nova at its current location, with the number of servers
    that the scheduler has cached for it. This is exact enough for preferences.

    :param state: nova.scheduler.host_manager.HostState
    :param own: UUIDs of servers that do not count
    :raises HolisticError: its aggregates contradict each other
    """
    return replace(locate_host(topology, state.host, state.aggregates),
                   servers=len(set(state.instances or ()).difference(own)))


def _host(name, location, labels) -> Host:
    return Host(name=name, node=name, uuid='', location=tuple(location),
                inventories=FrozenMapping(), labels=FrozenMapping(labels))

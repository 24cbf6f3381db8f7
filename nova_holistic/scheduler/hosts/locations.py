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
from nova_holistic.scheduler.hosts.list_statement import IsIn, ListStatement
from nova_holistic.scheduler import request_memory
from nova_holistic.table.batches import batches, MAX_BATCH_SIZE
from nova_holistic.table.records import Place
from nova_holistic.topology.base import (
    Aggregate, Location, TopologyDriver)

_MEMBERSHIP = api_models.AggregateHost.__table__
_AGGREGATE = api_models.Aggregate.__table__
_METADATA = api_models.AggregateMetadata.__table__


def _aggregates_and_metadata(is_in: IsIn) -> sa.CompoundSelect:
    """Rows of two kinds: an aggregate of a host, and an item of the metadata
    of an aggregate, without a host. So the metadata are not repeated for each
    host of the aggregate."""
    of_hosts = sa.select(
        _MEMBERSHIP.c.host, _AGGREGATE.c.id, _AGGREGATE.c.name,
        _AGGREGATE.c.uuid, sa.null().label('key'), sa.null().label('value'),
    ).join_from(
        _MEMBERSHIP, _AGGREGATE, _AGGREGATE.c.id == _MEMBERSHIP.c.aggregate_id
    ).where(is_in(_MEMBERSHIP.c.host))
    items = sa.select(
        sa.null(), _METADATA.c.aggregate_id, sa.null(), sa.null(),
        _METADATA.c.key, _METADATA.c.value).where(
            _METADATA.c.aggregate_id.in_(sa.select(
                _MEMBERSHIP.c.aggregate_id).where(is_in(_MEMBERSHIP.c.host))))
    return sa.union_all(of_hosts, items)


_OF_HOSTS = ListStatement(_aggregates_and_metadata)


@functools.lru_cache(maxsize=16_384)
def planned_host(place: Place) -> Host:
    """The host of a place, at its location when the group was planned."""
    return _host(place.host, place.location, dict(place.labels))


def locate_host(topology: TopologyDriver, name: str,
                aggregates: 'Iterable[objects.Aggregate]') -> Host:
    """A host at its current location.

    :param aggregates: Nova's aggregates that contain the host
    :raises HolisticError: it is in two availability zones
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

    :raises HolisticError: it is in two availability zones
    """
    known = request_memory.of_kind('locations')
    if known is None:
        return locate_host(topology, name, aggregates)
    if name not in known:
        known[name] = locate_host(topology, name, aggregates)
    return known[name]


def locate_hosts(topology: TopologyDriver, names: Collection[str]
                 ) -> Mapping[str, Host]:
    """Hosts at their current locations, by name. The aggregates of each host
    are read from Nova's API database once per request: one statement for half
    of ``batches.MAX_BATCH_SIZE`` hosts.

    :raises HolisticError: a host is in two availability zones
    """
    known = request_memory.of_kind('current locations')
    if known is None:
        known = {}
    missing = [name for name in names if name not in known]
    if missing:
        aggregates = _aggregates(missing)
        known.update({name: _located(topology, name, aggregates.get(name, ()))
                      for name in missing})
    return {name: known[name] for name in names}


def _located(topology: TopologyDriver, name: str,
             aggregates: Collection[Aggregate]) -> Host:
    location = topology.locate([name], aggregates)[name]
    return replace(
        host_at(name, location), availability_zone=location.availability_zone,
        aggregates=frozenset(key for a in aggregates
                             for key in (a.name, a.uuid)))


def _aggregates(names: Collection[str]) -> Mapping[str, Sequence[Aggregate]]:
    """The aggregates of each host. Nova's own lists read all hosts of each
    aggregate, or the aggregates of one host only."""
    # A session, or a transaction context of enginefacade, would add half the
    # time of a statement.
    with api_database.context_manager.reader.get_engine().connect() as link:
        # The statement contains each name twice.
        rows = [row for batch in batches(names, MAX_BATCH_SIZE // 2)
                for row in _OF_HOSTS.rows(link, batch)]
    metadata: dict[int, dict[str, str]] = defaultdict(dict)
    for row in rows:
        if row.host is None:
            metadata[row.id][row.key] = row.value
    by_host: dict[str, list[Aggregate]] = defaultdict(list)
    for row in rows:
        if row.host is not None:
            by_host[row.host].append(Aggregate(
                row.name, row.uuid, frozenset([row.host]),
                FrozenMapping(metadata[row.id])))
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
    :raises HolisticError: it is in two availability zones
    """
    return replace(locate_host(topology, state.host, state.aggregates),
                   servers=len(set(state.instances or ()).difference(own)))


def _host(name, location, labels) -> Host:
    return Host(name=name, node=name, uuid='', location=tuple(location),
                inventories=FrozenMapping(), labels=FrozenMapping(labels))

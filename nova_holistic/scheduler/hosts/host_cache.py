# SPDX-License-Identifier: Apache-2.0
"""All hosts of Nova, which are read again if Nova's databases show a
change."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import nova.conf
from nova import context as nova_context
from nova.db.main import api as main_database
from nova.db.main import models
from nova import objects
from nova import servicegroup
import sqlalchemy as sa

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.scheduler.hosts import cloud_version, locations
from nova_holistic.scheduler.hosts.cloud_version import CloudVersion
from nova_holistic.scheduler.hosts.trait_owners import TraitOwners
from nova_holistic.scheduler.policies.policy_evaluation import Cloud
from nova_holistic.topology.base import Aggregate, TopologyDriver

CONF = nova.conf.CONF


@dataclass(frozen=True, slots=True)
class _CacheEntry:
    """The hosts of the last read.

    :ivar version: version of the cloud when its hosts were read
    :ivar places: location, zone and aggregates of each host, by its name
    :ivar hosts: each host without its traits, by its name
    :ivar clouds: all hosts with traits, by the owners of the traits
    """

    version: CloudVersion
    places: Mapping[str, Host]
    hosts: Mapping[str, Host]
    clouds: dict[Any, Cloud] = field(default_factory=dict)


class HostCache:
    """Keeps all hosts in memory, with the results that policies have computed
    for them.

    The entry is replaced as a whole, so that threads need no lock.
    """

    def __init__(self) -> None:
        self._known: _CacheEntry | None = None
        self._traits = TraitOwners()

    def cloud(self, context, topology: TopologyDriver, placement,
              traits: Collection[str]) -> Cloud:
        """All hosts in their current state.

        If no host has changed, this sends one query for the list of cells, one
        statement to Nova's API database, and one to each cell, whose answers
        have few rows. If a service has changed, it sends two more statements
        to each cell. If an aggregate has changed, or a host is new, it also
        reads the aggregates.

        :param traits: names of the traits to read for each host; the result
            may be as old as [holistic] traits_lifetime
        :raises HolisticError: hosts cannot be located, or Placement does not
            answer
        """
        cells = [cell for cell in objects.CellMappingList.get_all(context)
                 if not cell.is_cell0()]
        version = cloud_version.read(context, cells)
        known = self._known
        if known is None or known.version != version:
            known = _read(context, topology, cells, version, known)
            # Hosts that may change unnoticed are read again each time.
            self._known = known if version.is_settled else None
        owners = self._traits.owners(placement, traits)
        key = frozenset(owners.items())
        if key not in known.clouds:
            # The number of sets of traits is limited to save memory.
            if len(known.clouds) >= 8:
                known.clouds.clear()
            known.clouds[key] = _cloud(known, topology, owners)
        return known.clouds[key]


def _cloud(known: _CacheEntry, topology: TopologyDriver,
           owners: Mapping[str, frozenset[str]]) -> Cloud:
    hosts = {name: replace(host, traits=frozenset(
        trait for trait, having in owners.items() if host.uuid in having))
        for name, host in known.hosts.items()} if owners else known.hosts
    return Cloud(Snapshot(topology.levels, tuple(hosts.values()),
                          topology.links), FrozenMapping(hosts))


def _read(context, topology: TopologyDriver, cells, version: CloudVersion,
          before: _CacheEntry | None) -> _CacheEntry:
    records = {}
    for cell in cells:
        with nova_context.target_cell(context, cell) as target:
            for name, uuid, takes_servers in _records(target):
                records[name] = uuid, takes_servers and not cell.disabled
    if before is not None and (
            before.version.aggregates == version.aggregates
            and records.keys() <= before.places.keys()):
        places = before.places
    else:
        places = _places(context, topology, records)
    return _CacheEntry(version, places, {
        name: replace(places[name], uuid=uuid, enabled=enabled)
        for name, (uuid, enabled) in records.items()})


def _places(context, topology: TopologyDriver, names: Collection[str]
            ) -> Mapping[str, Host]:
    """The location of each host, with its zone and its aggregates."""
    aggregates = [
        Aggregate(a.name, a.uuid, frozenset(a.hosts),
                  FrozenMapping(a.metadata))
        for a in objects.AggregateList.get_all(context)]
    named: dict[str, set[str]] = {}
    for aggregate in aggregates:
        for host in aggregate.hosts:
            named.setdefault(host, set()).update(
                (aggregate.name, aggregate.uuid))
    return {name: replace(
        locations.host_at(name, location),
        availability_zone=location.availability_zone,
        aggregates=frozenset(named.get(name, ())))
        for name, location in topology.locate(names, aggregates).items()}


@main_database.pick_context_manager_reader
def _records(context) -> list[tuple[str, str, bool]]:
    """Name, provider, and availability for servers, of each host of the
    context's cell. Nova's own lists create an object per host."""
    service, node = models.Service, models.ComputeNode
    services = {row.host: row for row in context.session.execute(sa.select(
        service.host, service.topic, service.disabled, service.forced_down,
        service.last_seen_up, service.created_at).where(
            service.deleted == 0, service.binary == 'nova-compute'))}
    is_up = servicegroup.API().service_is_up
    takes_servers = {
        name: not row.disabled and is_up(row._asdict())
        for name, row in services.items()}
    return [(host, uuid, takes_servers[host]) for host, uuid
            in context.session.execute(sa.select(node.host, node.uuid).where(
                node.deleted == 0)) if host in takes_servers]

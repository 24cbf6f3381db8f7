# SPDX-License-Identifier: Apache-2.0
"""All hosts of Nova, which are read again if Nova's databases show a
change."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
import time

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

MAX_SETS_OF_TRAITS = 8
"""Maximum number of sets of traits for which all hosts are kept."""

Owners = Mapping[str, frozenset[str]]
"""UUIDs of the providers with each trait, by the trait."""


@dataclass(frozen=True, slots=True)
class _CacheEntry:
    """The hosts of the last read.

    :ivar version: version of the cloud when its hosts were read
    :ivar places: location, zone and aggregates of each host, by its name
    :ivar hosts: each host without its traits, by its name
    :ivar clouds: all hosts with some traits, and the owners of these traits,
        by the names of the traits
    """

    version: CloudVersion
    places: Mapping[str, Host]
    hosts: Mapping[str, Host]
    clouds: dict[frozenset[str], tuple[Owners, Cloud]] = field(
        default_factory=dict)


class HostCache:
    """Keeps all hosts in memory, with the results that policies have computed
    for them.

    The entry is replaced as a whole, so that threads need no lock.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """:param clock: in seconds"""
        self._clock = clock
        self._latest: tuple[float, _CacheEntry] | None = None
        self._traits = TraitOwners(clock)

    @property
    def is_empty(self) -> bool:
        """Whether the hosts have not been read yet."""
        return self._latest is None

    def cloud(self, context, topology: TopologyDriver, placement,
              traits: Collection[str], max_age: float = 0.0) -> Cloud:
        """All hosts.

        If they were compared with Nova's databases less than ``max_age``
        seconds ago, no statement is sent. Otherwise, if no host has changed,
        this sends one query for the list of cells, one statement to Nova's API
        database, and one to each cell, whose answers have few rows. If a
        service has changed, it sends one more statement to each cell. If an
        aggregate has changed, or a host is new, it also reads the aggregates.

        :param traits: names of the traits to read for each host; the result
            may be as old as [holistic] traits_lifetime
        :raises HolisticError: hosts cannot be located, or Placement does not
            answer
        """
        entry = self._entry(context, topology, max_age)
        owners = self._traits.owners(placement, traits)
        key = frozenset(traits)
        known, cloud = entry.clouds.get(key, (None, None))
        if cloud is None or known != owners:
            # The number of sets of traits is limited to save memory.
            if len(entry.clouds) >= MAX_SETS_OF_TRAITS:
                entry.clouds.clear()
            cloud = _cloud(entry, topology, owners)
            entry.clouds[key] = owners, cloud
        return cloud

    def refresh(self, context, topology: TopologyDriver, placement) -> None:
        """Read the hosts, or compare them with Nova's databases if they were
        read before. Also read the traits again that are about to expire.
        Requests then need not wait for this.

        :raises HolisticError: as for ``cloud``
        """
        before = self._latest and self._latest[1]
        self._traits.renew(placement)
        entry = self._entry(context, topology, 0.0)
        # A group usually names no traits.
        for traits in list(before.clouds) if before else [frozenset()]:
            snapshot = self.cloud(context, topology, placement, traits,
                                  float('inf')).snapshot
            if entry is not before:
                for level in topology.levels:
                    snapshot.divided(level)

    def _entry(self, context, topology: TopologyDriver,
               max_age: float) -> _CacheEntry:
        """The hosts, compared with Nova's databases less than ``max_age``
        seconds ago."""
        now = self._clock()
        checked_at, entry = self._latest or (now, None)
        if entry is not None and now - checked_at < max_age:
            return entry
        cells = [cell for cell in objects.CellMappingList.get_all(context)
                 if not cell.is_cell0()]
        version = cloud_version.read(context, cells)
        # Hosts that may have changed unnoticed are read again.
        before = entry if entry and entry.version.is_settled else None
        if before is None or before.version != version:
            entry = _read(context, topology, cells, version, before)
        self._latest = now, entry
        return entry


def _cloud(entry: _CacheEntry, topology: TopologyDriver,
           owners: Owners) -> Cloud:
    hosts = {name: replace(host, traits=frozenset(
        trait for trait, having in owners.items() if host.uuid in having))
        for name, host in entry.hosts.items()} if owners else entry.hosts
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
        places, hosts = before.places, before.hosts
    else:
        places, hosts = _places(context, topology, records), {}
    return _CacheEntry(version, places, {
        name: _host(places[name], hosts.get(name), *record)
        for name, record in records.items()})


def _host(place: Host, before: Host | None, uuid: str, enabled: bool) -> Host:
    """:param before: the host of an earlier read at the same place"""
    if before is not None and (before.uuid, before.enabled) == (uuid, enabled):
        return before
    return replace(place, uuid=uuid, enabled=enabled)


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

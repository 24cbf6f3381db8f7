# SPDX-License-Identifier: Apache-2.0
"""The newest snapshot of a cloud, assembled from separate readings.

A reading covers some of the cloud: a few providers, or all of them, or what
Nova knows about the hosts. Several readings may take place at the same time.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
import operator
import threading

from nova_holistic.inventory.host_assembly import (
    DISABLED_TRAIT, host_of, HostParts, names_by_host, Place,
    SharingProviders, updated_host)
from nova_holistic.inventory.nova.computes import Compute
from nova_holistic.inventory.resource_providers.provider import Provider
from nova_holistic.inventory.resource_providers.provider_source import (
    Sharing)
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.cloud.use_change import UseChange
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.nova.flavor import Flavor
from nova_holistic.topology.base import Aggregate, TopologyDriver


@dataclass(frozen=True, slots=True)
class NovaFacts:
    """The data of Nova about all hosts, read at one time.

    :ivar computes: sorted by name
    """

    computes: tuple[Compute, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()


class SnapshotAssembly:
    """Assembles the newest snapshot. Threads may share one object.

    The result of an earlier reading never replaces that of a later reading.
    The order in which readings begin counts, not the order of their ends.

    Hosts that did not change are the same objects as in the snapshot before.
    If nothing changed, the snapshot itself is the same object.
    """

    def __init__(self, topology: TopologyDriver):
        self._topology = topology
        self._lock = threading.Lock()
        self._begun = 0
        self._nova_read = self._flavors_read = 0
        self._places: dict[str, Place] = {}
        self._providers: dict[str, Provider] = {}
        # Number of the latest reading of each provider, also of missing ones.
        self._read: dict[str, int] = {}
        # When the latest reading of each provider was added.
        self._added: dict[str, int] = {}
        self._changed: dict[str, int] = {}
        # The root of each nested provider.
        self._roots: dict[str, str] = {}
        self._doubtful: set[str] = set()
        # Parts of the providers, which are known without a search.
        self._uncounted: set[str] = set()
        self._disabled: set[str] = set()
        self._sharing = SharingProviders()
        self._hosts: dict[str, tuple[Host, HostParts]] = {}
        # Where the host of each provider is in the snapshot.
        self._rows: dict[str, int] = {}
        self._snapshot = Snapshot(topology.levels, ())

    def begin(self) -> int:
        """The number of a reading, or of another change, that begins now."""
        with self._lock:
            return self._next()

    def change_use(self, since: int,
                   changes: Mapping[str, UseChange]) -> Snapshot:
        """Change the use of providers without a reading.

        If a provider was read at the same time, it is not known whether that
        read contains the change. Then the provider becomes doubtful.

        :param since: result of ``begin`` before the change was made
        :param changes: changes by provider UUID, which Placement has made
        :returns: the newest snapshot
        """
        with self._lock:
            now = self._next()
            for uuid, change in changes.items():
                root = self._roots.get(uuid, uuid)
                provider = self._providers.get(root)
                if provider is None or self._added.get(root, 0) > since:
                    self._doubtful.add(root)
                    continue
                self._providers[root] = (
                    provider.with_change(change) if root == uuid
                    else provider.with_change_below(uuid, change))
                self._changed[root] = now
            self._renew({self._roots.get(uuid, uuid) for uuid in changes})
            return self._snapshot

    def take_doubtful(self) -> Collection[str]:
        """UUIDs of providers that have to be read again because a reading and
        a change of their use overlapped. They are not returned again."""
        with self._lock:
            found, self._doubtful = self._doubtful, set()
            return found

    def _next(self) -> int:
        self._begun += 1
        return self._begun

    @property
    def snapshot(self) -> Snapshot:
        return self._snapshot

    def computes(self) -> Collection[str]:
        """UUIDs of all compute nodes, those without a provider included."""
        with self._lock:
            return tuple(self._places)

    def hosts(self, uuids: Collection[str]) -> Mapping[str, Host]:
        """The hosts of some compute nodes by UUID, without nodes that are not
        in the snapshot."""
        with self._lock:
            return {uuid: self._snapshot.hosts[self._rows[uuid]]
                    for uuid in uuids if uuid in self._rows}

    def without_provider(self) -> frozenset[str]:
        """UUIDs of compute nodes whose providers are not known."""
        with self._lock:
            return frozenset(self._places.keys() - self._providers.keys())

    def uncounted(self) -> frozenset[str]:
        """UUIDs of providers whose consumers were never counted."""
        with self._lock:
            return frozenset(self._uncounted)

    def named(self, hosts: Collection[str]) -> frozenset[str]:
        """UUIDs of the compute nodes of some compute hosts."""
        if not hosts:
            return frozenset()
        with self._lock:
            return frozenset(
                uuid for uuid, (compute, _, _) in self._places.items()
                if compute.host in hosts or compute.name in hosts)

    def with_sharing(self, uuids: Collection[str]) -> Collection[str]:
        """The UUIDs, and those of the providers that share their resources
        with these providers."""
        with self._lock:
            found = self._sharing.uuids_of(uuids)
        return found.union(uuids) if found else uuids

    def differing(self, disabled: Collection[str]) -> frozenset[str]:
        """UUIDs of known providers whose state differs from the current list.

        :param disabled: UUIDs of all providers that are disabled now
        """
        with self._lock:
            return frozenset(self._disabled ^ (
                frozenset(disabled) & self._providers.keys()))

    def put(self, began_at: int, *, nova: NovaFacts | None = None,
            flavors: Mapping[str, Flavor] | None = None,
            providers: Mapping[str, Provider | None] = FrozenMapping(),
            sharing: Mapping[str, Sharing] | None = None) -> Snapshot:
        """Add the result of a reading.

        :param began_at: the number of the reading
        :param sharing: all providers that share their resources, by UUID
        :param providers: providers by UUID; None: the provider does not exist
        :returns: the newest snapshot
        :raises HolisticError: the locations of hosts are contradictory
        """
        places = None if nova is None else self._located(nova)
        with self._lock:
            if sharing is not None and began_at >= self._nova_read:
                self._sharing.put(sharing)
            if nova is not None and places is not None:
                self._put_nova(began_at, nova, places)
            if flavors is not None and began_at >= self._flavors_read:
                self._flavors_read = began_at
                if flavors != self._snapshot.flavors:
                    self._snapshot = replace(self._snapshot, flavors=flavors)
            changed = self._put_providers(began_at, self._next(), providers)
            if nova is not None:
                self._assemble()
            elif changed:
                self._renew(changed)
            return self._snapshot

    def _located(self, nova: NovaFacts) -> Mapping[str, Place]:
        locations = self._topology.locate(
            {compute.host for compute in nova.computes}, nova.aggregates)
        named = names_by_host(nova.aggregates)
        return {compute.uuid: (compute, locations[compute.host],
                               named.get(compute.host, frozenset()))
                for compute in nova.computes}

    def _put_nova(self, began_at: int, nova: NovaFacts,
                  places: Mapping[str, Place]) -> None:
        if began_at < self._nova_read:
            return
        self._nova_read = began_at
        before = self._places
        self._places = {
            uuid: before[uuid] if before.get(uuid) == place else place
            for uuid, place in places.items()}
        for known in (self._providers, self._read, self._added,
                      self._changed, self._hosts):
            for uuid in known.keys() - self._places.keys():
                if uuid not in self._sharing:
                    del known[uuid]
        self._roots = {uuid: root for uuid, root in self._roots.items()
                       if root in self._places}
        self._uncounted &= self._providers.keys()
        self._disabled &= self._providers.keys()
        aggregates = FrozenMapping({
            aggregate.uuid: aggregate.metadata
            for aggregate in nova.aggregates})
        found = replace(
            self._snapshot, levels=self._topology.levels,
            links=self._topology.links, aggregates=aggregates)
        if found != self._snapshot:
            self._snapshot = found

    def _put_providers(self, began_at: int, now: int,
                       found: Mapping[str, Provider | None]) -> list[str]:
        """:returns: UUIDs of the providers that have changed"""
        changed = []
        for uuid, provider in found.items():
            if uuid not in self._places and uuid not in self._sharing or (
                    began_at < self._read.get(uuid, 0)):
                continue
            if began_at < self._changed.get(uuid, 0):
                # The reading may not contain the change.
                self._doubtful.add(uuid)
                continue
            self._read[uuid] = began_at
            self._added[uuid] = now
            known = self._providers.get(uuid)
            if known == provider:
                continue
            changed.append(uuid)
            self._uncounted.discard(uuid)
            self._disabled.discard(uuid)
            if provider is None:
                del self._providers[uuid]
                continue
            self._providers[uuid] = provider
            self._roots.update((each.uuid, uuid) for each in provider.below)
            if not provider.is_counted:
                self._uncounted.add(uuid)
            if DISABLED_TRAIT in provider.traits:
                self._disabled.add(uuid)
        return changed

    def _assemble(self) -> None:
        """Bring all hosts of the snapshot up to date."""
        found = {uuid: self._host(uuid) for uuid in self._places
                 if uuid in self._providers}
        self._rows = {uuid: row for row, uuid in enumerate(found)}
        self._put_hosts(list(found.values()))

    def _renew(self, uuids: Iterable[str]) -> None:
        """Bring the hosts of some providers up to date."""
        hosts = list(self._snapshot.hosts)
        for uuid in uuids:
            if uuid in self._sharing or (
                    uuid in self._rows) != (uuid in self._providers):
                # Many hosts share it, or a host is new or no longer exists.
                self._assemble()
                return
            if uuid in self._rows:
                hosts[self._rows[uuid]] = self._host(uuid)
        self._put_hosts(hosts)

    def _put_hosts(self, hosts: Sequence[Host]) -> None:
        before = self._snapshot.hosts
        if len(hosts) != len(before) or any(map(
                operator.is_not, hosts, before)):
            self._snapshot = replace(self._snapshot, hosts=tuple(hosts))

    def _host(self, uuid: str) -> Host:
        """The host of a provider; the same object as before if it is equal."""
        parts = (self._places[uuid], self._providers[uuid],
                 self._sharing.of(uuid, self._providers))
        known = self._hosts.get(uuid)
        host = updated_host(*known, parts) if known else host_of(*parts)
        self._hosts[uuid] = host, parts
        return host

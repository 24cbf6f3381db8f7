# SPDX-License-Identifier: Apache-2.0
"""An immutable snapshot of the cloud at one point in time."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections import Counter
from dataclasses import dataclass, field, replace
import itertools
import operator
from typing import Any, TypeVar

from nova_holistic.model.cloud.domain import HOST, Domain
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.named_rows import NamedRows
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.nova.flavor import Flavor
from nova_holistic.model.nova.image import Image
from nova_holistic.model.nova.server_group import ServerGroup

T = TypeVar('T')


@dataclass(frozen=True, slots=True)
class Host:
    """A compute host: a tree of resource providers at one location of the
    topology.

    :ivar name: Nova's compute host, unique in a snapshot
    :ivar node: hypervisor host name
    :ivar uuid: UUID of the root resource provider (and compute node); '' in a
        file without UUIDs
    :ivar location: one name for each level above host, coarse to fine
    :ivar inventories: inventories of the root provider
    :ivar traits: traits of the root provider
    :ivar labels: levels outside the tree, e.g. ``power_feed: A``
    :ivar servers: number of existing servers that do not belong to the group;
        see :meth:`Snapshot.without_servers` for servers of the group
    :ivar statistics: recent measurements of other programs, by name
    :ivar hypervisor: type and version in Nova's format; ('', 0) if unknown
    :ivar providers: the providers below the root provider
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
    statistics: FrozenMapping[str, float] = FrozenMapping()
    hypervisor: tuple[str, int] = ('', 0)
    providers: tuple[NestedProvider, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """The uplink of a domain, in Mbit/s.

    :ivar domain: names, coarse to fine; the value, if the level is a label
    :ivar level: the label; None if the domain is one of the tree
    """

    domain: tuple[str, ...]
    uplink_mbps: int
    used_mbps: int = 0
    level: str | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Hosts, their capacity and usage, and their topology.

    Threads may share a snapshot: only its caches change.

    :ivar levels: levels of the tree, coarse to fine; the last is always
        ``host``
    :ivar flavors: flavors by name and by ID
    :ivar images: images that the group names, by name and by ID
    :ivar server_groups: Nova's server groups that the group names
    :ivar aggregates: metadata of each host aggregate of Nova, by UUID
    :ivar pools: storage pools, which take the volumes of a group; see
        ``model.storage_pools``
    :ivar default_volume_type: volume type of volumes without one; None if it
        is not known
    :ivar lineage: the latest results of :meth:`once_for_lineage`, shared by
        all snapshots that were made of each other with ``replace``
    :ivar _known: results of :meth:`once`
    :ivar _of_hosts: results of :meth:`once_for_hosts`
    :ivar _domains: results of :meth:`domain` by level and location
    """

    levels: tuple[str, ...]
    hosts: tuple[Host, ...]
    links: tuple[Link, ...] = ()
    flavors: Mapping[str, Flavor] = FrozenMapping()
    images: Mapping[str, Image] = FrozenMapping()
    server_groups: Mapping[str, ServerGroup] = FrozenMapping()
    aggregates: Mapping[str, Mapping[str, str]] = FrozenMapping()
    pools: tuple[Host, ...] = ()
    default_volume_type: str | None = None
    lineage: dict[Hashable, Any] = field(
        default_factory=dict, repr=False, compare=False, kw_only=True)
    _known: dict[Hashable, Any] = field(
        default_factory=dict, init=False, repr=False, compare=False)
    _of_hosts: dict[Hashable, Any] = field(
        default_factory=dict, init=False, repr=False, compare=False)
    _domains: dict[str, dict[Any, Domain | None]] = field(
        default_factory=dict, init=False, repr=False, compare=False)

    def all_levels(self) -> frozenset[str]:
        """The levels that a policy may name: those of the tree, and label
        keys."""
        return self.once('levels', lambda: frozenset(self.levels).union(
            label for host in self.hosts for label in host.labels))

    def by_name(self) -> Mapping[str, Host]:
        """The hosts by their names."""
        return NamedRows(self.hosts, self.rows())

    def rows(self) -> Mapping[str, int]:
        """The index of each host in ``hosts`` by its name."""
        return self.once_for_lineage('rows', _rows, _renewed_rows)[1]

    def named(self, names: Iterable[str]) -> Sequence[Host]:
        """The hosts with these names. Names that the snapshot lacks are
        ignored."""
        rows = self.rows()
        return [self.hosts[rows[name]] for name in names if name in rows]

    def with_hosts(self, changed: Iterable[Host]) -> 'Snapshot':
        """The snapshot in which these objects replace the hosts of the same
        names."""
        rows, hosts = self.rows(), list(self.hosts)
        for host in changed:
            hosts[rows[host.name]] = host
        return replace(self, hosts=tuple(hosts))

    def with_links(self, links: Iterable[Link]) -> 'Snapshot':
        """The snapshot with these uplinks."""
        made = replace(self, links=tuple(links))
        object.__setattr__(made, '_of_hosts', self._of_hosts)
        object.__setattr__(made, '_domains', self._domains)
        return made

    def domain(self, host: Host, level: str) -> Domain | None:
        """The domain of ``level`` that holds the host.

        None if the host is in no such domain: it lacks the label, or its
        location is not known down to that level.
        """
        if level == HOST:
            place = host.location, host.name
        elif level in self.levels:
            place = host.location
        else:
            place = host.labels.get(level)
        known = self._domains.get(level)
        if known is None:
            known = self._domains.setdefault(level, {})
        if place not in known:
            known[place] = self._domain(place, level)
        return known[place]

    def _domain(self, place: Any, level: str) -> Domain | None:
        """:param place: all values that determine the domain of a host"""
        if level == HOST:
            return Domain(level, (*place[0], place[1]))
        if level in self.levels:
            depth = self.levels.index(level) + 1
            known = len(place) >= depth and all(place[:depth])
            return Domain(level, place[:depth]) if known else None
        return None if place is None else Domain(level, (place,))

    def domain_of(self, link: Link) -> Domain:
        """The domain whose uplink this is."""
        return Domain(link.level or self.levels[len(link.domain) - 1],
                      link.domain)

    def uplinks(self, level: str) -> Mapping[Domain, Link]:
        """The links of the level, which may be a label."""
        return self.once(('uplinks', level), lambda: FrozenMapping({
            domain: link for link in self.links
            if (domain := self.domain_of(link)).level == level}))

    def divided(self, level: str) -> Mapping[Domain, tuple[Host, ...]]:
        """The hosts of each domain of the level, in the snapshot's order."""
        def work() -> Mapping[Domain, tuple[Host, ...]]:
            found: dict[Domain, list[Host]] = {}
            for host in self.hosts:
                domain = self.domain(host, level)
                if domain is not None:
                    found.setdefault(domain, []).append(host)
            return FrozenMapping(
                {domain: tuple(hosts) for domain, hosts in found.items()})

        return self.once_for_hosts(('divided', level), work)

    def once(self, key: Hashable, work: Callable[[], T]) -> T:
        """The result of ``work``, which is computed once for the snapshot.

        :param key: all values other than the snapshot that determine the
            result, including the caller
        """
        if key not in self._known:
            self._known[key] = work()
        return self._known[key]

    def once_for_hosts(self, key: Hashable, work: Callable[[], T]) -> T:
        """As :meth:`once`, for a result that only the levels and the hosts
        determine. Snapshots that differ only in their uplinks share it."""
        if key not in self._of_hosts:
            self._of_hosts[key] = work()
        return self._of_hosts[key]

    def once_for_lineage(self, key: Hashable,
                         work: Callable[['Snapshot'], T],
                         renew: Callable[[T, 'Snapshot'], T]) -> T:
        """As :meth:`once`, for a result that is cheaper to update for a later
        snapshot of the lineage than to compute.

        For each key, only the latest result of the lineage is kept. It should
        not refer to a snapshot.

        :param renew: receives the result for another snapshot of the lineage,
            with any hosts, and returns the result of ``work`` for this
            snapshot
        """
        def follow() -> T:
            # This is one step, so that no other thread stores its own value in
            # between.
            latest = self.lineage.get(key)
            answer = work(self) if latest is None else renew(latest, self)
            self.lineage[key] = answer
            return answer

        return self.once(('lineage', key), follow)

    def without_servers(self, names: Iterable[str]) -> 'Snapshot':
        """The snapshot with one server less on each named host; a host may be
        named several times.

        This removes the servers of a group, which do not count as servers from
        outside the group. Their resources remain in use.
        """
        less = Counter(names)
        if not less:
            return self
        key = frozenset(less.items())
        # Only the latest result is cached.
        found = self._known.get('without')
        if found is None or found[0] != key:
            found = self._known['without'] = key, self._without(less)
        return found[1]

    def _without(self, less: Counter[str]) -> 'Snapshot':
        return self.with_hosts(
            replace(host, servers=max(0, host.servers - less[host.name]))
            for host in self.named(less))


_Rows = tuple[tuple[Host, ...], Mapping[str, int]]
"""Hosts, and the index of each of them by its name."""


def _rows(snapshot: Snapshot) -> _Rows:
    return snapshot.hosts, {
        host.name: row for row, host in enumerate(snapshot.hosts)}


def _renewed_rows(known: _Rows, snapshot: Snapshot) -> _Rows:
    changed = changed_hosts(known[0], snapshot.hosts)
    if changed is not None and all(
            one.name == other.name for one, other in changed):
        return snapshot.hosts, known[1]
    return _rows(snapshot)


def changed_hosts(earlier: Sequence[Host], later: Sequence[Host]
                  ) -> Iterable[tuple[Host, Host]] | None:
    """The earlier and the later host of each row in which they are different
    objects; None if the numbers of hosts differ.

    The interpreter compares objects much faster than their attributes.
    """
    if len(earlier) != len(later):
        return None
    return itertools.compress(
        zip(earlier, later), map(operator.is_not, earlier, later))

# SPDX-License-Identifier: Apache-2.0
"""The clouds on which one pass of a reconciler checks the policies of groups.
"""

from collections.abc import Callable, Hashable, Mapping
import functools

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.table.records import Place

Pools = Mapping[str, Place]
"""The current positions of storage pools by name."""


class CheckedCloud:
    """A snapshot, and the parts of its hosts on which policies depend."""

    def __init__(self, snapshot: Snapshot,
                 read_pools: Callable[[Snapshot], Pools] | None = None):
        """:param read_pools: None if the storage pools are not needed"""
        self.snapshot = snapshot
        self._read_pools = read_pools
        self._hosts = {host.name: host for host in snapshot.hosts}

    @functools.cached_property
    def pools(self) -> Pools:
        """The storage pools, which are read once for all groups of a pass."""
        return self._read_pools(self.snapshot) if self._read_pools else {}

    @property
    def whole(self) -> Hashable:
        """Changes with any host, because some policies count the domains that
        a group could use."""
        return self.snapshot.once('drift', lambda: hash(frozenset(
            (host.name, host.enabled, _host_state(host))
            for host in self.snapshot.hosts)))

    def state_of_host(self, name: str, with_outside_servers: bool) -> Hashable:
        """Changes with the state of a host and, if servers from outside the
        group matter, with the servers on all hosts: they may be on another
        host of the same domain."""
        host = self._hosts.get(name)
        servers = self.snapshot.once('drift servers', lambda: hash(frozenset(
            (each.name, each.servers) for each in self.snapshot.hosts
        ))) if with_outside_servers else None
        return host and _host_state(host), servers


def _host_state(host: Host) -> Hashable:
    return (host.location, host.labels, host.traits, host.aggregates,
            host.availability_zone)


class PassSnapshot:
    """The complete snapshot of a pass, which is read when it is first
    needed."""

    def __init__(self, read: Callable[[], CheckedCloud]):
        self._read = read
        self._cloud: CheckedCloud | None = None

    def __call__(self) -> CheckedCloud:
        """:raises HolisticError: the source does not respond"""
        if self._cloud is None:
            self._cloud = self._read()
        return self._cloud

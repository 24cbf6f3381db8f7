# SPDX-License-Identifier: Apache-2.0
"""Servers on hosts, as Nova's HostManager passes them to filters. They are
read when a filter uses them.

Usually, a request names no other server and no server group. In this case,
none of Nova's filters uses the servers of a host.
"""

from collections import UserDict
from collections.abc import Callable, Collection, Mapping
import functools

from nova import objects

from nova_holistic.scheduler.hosts import compute_records

Read = Callable[[], 'dict[str, objects.Instance]']


class HostServers(UserDict):
    """Servers of one host by their UUIDs; they are read at the first use."""

    def __init__(self, read: Read):
        # UserDict.__init__ is not called: it would set ``data``.
        self._read = read

    @functools.cached_property
    def data(self) -> 'dict[str, objects.Instance]':
        return self._read()


def of_hosts(context, cell: 'objects.CellMapping', hosts: Collection[str]
             ) -> Mapping[str, HostServers]:
    """The servers of each host, by the name of the host. The first use reads
    the servers of all hosts in one statement."""
    @functools.cache
    def read() -> 'Mapping[str, dict[str, objects.Instance]]':
        return compute_records.servers(context, cell, hosts)

    return {host: HostServers(lambda host=host: read()[host])
            for host in hosts}

# SPDX-License-Identifier: Apache-2.0
"""Limits of the number of servers on a host as resource classes.

Such a class exists only in the planner's snapshot: the amount on a host is the
allowed number of servers, and each member to which the limit applies requests
1.
"""

from collections.abc import Collection, Iterable, Mapping
from collections import Counter
from dataclasses import dataclass, replace

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.frozen import FrozenMapping


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on the number of servers of a kind on each host.

    :ivar name: name of the resource class
    :ivar most: maximum by host name
    :ivar used: number of existing servers by host name
    """

    name: str
    most: Mapping[str, int]
    used: Mapping[str, int]


def with_limits(hosts: Iterable[Host],
                limits: Collection[Limit]) -> tuple[Host, ...]:
    """The hosts with an additional resource class for each limit."""
    return tuple(replace(host, inventories=FrozenMapping({
        **host.inventories,
        **{limit.name: Inventory(total=limit.most[host.name],
                                 used=limit.used.get(host.name, 0))
           for limit in limits if host.name in limit.most}}))
        for host in hosts)


def same_on_all(name: str, hosts: Iterable[Host], most: int,
                used: Iterable[str]) -> Limit:
    """A limit that is equal on all hosts.

    :param used: host names, one for each server that counts
    """
    return Limit(name, {host.name: most for host in hosts}, Counter(used))

# SPDX-License-Identifier: Apache-2.0
"""Limits of the number of servers on a host, as resource classes.

Such a class exists in the planner's snapshot only: a host has as much of it as
servers are allowed, and each member that the limit concerns asks for 1.
"""

from collections.abc import Collection, Iterable, Mapping
from collections import Counter
from dataclasses import dataclass, replace

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.inventory import Inventory
from nova_holistic.model.snapshot import Host


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on the number of servers of a kind on each host.

    :ivar name: of the resource class
    :ivar most: by host name
    :ivar used: servers that are there already, by host name
    """

    name: str
    most: Mapping[str, int]
    used: Mapping[str, int]


def with_limits(hosts: Iterable[Host],
                limits: Collection[Limit]) -> tuple[Host, ...]:
    """The hosts with one resource class more for each limit."""
    return tuple(replace(host, inventories=FrozenMapping({
        **host.inventories,
        **{limit.name: Inventory(total=limit.most[host.name],
                                 used=limit.used.get(host.name, 0))
           for limit in limits if host.name in limit.most}}))
        for host in hosts)


def same_on_all(name: str, hosts: Iterable[Host], most: int,
                used: Iterable[str]) -> Limit:
    """A limit that is equal on all hosts.

    :param used: host name of each server that counts
    """
    return Limit(name, {host.name: most for host in hosts}, Counter(used))

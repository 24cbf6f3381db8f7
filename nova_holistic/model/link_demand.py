# SPDX-License-Identifier: Apache-2.0
"""The traffic that groups reserve on the uplinks of domains.

Each uplink is shared by all groups. When a group is planned, the traffic of
all other groups counts as used.
"""

from collections.abc import Iterator, Mapping
from collections import Counter
from dataclasses import replace

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host, Link, Snapshot
from nova_holistic.model.group import Group, Scope
from nova_holistic.model.relationship import Relationship


def limits_links(group: Group) -> bool:
    """Whether some relationship of the group reserves traffic on uplinks."""
    return any(True for _ in _limiting(group))


def link_demand(group: Group, placement: Mapping[str, Host],
                snapshot: Snapshot) -> Counter[Domain]:
    """Mbit/s that a group reserves on the uplink of each domain.

    :param placement: path to host of the members that have places
    :param snapshot: only its levels are read
    """
    total: Counter[Domain] = Counter()
    for scope, relationship in _limiting(group):
        total.update(relationship.link_demand(scope, placement, snapshot))
    return +total


def _limiting(group: Group) -> Iterator[tuple[Scope, Relationship]]:
    return ((scope, each) for scope in group.scopes()
            for each in scope.group.relationships if each.limits_links)


def free_mbps(snapshot: Snapshot) -> Mapping[Domain, int]:
    """The free capacity of each uplink in Mbit/s; below 0 if its usage exceeds
    its capacity."""
    return {snapshot.domain_of(link): link.uplink_mbps - link.used_mbps
            for link in snapshot.links}


def with_demand(snapshot: Snapshot,
                demand: Mapping[Domain, int]) -> Snapshot:
    """The snapshot with this traffic added to the usage of its uplinks."""
    if not any(demand.values()):
        return snapshot
    return snapshot.with_links(
        _with_more(link, demand.get(snapshot.domain_of(link), 0))
        for link in snapshot.links)


def _with_more(link: Link, mbps: int) -> Link:
    return replace(link, used_mbps=link.used_mbps + mbps) if mbps else link

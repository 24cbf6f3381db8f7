# SPDX-License-Identifier: Apache-2.0
"""The snapshot that other groups see after a group was placed."""

from collections.abc import Mapping
from collections import Counter
from dataclasses import replace

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.inventory import with_use_changed
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Group


def occupied(group: Group, snapshot: Snapshot,
             hosts: Mapping[str, str], times: int = 1) -> Snapshot:
    """The snapshot that counts the members and their usage. Hosts that
    exclusive policies close to others are disabled.

    :param group: a group with resolved resources
    :param hosts: member path to host name, of all members
    :param times: how often each member is counted
    """
    used: dict[str, Counter[str]] = {}
    servers: Counter[str] = Counter()
    for member in group.all_members():
        name = hosts[member.path]
        servers[name] += times
        used.setdefault(name, Counter()).update({
            each: times * amount
            for each, amount in member.requirements.resources.items()})
    shut = closed(group, snapshot, hosts)
    levels = {domain.level for domain in shut}

    def after(host: Host) -> Host:
        if any(snapshot.domain(host, level) in shut for level in levels):
            host = replace(host, enabled=False)
        if host.name not in used:
            return host
        return replace(
            host, servers=host.servers + servers[host.name],
            inventories=with_use_changed(host.inventories, used[host.name]))

    return replace(snapshot, hosts=tuple(map(after, snapshot.hosts)),
                   lineage=dict(snapshot.lineage))


def closed(group: Group, snapshot: Snapshot,
           hosts: Mapping[str, str]) -> frozenset[Domain]:
    """Domains that must not contain servers of other groups.

    :param group: a group with resolved resources
    :param hosts: member path to host name, of all members
    """
    known = {host.name: host for host in snapshot.hosts}
    placement = {path: known[name] for path, name in hosts.items()}
    return frozenset().union(*(
        policy.reserves(scope, placement, snapshot)
        for scope in group.scopes() for policy in scope.group.policies
        if policy.hard))

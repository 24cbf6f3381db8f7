# SPDX-License-Identifier: Apache-2.0
"""Snapshots as one group may use them: what differs from the cloud as it is.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.snapshot import Host, Snapshot
from nova_holistic.table.records import MemberRecord


def with_closed(snapshot: Snapshot, closed: Collection[str]) -> Snapshot:
    """The snapshot in which hosts with these names are disabled."""
    if not closed:
        return snapshot
    return replace(snapshot, hosts=tuple(
        replace(host, enabled=False) if host.name in closed else host
        for host in snapshot.hosts))


def with_remembered(snapshot: Snapshot,
                    remembered: Collection[Host]) -> Snapshot:
    """The snapshot to which hosts that it lacks are added, disabled."""
    missing = {host.name: replace(host, enabled=False)
               for host in remembered}
    for host in snapshot.hosts:
        missing.pop(host.name, None)
    return replace(snapshot, hosts=(
        *snapshot.hosts, *missing.values())) if missing else snapshot


def vacated(snapshot: Snapshot,
            members: Sequence[MemberRecord]) -> Snapshot:
    """The snapshot in which the room that members hold is free, and in which
    their hosts have fewer servers."""
    freed: dict[str, dict[str, int]] = {}
    for row in members:
        amounts = freed.setdefault(row.place.host, {})
        for name, amount in row.member.requirements.resources.items():
            amounts[name] = amounts.get(name, 0) + amount
    if not freed:
        return snapshot
    fewer = snapshot.without_servers(row.place.host for row in members)
    return replace(fewer, hosts=tuple(
        _freed(host, freed[host.name]) if host.name in freed else host
        for host in fewer.hosts))


def _freed(host: Host, amounts: dict[str, int]) -> Host:
    return replace(host, inventories=FrozenMapping({
        name: replace(found, used=max(0, found.used - amounts.get(name, 0)))
        for name, found in host.inventories.items()}))

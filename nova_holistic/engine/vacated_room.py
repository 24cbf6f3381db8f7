# SPDX-License-Identifier: Apache-2.0
"""Snapshots in which holds that are about to be given up count as free."""

from collections.abc import Sequence
from dataclasses import replace

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.snapshot import Host, Snapshot
from nova_holistic.table.records import MemberRecord


def vacated(snapshot: Snapshot,
            members: Sequence[MemberRecord]) -> Snapshot:
    """The snapshot if these members held nothing."""
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

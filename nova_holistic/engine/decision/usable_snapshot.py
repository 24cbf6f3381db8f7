# SPDX-License-Identifier: Apache-2.0
"""Snapshots of the cloud with the restrictions that apply to one group."""

from collections.abc import Collection, Mapping, Sequence
from collections import Counter, defaultdict
from dataclasses import replace

from nova_holistic.engine.decision.planning_request import PlanningRequest
from nova_holistic.model.cloud.inventory import with_use_changed
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.table.records import MemberRecord, MemberState
from nova_holistic.table.store import PlacementTable


def claimed_alternates(table: PlacementTable,
                       request: PlanningRequest) -> frozenset[str]:
    """Names of the alternates on which Nova may still build claimed members.
    Empty if the group has no hard policy, or if none of its members has a
    place."""
    if (request.uuid is None or not request.placed
            or not request.has_hard_rules):
        return frozenset()
    return frozenset(
        place.host for row in table.members(request.uuid)
        if row.state == MemberState.CLAIMED for place in row.alternates)


def with_hosts_disabled(snapshot: Snapshot,
                        closed: Collection[str]) -> Snapshot:
    """The snapshot in which hosts with these names are disabled."""
    if not closed:
        return snapshot
    return snapshot.with_hosts(
        replace(host, enabled=False) for host in snapshot.named(closed))


def with_missing_hosts(snapshot: Snapshot,
                       remembered: Collection[Host]) -> Snapshot:
    """The snapshot with the remembered hosts that it lacks, as disabled
    hosts."""
    if not remembered:
        return snapshot
    known = snapshot.rows()
    missing = {host.name: replace(host, enabled=False)
               for host in remembered if host.name not in known}
    return replace(snapshot, hosts=(
        *snapshot.hosts, *missing.values())) if missing else snapshot


def with_members_removed(snapshot: Snapshot,
                         members: Sequence[MemberRecord]) -> Snapshot:
    """The snapshot in which the capacity of these members is free, and their
    hosts have fewer servers."""
    if not members:
        return snapshot
    return _with_use(
        snapshot.without_servers(row.place.host for row in members),
        members, -1)


def with_members_added(snapshot: Snapshot,
                       members: Sequence[MemberRecord]) -> Snapshot:
    """The snapshot after the places of members are held: their capacity is
    used, and their hosts have more servers."""
    if not members:
        return snapshot
    more = Counter(row.place.host for row in members)
    return _with_use(snapshot.with_hosts(
        replace(host, servers=host.servers + more[host.name])
        for host in snapshot.named(more)), members, 1)


def _with_use(snapshot: Snapshot, members: Sequence[MemberRecord],
              sign: int) -> Snapshot:
    """The snapshot with the usage of hosts changed.

    :param sign: 1 adds the resources of the members to the usage of their
        hosts, and -1 subtracts them
    """
    # Amounts by host and UUID of the provider; '' is the root provider.
    change: defaultdict[str, defaultdict[str, Counter[str]]] = defaultdict(
        lambda: defaultdict(Counter))
    # Amounts by UUID of the provider: several hosts may share a provider.
    all_changes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in members:
        for provider, amounts in _amounts(row).items():
            for name, amount in amounts.items():
                change[row.place.host][provider][name] += sign * amount
                all_changes[provider][name] += sign * amount
    affected = snapshot.named(change)
    if all_changes.keys() - {''}:
        affected = [host for host in snapshot.hosts
                    if host.name in change or any(
                        each.sharing and each.uuid in all_changes
                        for each in host.providers)]
    return snapshot.with_hosts(
        _changed(host, change[host.name], all_changes) for host in affected)


def _amounts(row: MemberRecord) -> Mapping[str, Mapping[str, int]]:
    place = row.place
    if place.allocation is None:
        return {'': row.member.requirements.resources}
    return {'' if provider == place.provider else provider: amounts
            for provider, amounts in place.allocation.resources.items()}


def _changed(host: Host, change: Mapping[str, Mapping[str, int]],
             all_changes: Mapping[str, Mapping[str, int]]) -> Host:
    """The host after a change of its usage.

    :param change: amounts of the host, by UUID of the provider
    :param all_changes: amounts of all hosts, by UUID of the provider
    """
    changed = replace(host, inventories=with_use_changed(
        host.inventories, change.get('', {})))
    if not host.providers:
        return changed
    return replace(changed, providers=tuple(
        replace(provider, inventories=with_use_changed(
            provider.inventories, amounts)) if amounts else provider
        for provider, amounts in (
            (each, (all_changes if each.sharing else change).get(each.uuid))
            for each in host.providers)))

# SPDX-License-Identifier: Apache-2.0
"""Servers of others where a member of an exclusive group would go."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from nova import context as nova_context
from nova import objects

from nova_holistic.model.domain import Domain, HOST
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.snapshot import Host, Snapshot
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.hosts import locations
from nova_holistic.scheduler.policies.judge import Judge
from nova_holistic.scheduler.policies.membership import Membership
from nova_holistic.table.batches import batches
from nova_holistic.topology.base import Aggregate

Crowds = Mapping[Domain, Sequence[Host]]


def known_to(judge: Judge, connections: Connections, own: Membership,
             instance_uuid: str, candidates: Collection[Host]) -> Judge:
    """The judge, told of strangers wherever the member would reserve a
    domain that its group does not have yet.

    Servers are read from Nova's database, one query for each cell: what the
    scheduler remembers of hosts may be minutes old, and a server just
    deleted must not stand in the way. Members of other groups that are still
    to be built are read from the table.
    """
    wanted: dict[Domain, list[Host]] = defaultdict(list)
    for host in candidates:
        for domain in judge.reserves(host):
            wanted[domain].append(host)
    if not wanted:
        return judge
    context = nova_context.get_admin_context()
    cells = _hosts_by_cell(context)
    hosts = _all_in(wanted, connections, context, cells)
    strangers = Counter([
        *_planned(connections, own, hosts),
        *_servers(context, cells, hosts, {*own.instances, instance_uuid})])
    return replace(judge, strangers=_crowds(hosts, strangers))


def _hosts_by_cell(context) -> Mapping[str, tuple[object, set[str]]]:
    """Cell mapping and names of hosts, by the UUID of the cell."""
    found: dict[str, tuple[object, set[str]]] = {}
    for mapping in objects.HostMappingList.get_all(context):
        cell = mapping.cell_mapping
        found.setdefault(cell.uuid, (cell, set()))[1].add(mapping.host)
    return found


def _all_in(wanted: Mapping[Domain, Sequence[Host]], connections, context,
            cells) -> Mapping[Domain, Sequence[Host]]:
    """Every host of Nova's in the domains, candidate or not."""
    if all(domain.level == HOST for domain in wanted):
        return wanted
    aggregates = [
        Aggregate(a.name, a.uuid, frozenset(a.hosts),
                  FrozenMapping(a.metadata))
        for a in objects.AggregateList.get_all(context)]
    names = {name for _, hosts in cells.values() for name in hosts}
    snapshot = Snapshot(connections.topology.levels, tuple(
        locations.at(name, location) for name, location
        in connections.topology.locate(names, aggregates).items()))
    return {domain: snapshot.divided(domain.level).get(domain, ())
            for domain in wanted}


def _planned(connections, own: Membership,
             hosts: Mapping[Domain, Sequence[Host]]) -> Sequence[str]:
    """Host of each member of other groups there."""
    return [row.place.host for row in connections.table.members_on(
        {host.name for each in hosts.values() for host in each},
        own.record.uuid)]


def _servers(context, cells, hosts: Mapping[Domain, Sequence[Host]],
             but: Collection[str]) -> Sequence[str]:
    """Host of each server there that is none of the group's."""
    names = {host.name for each in hosts.values() for host in each}
    found = []
    for cell, known in cells.values():
        if not names & known:
            continue
        with nova_context.target_cell(context, cell) as target:
            found.extend(
                instance.host for batch in batches(names & known)
                for instance in objects.InstanceList.get_by_filters(
                    target, filters={'host': batch, 'deleted': False},
                    expected_attrs=[])
                if instance.uuid not in but)
    return found


def _crowds(hosts: Mapping[Domain, Sequence[Host]],
            strangers: Counter[str]) -> Crowds:
    return FrozenMapping({
        domain: tuple(replace(host, servers=strangers[host.name])
                      for host in each if strangers[host.name])
        for domain, each in hosts.items()})

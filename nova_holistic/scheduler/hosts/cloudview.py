# SPDX-License-Identifier: Apache-2.0
"""Every host of Nova's, for policies that look further than at members."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from keystoneauth1 import exceptions as ks_exceptions

from nova import context as nova_context
from nova import objects
from nova import servicegroup

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.requirements import Requirements
from nova_holistic.model.snapshot import Host, Snapshot
from nova_holistic.scheduler.claim.refusal import Refused
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.hosts import locations
from nova_holistic.scheduler.policies.judge import Cloud, Judge
from nova_holistic.table.records import MemberRecord
from nova_holistic.topology.base import Aggregate

TRAITS_VERSION = '1.18'
"""Placement's microversion in which providers are found by a trait."""


def shown_to(judge: Judge, connections: Connections,
             rows: Iterable[MemberRecord]) -> Judge:
    """The judge, with every host if it has a policy that looks at them.

    Costs two queries, two for each cell, and one request to Placement for
    each trait that the group speaks of, however many hosts there are.

    :param rows: of the group, which know what its flavors stand for
    :raises HolisticError: hosts cannot be located, or Placement does not
        answer
    """
    if all(rule.local for rule in judge.rules):
        return judge
    context = nova_context.get_admin_context()
    group = _resolved(judge.group, {
        row.member.description: row.member.requirements for row in rows}, '')
    hosts = {host.name: host for host in _with_traits(
        _hosts(connections, context), connections, _traits(group))}
    return replace(judge, group=group, cloud=Cloud(
        Snapshot(judge.levels, tuple(hosts.values()), judge.links),
        FrozenMapping(hosts)))


def _resolved(group: Group, wanted: Mapping[str, Requirements],
              prefix: str) -> Group:
    """The group whose descriptions ask for what was planned for them."""
    return replace(
        group,
        members=tuple(replace(m, requirements=wanted.get(
            prefix + m.name, m.requirements)) for m in group.members),
        groups=tuple(_resolved(nested, wanted, f'{prefix}{nested.name}/')
                     for nested in group.groups))


def _traits(group: Group) -> frozenset[str]:
    """Traits that the group's members and policies speak of."""
    wanted = [m.requirements for m in group.all_members()]
    return frozenset().union(
        *(w.required_traits | w.forbidden_traits for w in wanted),
        *(rule.traits for scope in group.scopes()
          for rule in scope.group.rules))


def _hosts(connections: Connections, context) -> Iterator[Host]:
    """Every host of every cell, with its aggregates and without traits."""
    aggregates = [
        Aggregate(a.name, a.uuid, frozenset(a.hosts),
                  FrozenMapping(a.metadata))
        for a in objects.AggregateList.get_all(context)]
    named: dict[str, set[str]] = {}
    for aggregate in aggregates:
        for host in aggregate.hosts:
            named.setdefault(host, set()).update(
                (aggregate.name, aggregate.uuid))
    records = dict(_records(context))
    found = connections.topology.locate(records.keys(), aggregates)
    for name, (uuid, enabled) in records.items():
        yield replace(
            locations.at(name, found[name]), uuid=uuid, enabled=enabled,
            availability_zone=found[name].availability_zone,
            aggregates=frozenset(named.get(name, ())))


def _records(context) -> Iterator[tuple[str, tuple[str, bool]]]:
    """Name, provider, and whether it takes servers, of every host."""
    alive = servicegroup.API().service_is_up
    for cell in objects.CellMappingList.get_all(context):
        if cell.is_cell0():
            continue
        with nova_context.target_cell(context, cell) as target:
            services = {s.host: s for s in objects.ServiceList.get_by_binary(
                target, 'nova-compute', include_disabled=True)}
            nodes = objects.ComputeNodeList.get_all(target)
        for node in nodes:
            service = services.get(node.host)
            if service is not None:
                yield node.host, (node.uuid, not cell.disabled
                                  and not service.disabled and alive(service))


def _with_traits(hosts: Iterator[Host], connections: Connections,
                 traits: Collection[str]) -> Iterator[Host]:
    having = {trait: _having(connections, trait) for trait in sorted(traits)}
    for host in hosts:
        yield replace(host, traits=frozenset(
            trait for trait in having if host.uuid in having[trait]))


def _having(connections: Connections, trait: str) -> frozenset[str]:
    """UUIDs of the providers that have a trait."""
    try:
        response = connections.placement.get(
            f'/resource_providers?required={trait}',
            microversion=TRAITS_VERSION, raise_exc=False)
    except ks_exceptions.ClientException as error:
        raise Refused('Placement does not answer') from error
    if response.status_code == 400:
        # Placement does not know such a trait: nobody has it.
        return frozenset()
    if response.status_code != 200:
        raise Refused('Placement does not answer as it should')
    found: Mapping = response.json()
    return frozenset(p['uuid'] for p in found['resource_providers'])

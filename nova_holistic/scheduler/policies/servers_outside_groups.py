# SPDX-License-Identifier: Apache-2.0
"""Finds servers of others in the domains that a member of an exclusive group
would reserve."""

from collections.abc import Callable, Collection, Mapping, Sequence
from collections import Counter, defaultdict
from dataclasses import replace

from nova.compute import vm_states
from nova import context as nova_context
from nova.db.main import models
import sqlalchemy as sa

from nova_holistic.model.cloud.domain import Domain, HOST
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.hosts import cells, compute_records
from nova_holistic.scheduler.hosts.list_statement import ListStatement
from nova_holistic.scheduler.policies.membership import Membership
from nova_holistic.scheduler.policies.policy_evaluation import PolicyEvaluation

_SERVER = models.Instance.__table__.c
_ON_HOSTS = ListStatement.of_column(
    sa.select(_SERVER.uuid, _SERVER.host).where(
        _SERVER.deleted == 0,
        sa.or_(_SERVER.vm_state.is_(None),
               _SERVER.vm_state != vm_states.SOFT_DELETED),
        sa.or_(_SERVER.hidden.is_(None), _SERVER.hidden == sa.false())),
    _SERVER.host)
"""As Nova's own list: without a server that is soft-deleted, or that is hidden
because Nova resizes it to another cell."""

OutsideServers = Mapping[Domain, Sequence[Host]]


def with_outside_servers(evaluation: PolicyEvaluation,
                         connections: Connections, own: Membership,
                         instance_uuid: str,
                         candidates: Collection[Host]) -> PolicyEvaluation:
    """The evaluation, with the servers of others in any domain that the member
    would newly reserve for its group.

    Servers are read from Nova's database, one query for each cell: the
    scheduler's data about hosts may be minutes old, and a server that was just
    deleted must not block the request. Members of other groups are read from
    the table, because their servers may not exist yet. Finding the hosts of a
    domain above the level ``host`` costs the same as ``HostCache.cloud``.

    :param instance_uuid: server of the request, which does not count
    :param candidates: hosts on which the member may be placed
    :returns: the same object if the member would reserve no further domain
    """
    wanted: dict[Domain, list[Host]] = defaultdict(list)
    for host in candidates:
        for domain in evaluation.reserves(host):
            wanted[domain].append(host)
    if not wanted:
        return evaluation
    context = nova_context.get_admin_context()
    hosts = _all_in(wanted, connections, context)
    outside_servers = Counter([
        *_planned(connections, own, hosts),
        *_servers(context, hosts, lambda uuid: (
            uuid != instance_uuid and not own.has_server(uuid)))])
    return replace(evaluation,
                   outside_servers=_with_counts(hosts, outside_servers))


def _all_in(wanted: Mapping[Domain, Sequence[Host]], connections, context
            ) -> Mapping[Domain, Sequence[Host]]:
    """All hosts in the domains, including hosts that are not candidates."""
    if all(domain.level == HOST for domain in wanted):
        return wanted
    snapshot = connections.hosts.cloud(
        context, connections.topology, connections.placement, ()).snapshot
    return {domain: snapshot.divided(domain.level).get(domain, ())
            for domain in wanted}


def _planned(connections, own: Membership,
             hosts: Mapping[Domain, Sequence[Host]]) -> Sequence[str]:
    """Host of each member of other groups in the domains."""
    return connections.table.hosts_of_members(
        {host.name for each in hosts.values() for host in each},
        own.record.uuid)


def _servers(context, hosts: Mapping[Domain, Sequence[Host]],
             counts: Callable[[str], bool]) -> Sequence[str]:
    """Host of each server in the domains. Nova's own list creates an object
    with all columns for each server.

    :param counts: whether the server with this UUID counts
    """
    found = []
    for cell, names in cells.with_hosts(
            context, {host.name for each in hosts.values() for host in each}):
        with compute_records.connection(context, cell) as link:
            found.extend(host for uuid, host in _ON_HOSTS.rows(link, names)
                         if counts(uuid))
    return found


def _with_counts(hosts: Mapping[Domain, Sequence[Host]],
                 outside_servers: Counter[str]) -> OutsideServers:
    return FrozenMapping({
        domain: tuple(replace(host, servers=outside_servers[host.name])
                      for host in each if outside_servers[host.name])
        for domain, each in hosts.items()})

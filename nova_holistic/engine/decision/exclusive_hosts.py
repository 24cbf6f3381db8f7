# SPDX-License-Identifier: Apache-2.0
"""Hosts that other groups reserve with exclusive policies."""

from collections.abc import Collection, Iterable, Mapping

from oslo_log import log as logging

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.engine.member_rows import host_of
from nova_holistic import exceptions
from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.messages.cloud_totals import part
from nova_holistic.model.messages.marked_text import format_message
from nova_holistic.model.plan import Reason
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.model.reservation import Reservation, reservations
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)


def closed_hosts(table: PlacementTable, policy_types: PolicyTypes,
                 snapshot: Snapshot, group_uuid: str | None
                 ) -> frozenset[str]:
    """Names of the hosts in domains that members of other groups reserve.

    :param group_uuid: the group that will use the hosts; its own members do
        not count; None means a group that is not in the table
    """
    hosts = snapshot.by_name()
    closed: set[str] = set()
    for record, members in table.exclusive_groups():
        if record.uuid == group_uuid:
            continue
        try:
            group = parse_group(record.document, policy_types).resized(
                {m.member.path for m in members})
        except exceptions.InvalidDocument as error:
            LOG.error('It is not known which hosts group %s reserves: %s',
                      record.uuid, error)
            continue
        # A server that Nova is moving reserves both of its hosts.
        for places in ({m.member.path: m.place for m in members},
                       {m.member.path: m.next_place for m in members}):
            placement = {path: hosts.get(place.host, host_of(place))
                         for path, place in places.items()}
            for reservation in reservations(group, placement, snapshot.levels):
                closed.update(_in(snapshot, reservation.domains))
    return frozenset(closed)


def reserves(group: Group, snapshot: Snapshot,
             hosts: Mapping[str, str]) -> bool:
    """Whether some members reserve the hosts that they use.

    :param hosts: host names of all members by path
    """
    return any(_reservations(group, snapshot, hosts))


def reserved(group: Group, snapshot: Snapshot,
             hosts: Mapping[str, str]) -> frozenset[str]:
    """UUIDs of the providers of all hosts in the domains that the members
    reserve.

    :param hosts: host names of all members by path
    """
    names = frozenset[str]().union(*(
        _in(snapshot, each.domains)
        for each in _reservations(group, snapshot, hosts)))
    return frozenset(
        host.uuid for host in snapshot.hosts if host.name in names)


def _reservations(group: Group, snapshot: Snapshot,
                  hosts: Mapping[str, str]) -> Iterable[Reservation]:
    found = snapshot.by_name()
    return reservations(
        group, {path: found[name] for path, name in hosts.items()},
        snapshot.levels)


def _in(snapshot: Snapshot, domains: frozenset[Domain]) -> set[str]:
    return {host.name for domain in domains
            for host in snapshot.divided(domain.level).get(domain, ())}


def reasons(closed: frozenset[str],
            hosts: Mapping[str, Host]) -> tuple[Reason, ...]:
    """Additional reasons for a group that cannot be placed.

    :param closed: names of hosts that other groups reserve
    :param hosts: all hosts by name
    """
    usable = sum(hosts[name].enabled for name in closed)
    if not usable:
        return ()
    return (Reason.of('', format_message(
        '{} count as disabled: they are reserved for other groups',
        part(usable, len(hosts)))),)


def reserved_for_others(names: Collection[str]) -> list[Reason]:
    """Reasons why holds on hosts with these names cannot stay."""
    return [Reason.of('', format_message(
        'host {:name} is reserved for another group', name))
        for name in sorted(names)]


def closed_or_missing(names: Collection[str]) -> list[Reason]:
    """Reasons against holds on hosts that the group can no longer use."""
    return [Reason.of('', format_message(
        'host {:name} is closed or missing', name)) for name in sorted(names)]

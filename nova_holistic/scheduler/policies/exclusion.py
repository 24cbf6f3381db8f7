# SPDX-License-Identifier: Apache-2.0
"""The domains that groups reserve, so that no other server is placed there.

If a database does not answer, known reservations still apply. If a database of
Nova does not answer, members count at their places in the placement table. If
the placement table does not answer, the reservations of the last read apply.
Only a scheduler that has not read the table since its start then knows no
reservation.

A member that Nova moves reserves the domain of its source and that of its
destination: the move may still fail, or be reverted.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
import functools

from nova import context as nova_context
from oslo_log import log as logging

from nova_holistic import exceptions
from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.layered_mapping import differences
from nova_holistic.model.reservation import Reservation, reservations
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.hosts import locations
from nova_holistic.scheduler import nova_errors
from nova_holistic.scheduler.policies import exclusive_positions
from nova_holistic.scheduler.policies.member_positions import (
    Positions, PositionsByGroup)
from nova_holistic.scheduler.policies import membership
from nova_holistic.scheduler.policies.membership import Membership
from nova_holistic.scheduler.policies.reservation_cache import (
    Reservations, ReservedByGroup)
from nova_holistic.scheduler import request_memory
from nova_holistic.table.queries.cached_group import Found
from nova_holistic.table.records import GroupRecord

LOG = logging.getLogger(__name__)


_KIND = 'reservations'
"""Kind of the cache, and its only key: the reservations of all groups."""


def closed_domains(connections: Connections, own: Membership | None
                   ) -> frozenset[Domain]:
    """Domains that are reserved against the server of the request, with the
    members of groups on their current hosts.

    :param own: the server's membership; None if it is not a member of a group
    :raises HolisticError: the table does not answer, and has not been read
        since the scheduler was started
    """
    known = request_memory.of_kind(_KIND)
    known = {} if known is None else known
    found = known.get(_KIND)
    if found is None:
        found = known[_KIND] = _reserved_or_last(
            connections, own if own is not None and own.by_plan else None)
    if own is None:
        return found.domains
    return found.closed_to(own.record.uuid, own.own.member.path)


def last_closed_domains(connections: Connections, group_uuid: str | None,
                        project_id: str) -> frozenset[Domain]:
    """Reserved domains at the time of the last read; this uses no database.

    :param group_uuid: UUID of the group that the server points at, if any. The
        reservations of this group do not count if it belongs to the server's
        project: it is not known which of its members the server is
    :param project_id: project of the server
    """
    found = _last(connections)
    return found.closed(group_uuid, lambda _, record:
                        record.project_id == project_id)


def _last(connections: Connections) -> Reservations:
    """The reservations of the last read, which may be none."""
    found = connections.reserved.found
    return Reservations() if found is None else found


def _reserved_or_last(connections: Connections, planned: Membership | None
                      ) -> Reservations:
    """The current reservations of all groups, or those of the last read.

    :param planned: see ``_reserved``
    :raises HolisticError: the table does not answer, and was not read before
    """
    last = connections.reserved
    try:
        last.found = _reserved(connections, planned)
    except exceptions.HolisticError as error:
        if last.found is None:
            raise
        LOG.error(
            'The reservations of groups cannot be read: %(error)s. The '
            '%(number)d reservations that were last read apply',
            {'error': error, 'number': len(last.found)})
    return last.found


def _reserved(connections: Connections, planned: Membership | None
              ) -> Reservations:
    """The current reservations of all groups.

    One statement is sent to the placement table if no group is exclusive, or
    if no group has changed: see ``ExclusiveGroups``. It is not sent if its
    result is known. If members have servers,
    ``MemberPositionCache`` sends its statements. One more statement is
    sent if a member is not at its planned place, or if a group was planned
    with other levels than the current ones, unless the current request has
    located these hosts before. Only changed groups are evaluated.

    :param planned: the membership if its planned host is checked. Data that
        were read together with its group, or for its policies, are not read
        again
    """
    groups = (connections.table.exclusive_groups() if planned is None
              else exclusive_positions.groups_of_planned(connections))
    if not groups:
        return Reservations()
    try:
        with nova_errors.as_refusals():
            positions = exclusive_positions.take(planned)
            if positions is None:
                positions = connections.reserved.members.positions(
                    nova_context.get_admin_context(), groups)
            return _of_groups(connections, groups, positions)
    except exceptions.HolisticError as error:
        LOG.error('The hosts of members of exclusive groups are not known: '
                  '%s. The hosts in the placement table are used', error)
        return Reservations(tuple(
            each for found in groups for each in _reservations(
                connections, found[0], {
                    row.member.path: locations.planned_host(row.place)
                    for row in found[1]})))


def _of_groups(connections: Connections, groups: Sequence[Found],
               positions: PositionsByGroup) -> Reservations:
    """The reservations of groups with their members on their current hosts. If
    they have not changed, the result is the same object as before."""
    before = _last(connections)
    same = (before.source[0] is groups, before.source[1] is positions)
    if all(same) and not before.hosts:
        return before
    known = {found[0].uuid: replace(group, found=found) for found in groups
             if (group := before.groups.get(found[0].uuid)) is not None
             and group.positions is positions[found[0].uuid]
             and _has_same_places(group.found, found)}
    names = {found[0].uuid: known[found[0].uuid].hosts.keys()
             if found[0].uuid in known
             else _hosts_to_locate(connections, found, positions)
             for found in groups}
    hosts = locations.locate_hosts(
        connections.topology, set[str]().union(*names.values()))
    now = {}
    for found in groups:
        uuid = found[0].uuid
        moved = {name: hosts[name] for name in names[uuid]}
        now[uuid] = known[uuid] if (
            uuid in known and known[uuid].hosts == moved
        ) else _of_group(connections, found, positions[uuid], moved)
    if now.keys() == before.groups.keys() and all(
            now[uuid].each is before.groups[uuid].each for uuid in now):
        return before.of_source(now, (groups, positions))
    return Reservations(tuple(
        each for group in now.values() for each in group.each),
        now, (groups, positions))


def _has_same_places(before: Found, now: Found) -> bool:
    """Whether the group and the places of its members are as before, so that
    only positions may have changed. A claim changes neither."""
    last, rows = before[1].by_id, now[1].by_id
    return before is now or (
        before[0] is now[0]
        and all(number in last and number in rows
                and last[number].place is rows[number].place
                for number in differences(last, rows)))


def _hosts_to_locate(connections: Connections, found: Found,
                     positions: Mapping[str, Positions]) -> Collection[str]:
    """Names of the hosts of members that are not at their planned places. If
    the group was planned with other levels, the hosts of all its members."""
    record, rows = found
    return {name for row in rows if row.id in positions[record.uuid]
            for name in positions[record.uuid][row.id].hosts
            if name != row.place.host
            or record.levels != connections.topology.levels}


def _of_group(connections: Connections, found: Found, positions: Positions,
              moved: Mapping[str, Host]) -> ReservedByGroup:
    """The reserved domains of a group with moves at their destinations, and
    additionally with moving members at their sources."""
    record, rows = found
    is_known = record.levels == connections.topology.levels

    def host(row, name):
        return (locations.planned_host(row.place)
                if is_known and name == row.place.host else moved[name])

    there = [(row, positions[row.id]) for row in rows if row.id in positions]
    placements = (
        {row.member.path: host(row, now.host) for row, now in there},
        {row.member.path: host(row, now.source) for row, now in there
         if now.source not in (None, now.host)})
    return ReservedByGroup(found, positions, moved, tuple(
        each for placement in placements
        for each in _reservations(connections, record, placement)))


def _reservations(connections: Connections, record: GroupRecord,
                  placement: Mapping[str, Host]
                  ) -> Iterator[tuple[GroupRecord, Reservation]]:
    if not placement:
        return
    try:
        group = membership.parsed_group(
            record, connections.policy_types).resized(placement.keys())
    except exceptions.InvalidDocument as error:
        LOG.error('The domains that group %(group)s reserves are not known: '
                  '%(error)s',
                  {'group': record.uuid, 'error': error})
        return
    for each in reservations(
            group, placement, connections.topology.levels):
        yield record, each


def is_closed(closed: frozenset[Domain], host: Host,
              levels: tuple[str, ...]) -> bool:
    """Whether a host is in one of the domains.

    :param levels: levels of the topology, coarse to fine
    """
    snapshot = Snapshot(levels, ())
    return any(snapshot.domain(host, level) in closed
               for level in _levels(closed))


@functools.lru_cache(maxsize=16)
def _levels(closed: frozenset[Domain]) -> frozenset[str]:
    """The levels of the domains, which are cached because each host needs
    them."""
    return frozenset(domain.level for domain in closed)

# SPDX-License-Identifier: Apache-2.0
"""Where the policies of groups keep other servers out.

An error of a database does not open a domain that is known to be reserved. If
Nova's API database does not answer, members count as being where the
placement table has them. If the placement table does not answer, what was
reserved when it was last read stays reserved. Only a scheduler that has not
read the table since it was started knows of no reservation then.

A member that Nova moves reserves the domain of its source and that of its
destination: the move may still fail, or be reverted.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
import functools

from nova import context as nova_context
from oslo_log import log as logging

from nova_holistic import exceptions
from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.reservation import Reservation, reservations
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.hosts import locations
from nova_holistic.scheduler import nova_errors
from nova_holistic.scheduler.policies.member_positions import Positions
from nova_holistic.scheduler.policies import membership
from nova_holistic.scheduler.policies.membership import Membership
from nova_holistic.scheduler.policies.reservation_cache import (
    Reservations, ReservedByGroup)
from nova_holistic.scheduler import request_memory
from nova_holistic.table.queries.group_cache import Found
from nova_holistic.table.records import GroupRecord

LOG = logging.getLogger(__name__)


_KIND = 'reservations'
"""The reserved hosts, at this key."""


def closed_domains(connections: Connections, own: Membership | None
                   ) -> frozenset[Domain]:
    """Domains that are reserved against the new server, with the members at
    their current hosts.

    :param own: what the server is; None where it is a member of no group
    :raises HolisticError: the table does not answer, and has not been read
        since the scheduler was started
    """
    known = request_memory.of_kind(_KIND)
    known = {} if known is None else known
    found = known.get(_KIND)
    if found is None:
        found = known[_KIND] = _reserved_or_last(connections)
    if own is None:
        return found.domains
    return found.closed(own.record.uuid, lambda reservation, _:
                        own.own.member.path in reservation.members)


def last_closed_domains(connections: Connections, group_uuid: str | None,
                        project_id: str) -> frozenset[Domain]:
    """Reserved domains at the time of the last read; this uses no database.

    :param group_uuid: of the group that the server points at, if any. The
        reservations of this group do not count if it belongs to the server's
        project: it is not known which of its members the server is
    """
    found = connections.reserved.found or Reservations()
    return found.closed(group_uuid, lambda _, record:
                        record.project_id == project_id)


def _reserved_or_last(connections: Connections) -> Reservations:
    """The reserved domains of each group, or their last known state."""
    last = connections.reserved
    try:
        last.found = _reserved(connections)
    except exceptions.HolisticError as error:
        if last.found is None:
            raise
        LOG.error(
            'The reservations of groups cannot be read: %(error)s. The '
            '%(number)d reservations that were last read apply',
            {'error': error, 'number': len(last.found)})
    return last.found


def _reserved(connections: Connections) -> Reservations:
    """What each group reserves.

    One statement to the placement table if no group reserves anything, or if
    no group has changed: see ``ExclusiveGroups``. If members have servers,
    also what ``MemberPositionCache`` costs; and two statements if any member
    is not where it was planned, or a group was planned with other levels than
    there are. What has not changed is not worked out again.
    """
    groups = connections.table.exclusive_groups()
    if not groups:
        return Reservations()
    try:
        with nova_errors.as_refusals():
            return _of_groups(connections, groups)
    except exceptions.HolisticError as error:
        LOG.error('The hosts of members of exclusive groups are not known: '
                  '%s. The hosts in the placement table are used', error)
        return Reservations(tuple(
            each for found in groups for each in _reservations(
                connections, found[0], {
                    row.member.path: locations.planned_host(row.place)
                    for row in found[1]})))


def _of_groups(connections: Connections, groups: Sequence[Found]
               ) -> Reservations:
    """What groups reserve with their members where they are; the same object
    as before if it is the same."""
    before = connections.reserved.found or Reservations()
    context = nova_context.get_admin_context()
    positions = connections.reserved.members.positions(context, groups)
    same = (before.source[0] is groups, before.source[1] is positions)
    if all(same) and not before.hosts:
        return before
    known = {found[0].uuid: group for found in groups
             if (group := before.groups.get(found[0].uuid)) is not None
             and group.found is found
             and group.positions is positions[found[0].uuid]}
    names = {found[0].uuid: known[found[0].uuid].hosts.keys()
             if found[0].uuid in known
             else _replacement_host(connections, found, positions)
             for found in groups}
    hosts = locations.locate_hosts(
        connections.topology, context, set[str]().union(*names.values()))
    now = {}
    for found in groups:
        uuid = found[0].uuid
        moved = {name: hosts[name] for name in names[uuid]}
        now[uuid] = known[uuid] if (
            uuid in known and known[uuid].hosts == moved
        ) else _of_group(connections, found, positions[uuid], moved)
    if all(same) and all(now[uuid] is known[uuid] for uuid in known):
        return before
    return Reservations(tuple(
        each for group in now.values() for each in group.each),
        now, (groups, positions))


def _replacement_host(connections: Connections, found: Found,
                      positions: Mapping[str, Positions]) -> Collection[str]:
    """Hosts of members of a group that are not at their planned places, or
    whose place is unknown."""
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
    """Whether a host is in one of the domains."""
    snapshot = Snapshot(levels, ())
    return any(snapshot.domain(host, level) in closed
               for level in _levels(closed))


@functools.lru_cache(maxsize=16)
def _levels(closed: frozenset[Domain]) -> frozenset[str]:
    """The levels of the domains; hosts by the thousand ask for them."""
    return frozenset(domain.level for domain in closed)

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

from collections.abc import Callable, Iterator, Mapping, Sequence
import functools
import threading
from typing import Any

from nova import context as nova_context
from oslo_log import log as logging

from nova_holistic import exceptions
from nova_holistic.model.domain import Domain
from nova_holistic.model.reservation import Reservation, reservations
from nova_holistic.model.snapshot import Host, Snapshot
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.hosts import locations
from nova_holistic.scheduler.policies import membership, whereabouts
from nova_holistic.scheduler.policies.membership import Membership
from nova_holistic.scheduler import unanswered
from nova_holistic.table.queries.rosters import Found
from nova_holistic.table.records import GroupRecord

LOG = logging.getLogger(__name__)


class _Request(threading.local):
    """The request that a thread answers.

    :ivar found: what groups reserve; None before it was read, and outside of
        a request
    """

    under_way = False
    found: Sequence[tuple[GroupRecord, Reservation]] | None = None


_request = _Request()


def read_once(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function one that answers a request: what groups reserve is read
    once for all the servers that it asks for."""
    @functools.wraps(answer)
    def wrapper(*args, **kwargs):
        _request.under_way = True
        try:
            return answer(*args, **kwargs)
        finally:
            _request.under_way, _request.found = False, None

    return wrapper


def closed_domains(connections: Connections, own: Membership | None
                   ) -> frozenset[Domain]:
    """Domains that are reserved, with the members where they really are, for
    others than the server that is to be placed.

    :param own: what the server is; None where it is a member of no group
    :raises HolisticError: the table does not answer, and has not been read
        since the scheduler was started
    """
    found = _request.found
    if found is None:
        found = _reserved_or_last(connections)
        _request.found = found if _request.under_way else None
    return _closed(found, lambda reservation, record: _is_for(
        reservation, record, own))


def last_closed_domains(connections: Connections, group_uuid: str | None,
                        project_id: str) -> frozenset[Domain]:
    """Domains that were reserved when that was last read; no database is
    asked.

    :param group_uuid: of the group that the server points at, if any. The
        reservations of this group do not count if it belongs to the server's
        project: it is not known which of its members the server is
    """
    own = (group_uuid, project_id)
    return _closed(connections.reserved.found or (), lambda _, record:
                   (record.uuid, record.project_id) == own)


def _closed(found: Sequence[tuple[GroupRecord, Reservation]],
            is_open: Callable[[Reservation, GroupRecord], bool]
            ) -> frozenset[Domain]:
    return frozenset(
        domain for record, reservation in found
        if not is_open(reservation, record) for domain in reservation.domains)


def _reserved_or_last(connections: Connections
                      ) -> Sequence[tuple[GroupRecord, Reservation]]:
    """What each group reserves, or what was known of it last."""
    last = connections.reserved
    try:
        last.found = _reserved(connections)
    except exceptions.HolisticError as error:
        if last.found is None:
            raise
        LOG.error(
            'What groups reserve cannot be read: %(error)s. The '
            '%(number)d reservations that were last read count',
            {'error': error, 'number': len(last.found)})
    return last.found


def _reserved(connections: Connections
              ) -> Sequence[tuple[GroupRecord, Reservation]]:
    """What each group reserves.

    One query where no group reserves anything; else two of the table, one of
    the mapping of cells, one for each cell, and two where any member has
    moved unnoticed, or a group was planned with other levels than there are.
    """
    groups = connections.table.exclusive_groups()
    if not groups:
        return ()
    placements = _placements(connections, groups)
    return [(record, each) for record, rows in groups
            for hosts in placements
            if (there := {row.member.path: hosts[row.id]
                          for row in rows if row.id in hosts})
            for each in _reservations(connections, record, there)]


def _placements(connections: Connections, groups: Sequence[Found]
                ) -> Sequence[Mapping[int, Host]]:
    """Where members are, by the ids of their rows: with moves at their
    destinations, and those that move once more at their sources."""
    context = nova_context.get_admin_context()
    members = [(record, row) for record, rows in groups for row in rows]
    try:
        with unanswered.refused():
            now = whereabouts.positions_by_row(
                context, [row for _, row in members])
            ends = {number: [each.host] for number, each in now.items()}
            sources = {number: each.hosts - {each.host}
                       for number, each in now.items()}
            return [locations.of_members(connections.topology, context, [
                (record, row, name) for record, row in members
                for name in names.get(row.id, ())])
                for names in (ends, sources) if any(names.values())]
    except exceptions.HolisticError as error:
        LOG.error('Where members of exclusive groups are is not known: '
                  '%s. They count as being where the placement table has '
                  'them', error)
        return [{row.id: locations.remembered(row.place)
                 for _, row in members}]


def _reservations(connections: Connections, record: GroupRecord,
                  placement: Mapping[str, Host]) -> Iterator[Reservation]:
    try:
        group = membership.parsed_group(record, connections.policy_types)
    except exceptions.InvalidDocument as error:
        LOG.error('What group %(group)s reserves is not known: %(error)s',
                  {'group': record.uuid, 'error': error})
        return
    yield from reservations(group, placement, connections.topology.levels)


def _is_for(reservation: Reservation, record: GroupRecord,
            own: Membership | None) -> bool:
    return (own is not None and own.record.uuid == record.uuid
            and own.own.member.path in reservation.members)


def is_closed(closed: frozenset[Domain], host: Host,
              levels: tuple[str, ...]) -> bool:
    """Whether a host is in one of the domains."""
    snapshot = Snapshot(levels, ())
    return any(snapshot.domain(host, level) in closed
               for level in {domain.level for domain in closed})

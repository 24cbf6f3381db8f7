# SPDX-License-Identifier: Apache-2.0
"""Where the policies of groups keep other servers out."""

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
from nova_holistic.scheduler import locations
from nova_holistic.scheduler import membership
from nova_holistic.scheduler.membership import Membership
from nova_holistic.scheduler import whereabouts
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
    :raises HolisticError: the table does not answer, or a host cannot be
        located
    """
    found = _request.found
    if found is None:
        found = _reserved(connections)
        _request.found = found if _request.under_way else None
    closed: set[Domain] = set()
    for record, reservation in found:
        if not _is_for(reservation, record, own):
            closed.update(reservation.domains)
    return frozenset(closed)


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
    context = nova_context.get_admin_context()
    now = whereabouts.hosts_by_row(
        context, [row for _, rows in groups for row in rows])
    hosts = locations.of_members(connections.topology, context, [
        (record, row, now[row.id])
        for record, rows in groups for row in rows if row.id in now])
    return [(record, each) for record, rows in groups
            for each in _reservations(connections, record, {
                row.member.path: hosts[row.id]
                for row in rows if row.id in hosts})]


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

# SPDX-License-Identifier: Apache-2.0
"""Where the policies of groups keep other servers out."""

from collections.abc import Iterator, Mapping

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


def closed_domains(connections: Connections, own: Membership | None
                   ) -> frozenset[Domain]:
    """Domains that are reserved, with the members where they really are, for
    others than the server that is to be placed.

    One query where no group reserves anything; else two, one of the mapping
    of cells, one for each cell, and one for each host to which a member has
    moved unnoticed.

    :param own: what the server is; None where it is a member of no group
    :raises HolisticError: the table does not answer, or a host cannot be
        located
    """
    groups = connections.table.exclusive_groups()
    if not groups:
        return frozenset()
    context = nova_context.get_admin_context()
    hosts = whereabouts.hosts_by_row(
        context, [row for _, rows in groups for row in rows])
    closed: set[Domain] = set()
    for record, rows in groups:
        placement = {row.member.path: locations.of_member(
            connections.topology, context, record, row, hosts[row.id])
            for row in rows if row.id in hosts}
        for each in _reservations(connections, record, placement):
            if not _is_for(each, record, own):
                closed.update(each.domains)
    return frozenset(closed)


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

# SPDX-License-Identifier: Apache-2.0
"""Finds the groups of servers whose scheduler hints do not name the group.

Nova does not change the hints of an existing server. So a server that a group
has adopted has no pointer to the group, and a server that was detached from
its group still has its pointer. The table records both cases.

A request without a pointer costs one query. If the table does not answer, the
server counts as no member: a plain request does not depend on the table.
"""

from collections.abc import Iterable

from oslo_log import log as logging

from nova_holistic import exceptions
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler import request_memory
from nova_holistic.table.queries import memberships

LOG = logging.getLogger(__name__)


_KIND = 'adopted servers'
"""Kind of the cache: UUID of the group, or None, by UUID of the server."""


def note_new(uuids: Iterable[str]) -> None:
    """Record, without a query, that no group has adopted the servers of this
    request, because they do not exist yet."""
    known = request_memory.of_kind(_KIND)
    if known is not None:
        known.update(dict.fromkeys(uuids))


def group_of(connections: Connections, spec) -> str | None:
    """UUID of the group of the server; None if it is not a member of a group,
    or if the table does not answer."""
    uuid = spec.instance_uuid if 'instance_uuid' in spec else None
    if not uuid:
        return None
    known = request_memory.of_kind(_KIND)
    if known is not None and uuid in known:
        return known[uuid]
    try:
        group = memberships.group_of(connections.table.database, uuid)
    except exceptions.HolisticError as error:
        LOG.warning('The group of instance %(instance)s cannot be read: '
                    '%(error)s',
                    {'instance': uuid, 'error': error})
        group = None
    if known is not None:
        known[uuid] = group
    return group


def is_known(spec) -> bool:
    """Whether ``group_of`` has found a group of the server in this request. No
    query is sent."""
    uuid = spec.instance_uuid if 'instance_uuid' in spec else None
    return bool((request_memory.of_kind(_KIND) or {}).get(uuid))


def is_detached(connections: Connections, group_uuid: str,
                instance_uuid: str) -> bool:
    """Whether the server was detached from the group.

    :raises TableError: the table does not answer
    """
    return memberships.is_detached(
        connections.table.database, group_uuid, instance_uuid)

# SPDX-License-Identifier: Apache-2.0
"""Servers whose scheduler hints do not say which members they are.

Nova does not change the hints of an existing server. So a server that a group
has adopted has no pointer to the group, and a server that was detached from
its group still has its pointer. The table knows both.

A request without a pointer costs one query. If the table does not answer, the
server counts as no member: a plain request does not depend on the table.
"""

from collections.abc import Callable, Iterable
import functools
import threading
from typing import Any

from oslo_log import log as logging

from nova_holistic import exceptions
from nova_holistic.scheduler.connections import Connections
from nova_holistic.table.queries import memberships

LOG = logging.getLogger(__name__)


class _Request(threading.local):
    """The request that a thread answers.

    :ivar groups: what was read, by UUID of the server; None outside of a
        request
    """

    groups: dict[str, str | None] | None = None


_request = _Request()


def read_once(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a decorated function answer one request: each server is read only
    once."""
    @functools.wraps(answer)
    def wrapper(*args, **kwargs):
        _request.groups = {}
        try:
            return answer(*args, **kwargs)
        finally:
            _request.groups = None

    return wrapper


def note_new(uuids: Iterable[str]) -> None:
    """The servers of this request do not exist yet, so no group has adopted
    them; without a query."""
    if _request.groups is not None:
        _request.groups.update(dict.fromkeys(uuids))


def group_of(connections: Connections, spec) -> str | None:
    """UUID of the group that the server is a member of, if any."""
    uuid = spec.instance_uuid if 'instance_uuid' in spec else None
    if not uuid:
        return None
    known = _request.groups
    if known is not None and uuid in known:
        return known[uuid]
    try:
        group = memberships.group_of(connections.table.database, uuid)
    except exceptions.HolisticError as error:
        LOG.warning('It is not known whether instance %(instance)s is a '
                    'member of a group: %(error)s',
                    {'instance': uuid, 'error': error})
        group = None
    if known is not None:
        known[uuid] = group
    return group


def is_known(spec) -> bool:
    """Whether the server was found to be a member in this request; without a
    query."""
    uuid = spec.instance_uuid if 'instance_uuid' in spec else None
    return bool((_request.groups or {}).get(uuid))


def is_detached(connections: Connections, group_uuid: str,
                instance_uuid: str) -> bool:
    """Whether the server was taken out of the group that it points at."""
    return memberships.is_detached(
        connections.table.database, group_uuid, instance_uuid)

# SPDX-License-Identifier: Apache-2.0
"""The positions of the members of exclusive groups for one create.

A create in an exclusive group needs them twice: for the policies of this
group, and for the domains that groups reserve. They are read once.
"""

from collections.abc import Mapping, Sequence

from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.policies.group_positions import Groups
from nova_holistic.scheduler.policies.member_positions import (
    Positions, PositionsByGroup)
from nova_holistic.scheduler import request_memory
from nova_holistic.table.queries.cached_group import Found
from nova_holistic.table.records import GroupRecord, MemberRecord

_GROUPS, _POSITIONS = 'exclusive groups', 'positions of exclusive groups'
"""Kinds of data of the current request: the groups, and the positions with the
object for which they were read."""


def unread_servers(connections: Connections) -> list[str]:
    """UUIDs of the servers that ``of_group`` will read for certain. Empty if
    the state of the groups was not read together with the group of the
    pointer.

    :raises TableError: the table does not answer
    """
    if request_memory.get(request_memory.EXCLUSIVE_STATE) is None:
        return []
    return connections.reserved.members.unread_servers(
        groups_of_planned(connections))


def groups_of_planned(connections: Connections) -> Sequence[Found]:
    """The exclusive groups, for checks of planned hosts. They are read once
    per request.

    :raises TableError: the table does not answer
    """
    found = request_memory.get(_GROUPS)
    if found is None:
        state = request_memory.get(request_memory.EXCLUSIVE_STATE)
        found = connections.table.exclusive_groups(
            *() if state is None else (state,))
        request_memory.put(_GROUPS, found)
    return found


def of_group(connections: Connections, context, record: GroupRecord,
             rows: Mapping[int, MemberRecord], planned: object | None
             ) -> Positions:
    """The positions of the members of a group; for the check of a planned host
    in an exclusive group, those that ``take`` then returns with the positions
    of the other exclusive groups.

    :param rows: members by the IDs of their rows
    :param planned: object for which ``take`` is called if a planned host is
        checked with the rows of the table; None for any other check
    :raises TableError: the table does not answer
    """
    if planned is not None and record.exclusive:
        found = connections.reserved.members.positions(
            context, groups_of_planned(connections), record.uuid)
        request_memory.put(_POSITIONS, (planned, found))
        if record.uuid in found:
            return found[record.uuid]
    return connections.positions.positions(
        context, Groups(record.uuid, frozenset([record.project_id])), rows)


def take(planned: object) -> PositionsByGroup | None:
    """The positions of the members of all groups that ``of_group`` has read
    for this object. They are returned once.

    :returns: None if it has read none in the current request, or if they were
        read for another object or discarded
    """
    found = request_memory.take(_POSITIONS)
    return found[1] if found is not None and found[0] is planned else None


def discard() -> None:
    """Discard what was read for checks of planned hosts, because another host
    is checked now."""
    for kind in request_memory.EXCLUSIVE_STATE, _GROUPS, _POSITIONS:
        request_memory.take(kind)

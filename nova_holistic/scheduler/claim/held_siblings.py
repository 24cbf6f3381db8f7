# SPDX-License-Identifier: Apache-2.0
"""A create that names a server of an elastic member takes a place that is
held for another server of this member.

Clients that number their servers, such as an OS::Heat::ResourceGroup, may
never use a number again. Without this exchange, the place that is held under
such a number would count for the maximum until the end of the lease.
"""

from collections.abc import Sequence

from nova_holistic import crash_points
from nova_holistic.model.elastic.counts import counts
from nova_holistic.model.group import Group
from nova_holistic.model.members.bounds import numbered
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.pointer import Pointer
from nova_holistic.scheduler.policies import membership
from nova_holistic.table.changes.claim import CLAIMABLE
from nova_holistic.table.changes import held_places
from nova_holistic.table.changes.held_places import Handover
from nova_holistic.table.records import (
    GroupRecord, MemberRecord, MemberState)


def find(group: Group, rows: Sequence[MemberRecord],
         path: str) -> MemberRecord | None:
    """The planned row that a create with this pointer takes instead of a new
    one; None if the group holds no such place.

    While the member has fewer servers and held places than desired, it gets a
    further server instead.

    :param group: the group as its document describes it
    :param path: path of one server
    """
    live = {row.member.path for row in rows
            if row.state != MemberState.RELEASED}
    held = [row for row in rows if row.state == MemberState.PLANNED
            and numbered(row.member.description, path) is not None]
    if path in live or not held:
        return None
    description = held[-1].member.description
    number = next((member_count for member_count in counts(group, live)
                   if member_count.path == description), None)
    if number is None or number.missing or _is_named(
            group, [path, *(row.member.path for row in held)]):
        return None
    return held[-1]


def _is_named(group: Group, paths: Sequence[str], prefix: str = '') -> bool:
    """Whether a relationship distinguishes one of the servers."""
    return any(prefix + side in paths for each in group.relationships
               for side in getattr(each, 'between', ())) or any(
                   _is_named(nested, paths, f'{prefix}{nested.name}/')
                   for nested in group.groups)


def take_over(connections: Connections, pointer: Pointer
              ) -> tuple[MemberRecord, Sequence[MemberRecord]] | None:
    """Move a held place to the path of the pointer.

    :returns: the planned row at this path, and the other rows of the group;
        None if the group holds no such place, or if the group has changed
    :raises TableError: the table does not answer
    """
    found = connections.table.group_cache.read(pointer.group)
    if found is None or found[0].status not in CLAIMABLE:
        return None
    record, rows = found
    held = find(membership.parsed_group(record, connections.policy_types),
                rows, pointer.member)
    row = held and held_places.hand_over(
        connections.table.database,
        Handover(record, held, pointer.member), connections.clock())
    if row is None:
        return None
    crash_points.reached('claim.place-handed-over')
    return row, [sibling for sibling in rows
                 if sibling.id not in (held.id, row.id)]


def exists(connections: Connections, record: GroupRecord,
           rows: Sequence[MemberRecord], path: str) -> bool:
    """Whether the group holds a place that a create with this path takes."""
    return find(membership.parsed_group(record, connections.policy_types),
                rows, path) is not None

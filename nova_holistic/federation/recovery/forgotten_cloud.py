# SPDX-License-Identifier: Apache-2.0
"""Removes the parts of groups in a cloud that never answers again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from nova_holistic.table.errors import GroupUnknown
from nova_holistic.table.records import MemberState
from nova_holistic.table.store import PlacementTable

BUSY, FORGOTTEN, FOUND, NO_PART = 'busy', 'forgotten', 'found', 'no part'
"""Results for a group: it has a task, so that nothing is changed; its part is
removed; the part would be removed; it has no part in the cloud."""


@dataclass(frozen=True, slots=True)
class ForgottenPart:
    """The result for one group.

    :ivar child_groups: UUIDs of the group in the cloud, as far as they are
        known. If the cloud answers again, its operator deletes these groups
    :ivar members: number of members in the cloud that are not released
    :ivar result: ``BUSY``, ``FORGOTTEN``, ``FOUND`` or ``NO_PART``
    """

    group: str
    child_groups: Sequence[str]
    members: int
    result: str


def forget(table: PlacementTable, group_uuid: str, cloud: str,
           clock: Callable[[], datetime], dry_run: bool) -> ForgottenPart:
    """Remove the parts of a group in a cloud, and mark their members as lost.

    The cloud receives no request. The capacity of the part there is freed when
    its lease expires. Servers remain.

    :param cloud: name of the child, which the file of children may no longer
        contain
    :param dry_run: whether nothing is changed
    :raises GroupUnknown: there is no such group
    """
    group = table.get_group(group_uuid)
    if group is None:
        raise GroupUnknown(group_uuid)
    parts = [part for part in table.parts.of_group(group_uuid)
             if part.child == cloud]
    members = sum(
        row.place.host == cloud and row.state != MemberState.RELEASED
        for row in table.members(group_uuid)) if parts else 0

    def outcome(result: str) -> ForgottenPart:
        return ForgottenPart(
            group_uuid, tuple(part.child_group for part in parts
                              if part.child_group), members, result)
    if not parts:
        return outcome(NO_PART)
    if group.task is not None:
        return outcome(BUSY)
    if dry_run:
        return outcome(FOUND)
    # A task may have begun since the group was read.
    return outcome(FORGOTTEN if table.parts.forget(group_uuid, cloud, clock())
                   else BUSY)

# SPDX-License-Identifier: Apache-2.0
"""The volumes of groups: rows of the placement table, without a hold.

Cinder's scheduler counts planned volumes if it has the driver and the filter
of ``nova_holistic.cinder``. So the rows themselves reserve the capacity.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from nova_holistic.documents.groups import volumes as documents
from nova_holistic.engine.member_rows import place_of
from nova_holistic.engine.settled_groups import settled_group
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan
from nova_holistic.model.storage_pools import has_volumes, volumes_of
from nova_holistic.table.changes.first_change import FirstChange
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberState, Place)
from nova_holistic.table.store import PlacementTable
from nova_holistic.table.volume_records import (
    OCCUPYING, VolumeRecord, WITH_VOLUME)


def planned_volumes(group_uuid: str, group: Group, snapshot: Snapshot,
                    plan: Plan, now: datetime) -> tuple[VolumeRecord, ...]:
    """One row for each volume, in the order of the document."""
    found = volumes_of(group)
    if not found:
        return ()
    pools, hosts = plan.hosts(), snapshot.by_name()
    return tuple(
        VolumeRecord(
            group_uuid, member.path, member.description,
            member.requirements.volume, place.host, place.location,
            place.labels, created_at=now, updated_at=now)
        for member in found
        for place in [place_of(hosts[pools[member.path]])])


def staying(table: PlacementTable, group_uuid: str,
            group: Group) -> Sequence[VolumeRecord]:
    """The volumes of a group that use capacity of their pools. No change of
    the group moves them."""
    if not has_volumes(group):
        return ()
    return [row for row in table.volumes.of_group(group_uuid)
            if row.state in OCCUPYING]


def pools(rows: Iterable[VolumeRecord]) -> dict[str, str]:
    """The name of the pool of each volume by path."""
    return {row.path: row.pool for row in rows}


def planned_place(row: VolumeRecord) -> Place:
    """The pool of a volume, at its location when the volume was planned."""
    return Place(row.pool, row.pool, '', row.location, row.labels)


def placed_paths(group: Group,
                 rows: Iterable[VolumeRecord]) -> frozenset[str]:
    """Paths of all servers of a group, and of the volumes in these rows."""
    return frozenset(
        member.path for member in group.all_members()
        if not member.requirements.volume).union(row.path for row in rows)


def forget(table: PlacementTable, record: GroupRecord) -> None:
    """Remove the volumes of a group that is not planned. Nothing is removed
    if another engine has the task of the group."""
    if documents.has_volumes(record.document):
        table.volumes.write(record.uuid, (), record.engine)


def of_group(table: PlacementTable,
             group: GroupRecord) -> Sequence[VolumeRecord]:
    """All volumes of a group."""
    if not documents.has_volumes(group.document):
        return ()
    return table.volumes.of_group(group.uuid)


def release(table: PlacementTable, seen: Sequence[VolumeRecord],
            now: datetime, with_volumes: bool,
            first: FirstChange | None = None) -> tuple[list[str], list[str]]:
    """Release volumes that Cinder has not created.

    :param seen: rows of one group
    :param with_volumes: whether the others are released when they are deleted
    :param first: what the release checks and changes in the group, if it is
        the first change
    :raises StaleRevision: the group has another revision
    :raises GroupUnknown: the group was deleted
    :returns: paths of the volumes that were released, and of those that
        remain because Cinder has created them
    """
    if not seen:
        return [], []
    group_uuid = seen[0].group_uuid
    before = {row.path: row.state for row in seen}
    if first is None:
        table.volumes.release(group_uuid, now, list(before), with_volumes)
    elif not table.volumes.release_at(first, now, list(before), with_volumes):
        settled_group(table, group_uuid, first.revision)
    after = [row for row in table.volumes.of_group(group_uuid)
             if row.path in before]
    return ([row.path for row in after
             if row.state == MemberState.RELEASED != before[row.path]],
            [row.path for row in after if row.state in WITH_VOLUME])


def release_remaining(table: PlacementTable, group: GroupRecord,
                      now: datetime) -> None:
    """Release the planned volumes of a group whose servers are all released:
    Cinder no longer creates them."""
    if documents.has_volumes(group.document):
        found = table.get_group(group.uuid)
        if found is not None and found.status == GroupStatus.RELEASED:
            table.volumes.release(group.uuid, now)


def expire(table: PlacementTable, group: GroupRecord, now: datetime) -> None:
    """Release the planned volumes of a group whose lease has passed."""
    if documents.has_volumes(group.document):
        table.volumes.expire(group.uuid, now)

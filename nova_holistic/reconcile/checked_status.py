# SPDX-License-Identifier: Apache-2.0
"""The status of a group according to its servers after they have moved."""

from typing import Any

from nova_holistic.engine.decision.link_use import with_other_groups
from nova_holistic.engine.group_parser import GroupParser
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.reconcile.volume_positions import VolumePositions
from nova_holistic.repair.violations import violations
from nova_holistic.table.changes import group_degradation
from nova_holistic.table.queries.progress import WITH_SERVERS
from nova_holistic.table.records import GroupRecord, GroupStatus
from nova_holistic.table.store import PlacementTable


def checked_status(table: PlacementTable, groups: GroupParser,
                   inventory: CloudInventory,
                   record: GroupRecord) -> dict[str, Any]:
    """The changes of the status and the violations of a group that its servers
    require; empty if the record is correct.

    :param record: the group; it is read again
    :raises HolisticError: the inventory or the table does not respond
    """
    members = table.members(record.uuid)
    found = table.get_group(record.uuid) or record
    group = groups.sized(found, members)
    cloud = inventory.snapshot()
    broken = violations(
        group, VolumePositions(table, inventory).added_now(
            found, members, cloud),
        with_other_groups(table, group, record.uuid, cloud))
    if broken and found.status in (*WITH_SERVERS, GroupStatus.DEGRADED):
        return {'status': GroupStatus.DEGRADED,
                'violations': [violation.to_row() for violation in broken]}
    if found.status == GroupStatus.DEGRADED:
        return group_degradation.recovered(members)
    return {}

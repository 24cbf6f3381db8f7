# SPDX-License-Identifier: Apache-2.0
"""Plans lost volumes again. All other members and volumes stay.

A volume is lost when Cinder's filters refuse its planned pool. It gets another
pool if possible, and otherwise the same pool if that has capacity again.
"""

from collections.abc import Sequence
from dataclasses import replace

from nova_holistic.documents.groups.volumes import has_volumes
from nova_holistic.engine.decision.planning_request import (
    CheckedPlan, NotPlanned, PlanningRequest)
from nova_holistic.engine.decision import row_requests, storage_pools
from nova_holistic.engine.proposal import PlannerComponents
from nova_holistic.engine import volume_rows
from nova_holistic.model.plan import Reason
from nova_holistic.table.records import GroupRecord, MemberState
from nova_holistic.table.volume_records import VolumeRecord


def replan(parts: PlannerComponents, record: GroupRecord) -> Sequence[Reason]:
    """Plan all lost volumes of a group, or none.

    :returns: the reasons for volumes that stay lost
    :raises InvalidDocument: the document is no longer accepted
    """
    volumes = parts.table.volumes
    lost = [row for row in volumes.of_group(record.uuid)
            if row.state == MemberState.LOST] if has_volumes(
                record.document) else ()
    if not lost:
        return ()
    request = _request(parts, record, lost)
    try:
        decision = _decided(parts, request, lost)
    except NotPlanned as end:
        return end.reasons
    new = {row.path: row for row in volume_rows.planned_volumes(
        record.uuid, decision.group, decision.snapshot, decision.plan,
        parts.clock())}
    planned = [row for seen in lost if (row := volumes.replan(
        seen, new[seen.path], parts.clock()))]
    planner = parts.snapshot_planner
    objections = storage_pools.objections(planned, lambda: planner.usable(
        request, planner.cached_snapshot(()))[0])
    if objections:
        for row in planned:
            volumes.lose(row, parts.clock())
    return objections


def _request(parts: PlannerComponents, record: GroupRecord,
             lost: Sequence[VolumeRecord]) -> PlanningRequest:
    """The request for new pools of lost volumes."""
    request = row_requests.request_for_members(
        parts, record, parts.table.members(record.uuid), ())
    return replace(request, group=row_requests.parsed(parts, record).only({
        *request.placed, *(row.path for row in lost)}))


def _decided(parts: PlannerComponents, request: PlanningRequest,
             lost: Sequence[VolumeRecord]) -> CheckedPlan:
    """
    :raises NotPlanned: no pool takes the volumes
    """
    refused = {path: set(hosts) for path, hosts in request.refused.items()}
    descriptions = {row.path: row.description for row in lost}
    for row in lost:
        refused.setdefault(row.description, set()).add(row.pool)
    for created in parts.table.volumes.creations.volumes(request.uuid):
        if created.path in descriptions:
            refused.setdefault(descriptions[created.path], set()).update(
                created.refused_pools)
    try:
        return parts.snapshot_planner.decide(
            replace(request, refused=refused))
    except NotPlanned:
        return parts.snapshot_planner.decide(request)

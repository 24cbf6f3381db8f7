# SPDX-License-Identifier: Apache-2.0
"""Nested groups of which no replica is desired, in new definitions.

The plan of a group does not contain them, so that their mistakes would be
found only when a replica is planned.
"""

from dataclasses import replace

from nova_holistic.documents.groups.revision import unchanged_groups
from nova_holistic.engine.decision.planning_request import PlanningRequest
from nova_holistic.engine.decision.snapshot_planner import SnapshotPlanner
from nova_holistic.engine.proposal import PlannerComponents
from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.elastic.unused_groups import has_unused, with_replicas
from nova_holistic.model.group import Group
from nova_holistic.model.storage_pools import has_volumes
from nova_holistic.table.queries.progress import SETTLING
from nova_holistic.table.records import GroupRecord


def must_be_known(snapshot_planner: SnapshotPlanner, group: Group) -> None:
    """Check the flavors, images, volume types and levels of a definition that
    has nested groups without a replica.

    :raises InvalidDocument: the cloud does not have one of them; with all
        mistakes of the definition
    """
    if has_unused(group):
        _check(snapshot_planner, with_replicas(group))


def must_be_known_if_changed(parts: PlannerComponents, record: GroupRecord,
                             revised: Group) -> None:
    """Check the flavors, images and levels of those nested groups without a
    replica that an update adds or changes. The plan of the update checks all
    other members, and a flavor of an unchanged nested group may have been
    deleted since it was accepted.

    :param record: the group before the update, with its task; if it has not
        been planned, its whole definition is checked
    :param revised: the group after the update
    :raises InvalidDocument: the cloud does not have one of them; with all
        mistakes of these nested groups
    """
    if record.status not in SETTLING:
        must_be_known(parts.snapshot_planner, revised)
        return
    document = (record.pending or {}).get('document', record.document)
    whole = with_replicas(
        revised, unchanged_groups(record.document, document))
    if added := ({each.path for each in whole.all_members()}
                 - {each.path for each in revised.all_members()}):
        _check(parts.snapshot_planner, _without_empty(whole.only(added)))


def _without_empty(group: Group) -> Group:
    """The group without descriptions that have no servers."""
    return replace(
        group, members=tuple(m for m in group.members if m.server_names()),
        groups=tuple(map(_without_empty, group.groups)))


def _check(snapshot_planner: SnapshotPlanner, whole: Group) -> None:
    request = PlanningRequest(whole, '')

    def check(cloud: Snapshot) -> Group:
        # Only these hosts include the storage pools.
        return bind(whole, snapshot_planner.usable(request, cloud)[0]
                    if has_volumes(whole) else cloud)

    snapshot_planner.on_cached_snapshot(check, request)

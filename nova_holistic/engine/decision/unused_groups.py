# SPDX-License-Identifier: Apache-2.0
"""Nested groups of which no replica is desired, in new definitions.

The plan of a group does not contain them, so that their mistakes would be
found only when a replica is planned.
"""

from nova_holistic.engine.decision.planning_request import PlanningRequest
from nova_holistic.engine.decision.snapshot_planner import SnapshotPlanner
from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.elastic.unused_groups import has_unused, with_replicas
from nova_holistic.model.group import Group
from nova_holistic.model.storage_pools import has_volumes


def must_be_known(snapshot_planner: SnapshotPlanner, group: Group) -> None:
    """Check the flavors, images, volume types and levels of a definition that
    has nested groups without a replica.

    :raises InvalidDocument: the cloud does not have one of them; with all
        mistakes of the definition
    """
    if not has_unused(group):
        return
    whole = with_replicas(group)
    request = PlanningRequest(whole, '')

    def check(cloud: Snapshot) -> Group:
        # Only these hosts include the storage pools.
        return bind(whole, snapshot_planner.usable(request, cloud)[0]
                    if has_volumes(whole) else cloud)

    snapshot_planner.on_cached_snapshot(check, request)

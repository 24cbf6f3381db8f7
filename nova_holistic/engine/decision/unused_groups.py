# SPDX-License-Identifier: Apache-2.0
"""Nested groups of which no replica is desired, in new definitions.

The plan of a group does not contain them, so that their mistakes would be
found only when a replica is planned.
"""

from dataclasses import replace

from nova_holistic.engine.decision.planning_request import PlanningRequest
from nova_holistic.engine.decision.snapshot_planner import SnapshotPlanner
from nova_holistic.model.binding import bind
from nova_holistic.model.group import Group


def must_be_known(snapshot_planner: SnapshotPlanner, group: Group) -> None:
    """Check the flavors, images and levels of a definition that has nested
    groups without a replica.

    :raises InvalidDocument: the cloud does not have one of them; with all
        mistakes of the definition
    """
    if not any(_unused(each) for each in group.described_groups()):
        return
    whole = _with_replicas(group)
    snapshot_planner.on_cached_snapshot(
        lambda cloud: bind(whole, cloud), PlanningRequest(whole, ''))


def _with_replicas(group: Group) -> Group:
    """The group with at least one replica of each nested group."""
    return replace(group, groups=tuple(
        _with_replicas(each) for each in (*group.groups, *_unused(group))))


def _unused(group: Group) -> list[Group]:
    """A first replica of each nested group that has none."""
    used = {each.stem for each in group.groups}
    return [each.replica(0) for each in group.templates
            if each.name not in used]

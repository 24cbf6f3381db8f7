# SPDX-License-Identifier: Apache-2.0
"""Plans for groups whose members already have their places."""

from collections.abc import Mapping

from nova_holistic.engine.decision.planning_request import PlanningRequest
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.plan import ObjectiveValue, Placement, Plan


def plan_for_hosts(request: PlanningRequest, group: Group, snapshot: Snapshot,
                   hosts: Mapping[str, str]) -> Plan:
    """The plan that puts each member on its given host. The value, bound and
    gap of its objective are 0, because nothing is optimised.

    :param group: bound to the snapshot
    :param hosts: host names of all members of the group by path
    """
    found = snapshot.by_name()
    return Plan(group.name, tuple(
        Placement(member.path, host.name, host.node, host.location)
        for member in group.all_members()
        for host in [found[hosts[member.path]]]),
        ObjectiveValue(request.objective, 0.0, 0.0, 0.0))

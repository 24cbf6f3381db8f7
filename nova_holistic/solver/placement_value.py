# SPDX-License-Identifier: Apache-2.0
"""The value of an objective for members that are on their hosts."""

from collections.abc import Mapping
from collections import Counter
from dataclasses import replace

from nova_holistic.model.cloud.inventory import with_use_changed
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import Member
from nova_holistic.model.objective import Objective
from nova_holistic.solver.trees.tree_problem import tree_problem


def placement_value(objective: Objective, group: Group, snapshot: Snapshot,
                    where: Mapping[str, str]) -> float:
    """The value that ``solve`` would report for a plan with these hosts: the
    capacity of nested providers is that of resource classes of the hosts.

    :param group: the group, bound to the snapshot
    :param snapshot: the cloud, including the usage of the placed members
    :param where: path to host name of the placed members
    """
    problem = tree_problem(group, snapshot, ())
    if problem is not None:
        group, snapshot = problem.group, problem.snapshot
    without = without_members(group, snapshot, where)
    hosts = {host.name: host for host in without.hosts}
    return objective.for_group(group).value(
        _placed(group, where),
        {path: hosts[name] for path, name in where.items()}, {}, without)


def without_members(group: Group, snapshot: Snapshot,
                    where: Mapping[str, str]) -> Snapshot:
    """The cloud without the usage of root providers by the members.

    :param where: path to host name of the placed members
    """
    usage: dict[str, Counter[str]] = {}
    for member in _placed(group, where):
        usage.setdefault(where[member.path], Counter()).subtract(
            member.requirements.resources)
    return replace(snapshot, hosts=tuple(
        replace(host, inventories=with_use_changed(
            host.inventories, usage[host.name]))
        if host.name in usage else host
        for host in snapshot.hosts))


def _placed(group: Group, where: Mapping[str, str]) -> list[Member]:
    return [m for m in group.all_members() if m.path in where]

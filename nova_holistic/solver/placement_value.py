# SPDX-License-Identifier: Apache-2.0
"""The value of an objective for members that are on their hosts."""

from collections.abc import Mapping
from collections import Counter
from dataclasses import replace

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
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
        usage.setdefault(where[member.path], Counter()).update(
            member.requirements.resources)
    return replace(snapshot, hosts=tuple(
        _with_less_usage(host, usage[host.name])
        if host.name in usage else host
        for host in snapshot.hosts))


def _placed(group: Group, where: Mapping[str, str]) -> list[Member]:
    return [m for m in group.all_members() if m.path in where]


def _with_less_usage(host: Host, amounts: Mapping[str, int]) -> Host:
    return replace(host, inventories=FrozenMapping({
        name: replace(
            inventory, used=max(0, inventory.used - amounts.get(name, 0)))
        for name, inventory in host.inventories.items()}))

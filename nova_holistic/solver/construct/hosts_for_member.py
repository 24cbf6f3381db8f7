# SPDX-License-Identifier: Apache-2.0
"""Placement of one more member in a planned group; every other member stays.

This is an insertion search. It solves no program, so it takes milliseconds: it
evaluates each host once, with the checks of the policies. Hosts that a policy
does not distinguish (``Policy.distinguishes``) share one result of its check.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import Member
from nova_holistic.model.objective import HostCost, Objective
from nova_holistic.objectives.utilisation import requested_classes
from nova_holistic.solver.check import fits
from nova_holistic.solver.evaluation.policy_evaluation import PolicyEvaluation
from nova_holistic.solver.limits.current import construct as limits
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.rules import scoped_policies
from nova_holistic.solver.problem.utilisation_curve import cost_increase


@dataclass(frozen=True, slots=True)
class Insertion:
    """The problem of placing one more member.

    :ivar member: the new member, with resolved resources; the group has a
        member with this path
    :ivar placed: path to host of every other member that uses capacity; the
        snapshot counts this usage
    :ivar snapshot: the candidates, the hosts in ``placed``, and the hosts that
        policies refer to; its ``Host.servers`` count no member of the group
    :ivar candidates: names of the hosts that may be chosen
    """

    group: Group
    member: Member
    placed: Mapping[str, Host]
    snapshot: Snapshot
    candidates: Collection[str]


def hosts_for_member(insertion: Insertion,
                     objective: Objective) -> tuple[str, ...]:
    """Names of the hosts that can take the member, the best first.

    Each host meets the member's requirements and has room for it, and the
    member adds no violation of a hard policy there. Violations that other
    members cause do not count. The hosts are ordered by the weighted
    violations of preferences that the member adds, then by the increase of the
    objective, then as in the snapshot. An objective without a host cost orders
    only the first ``checked_hosts`` (a limit) hosts.
    """
    costs = _preference_costs(insertion, [
        host for host in insertion.snapshot.hosts
        if host.name in insertion.candidates
        and fits(insertion.member, host)])
    found = sorted(costs, key=costs.__getitem__)
    value = _objective_cost(insertion, objective, found)
    found.sort(key=lambda host: (costs[host], value(host)))
    return tuple(host.name for host in found)


def _preference_costs(insertion: Insertion,
                      hosts: Sequence[Host]) -> dict[Host, float]:
    """Weighted violations of preferences that the member adds on each of the
    hosts, without those on which it adds violations of a hard policy."""
    member, snapshot = insertion.member, insertion.snapshot
    table = HostTable.of(snapshot)
    policies = [each for each in scoped_policies(insertion.group)
                if each.scope.holds(member)]
    evaluation = PolicyEvaluation(
        table, snapshot, policies, insertion.placed,
        {table.index[host.name] for host in insertion.placed.values()})
    left = np.array([table.index[host.name] for host in hosts], dtype=np.int64)
    total = np.zeros(len(left))
    # Preferences are checked only on hosts that no hard policy refuses.
    for each in sorted(policies, key=lambda each: not each.policy.hard):
        added = evaluation.added_violations(each, member, left)
        if each.policy.hard:
            left, total = left[added <= 0], total[added <= 0]
        else:
            total += each.policy.weight * added
    # Sums of the same weights in different orders differ by rounding.
    return {table.hosts[h]: round(cost, 9)
            for h, cost in zip(left.tolist(), total.tolist())}


def _objective_cost(insertion: Insertion, objective: Objective,
                    found: Sequence[Host]) -> Callable[[Host], float]:
    """A function that returns the increase of the objective at a host.

    :param found: the hosts, those with the fewest violations first
    """
    objective = objective.for_group(insertion.group)
    members = [each for each in insertion.group.all_members()
               if each.path in insertion.placed] + [insertion.member]
    host_cost = objective.host_cost()
    if host_cost is not None:
        return _hosts_cost(insertion, host_cost, requested_classes(members))
    placed = {path: host.name for path, host in insertion.placed.items()}
    values = {host.name: objective.value(
        members, {**insertion.placed, insertion.member.path: host}, placed,
        insertion.snapshot) for host in found[:limits().checked_hosts]}
    return lambda host: values.get(host.name, float('inf'))


def _hosts_cost(insertion: Insertion, host_cost: HostCost,
                classes: Sequence[str]) -> Callable[[Host], float]:
    used = {host.name for host in insertion.placed.values()}
    return lambda host: cost_increase(
        host_cost, host, classes, insertion.member.requirements.resources,
        host.name in used)

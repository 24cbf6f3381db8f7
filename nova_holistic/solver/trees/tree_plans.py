# SPDX-License-Identifier: Apache-2.0
"""Plans for members that use the provider trees of hosts.

The rows of provider trees are necessary, but not always sufficient. If a host
of a plan cannot serve its members, the next problem limits their number on
this host.
"""

from collections.abc import Callable, Mapping
from collections import defaultdict
from dataclasses import replace

from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import Member
from nova_holistic.model.messages.marked_text import format_message
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.solver.numerics import bound as bounds
from nova_holistic.solver.tree_check import cannot_serve, tree_classes
from nova_holistic.solver.trees.tree_problem import Limits, tree_problem

Answer = Plan | Unplaceable | Unknown
Find = Callable[[Group, Snapshot], Answer]
"""Solves a problem whose members use only root providers."""


def plan_on_trees(group: Group, snapshot: Snapshot,
                  placed: Mapping[str, str], find: Find,
                  left: Callable[[], float]) -> tuple[Answer, Limits]:
    """The answer, and the limits of the last problem.

    :param group: the group, bound to the snapshot
    :param placed: path to host name of the members that stay
    :param find: a function that solves each problem
    :param left: a function that returns the remaining seconds
    """
    limits: dict[str, int] = {}
    first: Plan | None = None
    while True:
        problem = tree_problem(group, snapshot, placed, limits)
        if problem is None:
            return find(group, snapshot), limits
        answer = find(problem.group, problem.snapshot)
        if not isinstance(answer, Plan):
            break
        first = first or answer
        smaller = _smaller_limits(group, snapshot, placed, answer)
        if not smaller:
            return _with_bounds(answer, first), limits
        limits.update(smaller)
        if not left():
            break
    if isinstance(answer, Unplaceable) and not limits:
        return answer, limits
    # The limits may also exclude plans that exist. Therefore, an answer with
    # limits does not prove that the group is unplaceable.
    if isinstance(answer, Unknown):
        return answer, limits
    return Unknown(format_message(
        'no plan was found in which the hosts can serve all request groups '
        'of their members; a plan may still exist'), answer.seconds), limits


def _with_bounds(plan: Plan, first: Plan) -> Plan:
    """The plan with the bounds of the first plan. The problem of the first
    plan has no limits, which may exclude better plans."""
    if plan is first:
        return plan
    cost, least = plan.preference_cost, first.preference_cost
    bound = first.objective.bound
    if cost is not None and least is not None:
        if cost.value > least.value:
            # The bound holds for plans with lower costs of preferences only.
            bound = 0.0
        cost = replace(cost, bound=least.bound,
                       gap=bounds.gap(cost.value, least.bound))
    return replace(plan, preference_cost=cost, objective=replace(
        plan.objective, bound=bound,
        gap=bounds.gap(plan.objective.value, bound)))


def _smaller_limits(group: Group, snapshot: Snapshot,
                    placed: Mapping[str, str], plan: Plan) -> dict[str, int]:
    """For each host that cannot serve its members, host name to a new limit:
    one member less than in the plan."""
    hosts = {host.name: host for host in snapshot.hosts}
    where = plan.hosts()
    new = [(member, hosts[where[member.path]])
           for member in group.all_members() if member.path not in placed]
    classes = tree_classes(new)
    members: dict[str, list[Member]] = defaultdict(list)
    for member, host in new:
        wanted = member.requirements
        if host.name in classes and (
                wanted.request_groups
                or classes[host.name].intersection(wanted.resources)):
            members[host.name].append(member)
    return {name: len(those) - 1 for name, those in members.items()
            if cannot_serve(hosts[name], those, classes[name])}

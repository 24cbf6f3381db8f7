# SPDX-License-Identifier: Apache-2.0
"""The effect of adopted servers on an update of their group.

The servers stay on their hosts, and the volumes of the group in their pools,
so the plan treats them as fixed. If they violate a hard policy, no plan of the
other members can satisfy this policy. The policy becomes a preference for this
plan only, and the group is degraded.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from nova_holistic.documents.groups.adoption import position
from nova_holistic.engine.binding.adoption import Adopted, AdoptedMembers
from nova_holistic.engine.decision import exclusive_hosts
from nova_holistic.engine.decision.planning_request import (
    CheckedPlan, NotPlanned, PlanningRequest)
from nova_holistic.engine.member_rows import has_failed_server
from nova_holistic.engine.update.revised_members import RevisedMembers
from nova_holistic.engine import volume_rows
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.messages.name_detection import mark_names
from nova_holistic.model.plan import Reason
from nova_holistic.model.policy import Policy
from nova_holistic.solver.check import broken_policies, check
from nova_holistic.table.records import GroupStatus, MemberRecord

WEIGHT = 1000.0
"""Weight of each additional violation of a policy that is already violated."""

Decide = Callable[[RevisedMembers], tuple[
    frozenset[str], PlanningRequest, CheckedPlan]]
"""Plans the members without fixed places: the result of
``fewest_moves.decide``."""


def with_adopted_servers(where: RevisedMembers, servers: Mapping[str, Adopted],
                         members: Sequence[MemberRecord]) -> RevisedMembers:
    """The members of an update with existing servers as adopted members.

    :param servers: adopted servers by path of the member
    :param members: all rows of the group
    :raises InvalidDocument: one of these members has another server
    """
    if not servers:
        return where
    for path in servers:
        if path in where.fixed and not has_failed_server(where.fixed[path]):
            raise InvalidDocument(
                position(path), f'member {path!r} has server '
                f'{where.fixed[path].instance_uuid} already')
    return replace(
        where, fixed=_without(where.fixed, servers),
        movable=_without(where.movable, servers),
        to_plan=_without(where.to_plan, servers),
        left_out=where.left_out - servers.keys(),
        adopted=AdoptedMembers(servers, FrozenMapping({
            row.member.path: row for row in members
            if row.member.path in servers})))


def decide(where: RevisedMembers, plan: Decide,
           snapshot: Callable[[PlanningRequest], Snapshot],
           request: PlanningRequest,
           strict: bool) -> tuple[frozenset[str], PlanningRequest, CheckedPlan,
                                  Sequence[Reason]]:
    """A plan in which the servers of the group stay on their hosts, and its
    volumes in their pools.

    :param plan: raises NotPlanned if no plan exists
    :param snapshot: returns the hosts that the group may use
    :param request: request for the members before they are planned
    :param strict: refuse servers that violate a hard policy
    :returns: the result of ``plan``, and reasons that name the violated hard
        policies
    :raises NotPlanned: no plan exists; or, if ``strict``, the servers violate
        a hard policy
    """
    cloud = snapshot(request)
    placed = _existing(where)
    broken = _broken(where.revised, cloud, placed, lambda rule: rule.monotone)
    if strict and broken:
        raise _violated(where.revised, cloud, placed, broken)
    try:
        moving, asked, decision = plan(_softened(where, broken))
    except NotPlanned:
        # Additional members may satisfy a policy that is not monotone, so such
        # policies are checked only if no plan was found.
        more = _broken(where.revised, cloud, placed, lambda rule: True)
        if more == broken:
            raise
        if strict:
            raise _violated(where.revised, cloud, placed, more) from None
        moving, asked, decision = plan(_softened(where, more))
        broken = more
    if not broken:
        return moving, asked, decision, ()
    hosts = decision.plan.hosts()
    group = bind(where.revised.only(hosts), decision.snapshot)
    return moving, asked, replace(
        decision, exclusive=exclusive_hosts.reserves(
            group, decision.snapshot, hosts)), mark_names(
                check(group, decision.snapshot, hosts, hosts),
                decision.snapshot)


def _without(rows: Mapping[str, MemberRecord],
             paths: Collection[str]) -> Mapping[str, MemberRecord]:
    return {path: row for path, row in rows.items() if path not in paths}


def _existing(where: RevisedMembers) -> Mapping[str, str]:
    """The host of each server of the group, and the pool of each volume, by
    path."""
    return {**{path: row.next_place.host
               for path, row in where.fixed.items()}, **where.adopted.hosts,
            **volume_rows.pools(where.volumes)}


def _broken(group: Group, snapshot: Snapshot, placed: Mapping[str, str],
            wanted: Callable[[Policy], bool]) -> frozenset[str]:
    """Positions in the document of hard policies that the servers violate.

    :param wanted: returns whether a policy is checked
    """
    hosts = {host.name: host for host in snapshot.hosts}
    known = {path: hosts[name] for path, name in placed.items()
             if name in hosts}
    cloud = snapshot.without_servers(placed.values())
    return frozenset(
        rule.place for scope in group.only(known).scopes()
        for rule in scope.group.rules if rule.hard and wanted(rule)
        and rule.check(scope, known, cloud).count)


def _violated(group: Group, snapshot: Snapshot, placed: Mapping[str, str],
              broken: Collection[str]) -> NotPlanned:
    hosts = {host.name for host in snapshot.hosts}
    known = {path: name for path, name in placed.items() if name in hosts}
    only = _filtered(bind(group.only(known), snapshot),
                     lambda rule: rule.place in broken)
    return NotPlanned(GroupStatus.UNPLACEABLE, mark_names(broken_policies(
        only, snapshot.without_servers(placed.values()), known), snapshot))


def _softened(where: RevisedMembers,
              broken: Collection[str]) -> RevisedMembers:
    """The members with a revised group in which these hard policies are
    preferences."""
    if not broken:
        return where
    return replace(where, revised=_changed(
        where.revised, lambda rule: replace(rule, weight=WEIGHT)
        if rule.hard and rule.place in broken else rule))


def _changed(group: Group, change: Callable[[Policy], Policy]) -> Group:
    return replace(
        group, policies=tuple(map(change, group.policies)),
        relationships=tuple(map(change, group.relationships)),
        groups=tuple(_changed(nested, change) for nested in group.groups))


def _filtered(group: Group, is_kept: Callable[[Policy], bool]) -> Group:
    return replace(
        group, policies=tuple(filter(is_kept, group.policies)),
        relationships=tuple(filter(is_kept, group.relationships)),
        groups=tuple(_filtered(nested, is_kept) for nested in group.groups))

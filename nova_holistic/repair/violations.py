# SPDX-License-Identifier: Apache-2.0
"""The hard policies that the servers of a group violate on their hosts.

The members may include volumes, as ``VolumePositions`` adds them.
"""

from collections.abc import Sequence
from dataclasses import replace

from nova_holistic.engine.decision import moving_members
from nova_holistic.engine.decision.usable_snapshot import with_missing_hosts
from nova_holistic.engine.member_rows import (
    has_failed_server, host_of, uses_capacity)
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.messages.name_detection import mark_names
from nova_holistic.model.plan import Reason
from nova_holistic.model.policy import Policy
from nova_holistic.solver.check import check
from nova_holistic.table.changes.claim import OWNED
from nova_holistic.table.records import MemberRecord, MemberState


def violations(group: Group, members: Sequence[MemberRecord],
               snapshot: Snapshot) -> Sequence[Reason]:
    """Check the members that use capacity, including planned members and
    failed members with a server, which may run later.

    A server that Nova is moving is checked at its destination. A policy whose
    result depends on the number of members is checked only if all members of
    the group use capacity: a lost member is planned again, and may complete
    the group.

    :param group: group that is not bound to the snapshot
    :param snapshot: snapshot of the whole cloud with all servers
    :returns: the violations; empty if the policies are satisfied or the group
        has no servers
    :raises InvalidDocument: the cloud no longer has such a flavor or level
    """
    if not any(row.instance_uuid and (
            row.state in OWNED or has_failed_server(row))
            for row in members):
        return ()
    return planned_violations(group, members, snapshot)


def planned_violations(group: Group, members: Sequence[MemberRecord],
                       snapshot: Snapshot) -> Sequence[Reason]:
    """Like ``violations``, also if the group has no servers."""
    return _broken(group, members, snapshot)


def _broken(group: Group, members: Sequence[MemberRecord],
            snapshot: Snapshot, missing: bool = False) -> Sequence[Reason]:
    """
    :param missing: whether the group has other members, which do not count
    """
    occupying = [row for row in members if uses_capacity(row)]
    checked = _as_built(checked_rules(group, members, missing), occupying)
    whole = with_known_hosts(snapshot, occupying).without_servers(
        extra_servers(members))
    placement = {row.member.path: row.next_place.host for row in occupying}
    return mark_names(check(checked, whole, placement, placement), whole)


def checked_rules(group: Group, members: Sequence[MemberRecord],
                  missing: bool = False) -> Group:
    """The group of the members that use capacity, with the hard policies that
    are checked for them."""
    occupying = {row.member.path for row in members if uses_capacity(row)}
    return _only_rules(group.only(occupying),
                       counting=not missing and len(occupying) == len(members))


def extra_servers(members: Sequence[MemberRecord]) -> list[str]:
    """Host names, once for each server of the group that is not at the
    position of a checked member: sources of moves."""
    return moving_members.extra_servers(
        [row for row in members if not has_failed_server(row)])


def misplaced(group: Group, members: Sequence[MemberRecord],
              snapshot: Snapshot) -> Sequence[MemberRecord]:
    """Planned members without which the group satisfies its policies.

    They can be planned on other hosts without a move of a server. Policies
    whose result depends on the number of members do not count here.

    :returns: none if the servers violate a policy among themselves
    :raises InvalidDocument: the cloud no longer has such a flavor or level
    """
    servers = [row for row in members if row.state != MemberState.PLANNED]
    planned = [row for row in members if row.state == MemberState.PLANNED]

    def broken(planned: Sequence[MemberRecord]) -> bool:
        return bool(_broken(group, [*servers, *planned], snapshot, True))

    if broken(()):
        return ()
    consistent: list[MemberRecord] = []
    for row in planned:
        if not broken([*consistent, row]):
            consistent.append(row)
    return [row for row in planned if row not in consistent]


def with_known_hosts(snapshot: Snapshot,
                     members: Sequence[MemberRecord]) -> Snapshot:
    """The snapshot with additional disabled hosts for members whose hosts it
    lacks."""
    return with_missing_hosts(snapshot, [
        host_of(place) for row in members
        for place in (row.place, row.next_place)])


def _as_built(group: Group, rows: Sequence[MemberRecord],
              prefix: str = '') -> Group:
    """The group without flavors, which may have been deleted or redefined: the
    check uses the actual resources of a server, not its flavor."""
    found = {row.member.description: row.member.requirements for row in rows}
    return replace(
        group,
        members=tuple(
            replace(each, requirements=replace(
                found[prefix + each.name], flavor=None))
            if prefix + each.name in found else each
            for each in group.members),
        groups=tuple(_as_built(nested, rows, f'{prefix}{nested.name}/')
                     for nested in group.groups))


def _only_rules(group: Group, counting: bool) -> Group:
    """:param counting: whether policies that count all members are kept"""
    def is_kept(rule: Policy) -> bool:
        return rule.hard and (counting or not rule.counts_all)

    return replace(
        group,
        policies=tuple(filter(is_kept, group.policies)),
        relationships=tuple(filter(is_kept, group.relationships)),
        groups=tuple(_only_rules(nested, counting)
                     for nested in group.groups))

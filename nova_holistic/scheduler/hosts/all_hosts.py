# SPDX-License-Identifier: Apache-2.0
"""Adds all hosts of Nova to an evaluation, for policies that depend on more
than the hosts of members."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import nova.conf
from nova import context as nova_context

from nova_holistic.model.group import Group
from nova_holistic.model.identity_cache import IdentityCache
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.policies.policy_evaluation import (
    PolicyEvaluation, REMEMBERED_GROUPS)
from nova_holistic.table.queries.group_members import GroupMembers
from nova_holistic.table.queries import totals
from nova_holistic.table.records import MemberRecord

CONF = nova.conf.CONF

MISSED_REFRESHES = 3
"""Number of intervals after which hosts that were not refreshed are compared
with Nova's databases again by the next request."""


def with_all_hosts(evaluation: PolicyEvaluation, connections: Connections,
                   rows: Sequence[MemberRecord]) -> PolicyEvaluation:
    """The evaluation, with all hosts if one of its policies needs all hosts.

    These hosts are those of the last refresh, so that the cost of a request
    does not depend on the number of hosts.

    :param rows: rows of the group, which contain the resources of its flavors
    :raises HolisticError: hosts cannot be located, or Placement does not
        answer
    """
    if evaluation.is_local:
        return evaluation
    if not isinstance(rows, GroupMembers):
        rows = GroupMembers.of(rows)
    group = _last_resolved(evaluation.group).group(rows.requirements)
    return replace(evaluation, group=group, cloud=connections.hosts.cloud(
        nova_context.get_admin_context(), connections.topology,
        connections.placement, _traits(group),
        MISSED_REFRESHES * CONF.holistic.host_refresh_interval))


def refresh(connections: Connections) -> None:
    """Update the hosts of this scheduler, if a request has needed them before,
    or a group has a policy that depends on all hosts.

    :raises HolisticError: hosts cannot be located, or Placement or the table
        does not answer
    """
    if connections.hosts.is_empty and not totals.any_group_uses_all_hosts(
            connections.table.database):
        return
    connections.hosts.refresh(nova_context.get_admin_context(),
                              connections.topology, connections.placement)


class _LastResolved:
    """Caches the latest result of ``_resolved`` for a group. Policies keep
    what they have computed for this object."""

    def __init__(self, group: Group):
        self._group = group
        self._last: tuple[Mapping[str, Requirements], Group] | None = None

    def group(self, wanted: Mapping[str, Requirements]) -> Group:
        last = self._last
        if last is None or last[0] is not wanted and last[0] != wanted:
            last = self._last = wanted, _resolved(self._group, wanted, '')
        return last[1]


_last_resolved = IdentityCache(_LastResolved, REMEMBERED_GROUPS)


def _resolved(group: Group, wanted: Mapping[str, Requirements],
              prefix: str) -> Group:
    """The group, with the planned resources in its member descriptions."""
    return replace(
        group,
        members=tuple(replace(m, requirements=wanted.get(
            prefix + m.name, m.requirements)) for m in group.members),
        groups=tuple(_resolved(nested, wanted, f'{prefix}{nested.name}/')
                     for nested in group.groups))


def _traits_of(group: Group) -> frozenset[str]:
    """Traits that the group's members and policies name."""
    wanted = {m.description: m.requirements
              for m in group.all_members()}.values()
    return frozenset().union(
        *(w.required_traits | w.forbidden_traits for w in wanted),
        *(rule.traits for scope in group.scopes()
          for rule in scope.group.rules))


_traits = IdentityCache(_traits_of, REMEMBERED_GROUPS)

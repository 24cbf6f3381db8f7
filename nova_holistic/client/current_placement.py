# SPDX-License-Identifier: Apache-2.0
"""The current placement of a group, as a plan on the cloud without the
group."""

from collections.abc import Iterable, Mapping
import math
from typing import Any

from nova_holistic.documents.groups.group import parse_group
from nova_holistic import exceptions
from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.plan import ObjectiveValue, Placement, Plan
from nova_holistic.model.storage_pools import servers_only
from nova_holistic.objectives import load_objective
from nova_holistic.policies import load_policy_types
from nova_holistic.solver.placement_value import (
    placement_value, without_members)

_THERE = ('planned', 'claimed', 'built')
"""States of a member that occupies capacity on its host."""


class Mismatch(exceptions.HolisticError):
    """The API and the cloud contradict each other."""


def current_plan(group: Mapping[str, Any],
                 placements: Iterable[Mapping[str, Any]],
                 snapshot: Snapshot) -> tuple[Plan, Group, Snapshot]:
    """The placed members, as a plan without a proven bound.

    :param group: the group from the API, with its definition
    :param placements: the placements of its members, with hosts
    :param snapshot: the current state of the cloud, including the usage of the
        members
    :returns: the plan, the definition, and the cloud without the members
    :raises Mismatch: a host is unknown, or the levels differ
    """
    existing = [p for p in placements if p['state'] in _THERE]
    _must_fit(existing, snapshot)
    definition = bind(servers_only(parse_group(
        {'group': group['definition']}, load_policy_types())).resized(
            {p['member'] for p in existing}), snapshot)
    where = {p['member']: p['host'] for p in existing}
    value = placement_value(
        load_objective(group['objective']), definition, snapshot, where)
    return Plan(group['name'], tuple(
        Placement(p['member'], p['host'], p['node'], tuple(p['location']))
        for p in existing), ObjectiveValue(
            group['objective'], value, -math.inf, math.inf)), (
                definition), without_members(definition, snapshot, where)


def _must_fit(existing: Iterable[Mapping[str, Any]],
              snapshot: Snapshot) -> None:
    hosts = {host.name: host for host in snapshot.hosts}
    for placement in existing:
        host = hosts.get(placement['host'])
        if host is None:
            raise Mismatch(f'member {placement["member"]}: its host '
                           f'{placement["host"]!r} is not in the cloud')
        if len(placement['location']) != len(host.location):
            raise Mismatch(
                f'member {placement["member"]} is at '
                f'{"/".join([*placement["location"], placement["host"]])}, '
                'which are '
                f'not the levels {", ".join(snapshot.levels)}')

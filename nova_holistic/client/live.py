# SPDX-License-Identifier: Apache-2.0
"""A group where it is now, as a plan on the cloud without it."""

from collections.abc import Iterable, Mapping
from collections import Counter
from dataclasses import replace
import math
from typing import Any

from nova_holistic.documents.group import parse_group
from nova_holistic import exceptions
from nova_holistic.model.binding import bind
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group, Member
from nova_holistic.model.plan import ObjectiveValue, Placement, Plan
from nova_holistic.model.snapshot import Host, Snapshot
from nova_holistic.objectives import load_objective
from nova_holistic.policies import load_policy_types

_THERE = ('planned', 'claimed', 'built')
"""States of a member that takes up room at its place."""


class Mismatch(exceptions.HolisticError):
    """What the API says and what the cloud says do not go together."""


def standing(group: Mapping[str, Any], placements: Iterable[Mapping[str, Any]],
             snapshot: Snapshot) -> tuple[Plan, Group, Snapshot]:
    """The members that have places, of which nothing is proved.

    :param group: as the API shows it, with its definition
    :param placements: of its members, with hosts
    :param snapshot: the cloud as it is, so that members' use is in it
    :returns: them as a plan, the definition, and the cloud without them
    :raises Mismatch: a host is unknown, or there are other levels
    """
    there = [p for p in placements if p['state'] in _THERE]
    _must_fit(there, snapshot)
    definition = bind(parse_group(
        {'group': group['definition']}, load_policy_types()), snapshot)
    where = {p['member']: p['host'] for p in there}
    members = [m for m in definition.all_members() if m.path in where]
    without = _without(snapshot, members, where)
    hosts = {host.name: host for host in without.hosts}
    value = load_objective(group['objective']).for_group(definition).value(
        members, {path: hosts[name] for path, name in where.items()}, {},
        without)
    return Plan(group['name'], tuple(
        Placement(p['member'], p['host'], p['node'], tuple(p['location']))
        for p in there), ObjectiveValue(
            group['objective'], value, -math.inf, math.inf)), (
                definition), without


def _must_fit(there: Iterable[Mapping[str, Any]], snapshot: Snapshot) -> None:
    known = {host.name: host for host in snapshot.hosts}
    for each in there:
        host = known.get(each['host'])
        if host is None:
            raise Mismatch(f'member {each["member"]}: its host '
                           f'{each["host"]!r} is not in the cloud')
        if len(each['location']) != len(host.location):
            raise Mismatch(
                f'member {each["member"]} is at '
                f'{"/".join([*each["location"], each["host"]])}, which are '
                f'not the levels {", ".join(snapshot.levels)}')


def _without(snapshot: Snapshot, members: Iterable[Member],
             where: Mapping[str, str]) -> Snapshot:
    taken: dict[str, Counter[str]] = {}
    for member in members:
        taken.setdefault(where[member.path], Counter()).update(
            member.requirements.resources)
    return replace(snapshot, hosts=tuple(
        _relieved(host, taken[host.name]) if host.name in taken else host
        for host in snapshot.hosts))


def _relieved(host: Host, amounts: Mapping[str, int]) -> Host:
    return replace(host, inventories=FrozenMapping({
        name: replace(each, used=max(0, each.used - amounts.get(name, 0)))
        for name, each in host.inventories.items()}))

# SPDX-License-Identifier: Apache-2.0
"""A placement is good when every member has one host that is known, enabled
and fit for it, no host is asked for more than it has, and every hard policy
holds.

Written without the solver, and sharing nothing with it, so that a mistake
there does not pass here.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from nova_holistic.model.binding import bind
from nova_holistic.model.group import Group
from nova_holistic.model.member import Member
from nova_holistic.model.plan import Reason
from nova_holistic.model.snapshot import Host, Snapshot


def check(group: Group, snapshot: Snapshot, placement: Mapping[str, str],
          placed: Mapping[str, str] | None = None) -> tuple[Reason, ...]:
    """Judge a finished placement; no reasons means that it is good.

    Members in ``placed`` are where they are: their hosts may be disabled or
    changed since, and the snapshot counts their use. Policies apply to them
    as to the rest.

    :param placement: member path to host name, of all members
    :param placed: the same of those that were there before
    :raises InvalidDocument: a flavor or level the snapshot does not have
    """
    placed = placed or {}
    snapshot = snapshot.without_servers(placed.values())
    group = bind(group, snapshot)
    members = {m.path: m for m in group.all_members()}
    hosts = {h.name: h for h in snapshot.hosts}
    known = {path: hosts[name] for path, name in placement.items()
             if path in members and name in hosts}
    new = [(members[path], host) for path, host in known.items()
           if path not in placed]
    return (*_strays(members, hosts, placement, placed),
            *(reason for member, host in new
              for reason in _unfit(member, host, snapshot)),
            *_overfull(new),
            *_broken_policies(group, known, snapshot))


def _strays(members: Mapping[str, Member], hosts: Mapping[str, Host],
            placement: Mapping[str, str],
            placed: Mapping[str, str]) -> Iterator[Reason]:
    """Every member is on one known host, and nothing else is placed."""
    for path in members:
        if path not in placement:
            yield Reason(path, 'the member is not placed')
    for path, name in placement.items():
        if path not in members:
            yield Reason(path, 'the group has no such member')
        elif name not in hosts:
            yield Reason(path, f'host {name} is not in the snapshot')
        if path in placed and placed[path] != name:
            yield Reason(path, f'the member is on host {placed[path]} '
                               f'already and cannot be on {name}')


def _unfit(member: Member, host: Host, snapshot: Snapshot) -> Iterator[Reason]:
    """What the member asks of its host, and the host is not."""
    wanted, name = member.requirements, host.name
    if not host.enabled:
        yield Reason(member.path, f'host {name} is disabled')
    for trait in sorted(wanted.required_traits - host.traits):
        yield Reason(member.path, f'host {name} lacks trait {trait}')
    for trait in sorted(wanted.forbidden_traits & host.traits):
        yield Reason(
            member.path, f'host {name} has the forbidden trait {trait}')
    for aggregate in sorted(wanted.aggregates - host.aggregates):
        yield Reason(
            member.path, f'host {name} is not in aggregate {aggregate}')
    zone = wanted.availability_zone
    if zone is not None and host.availability_zone != zone:
        yield Reason(
            member.path, f'host {name} is in availability zone '
                         f'{host.availability_zone or "none"}, not {zone}')
    vertex = (*host.location, name)
    if vertex[:len(wanted.location)] != wanted.location:
        yield Reason(
            member.path, f'host {name} is at {"/".join(vertex)}, not below '
                         f'{"/".join(wanted.location)}')
    for resource_class, amount in sorted(wanted.resources.items()):
        yield from _bad_amount(member, host, resource_class, amount)


def _bad_amount(member: Member, host: Host, resource_class: str,
                amount: int) -> Iterator[Reason]:
    """Placement's rules for the amount of one allocation."""
    inventory = host.inventories.get(resource_class)
    if inventory is None:
        yield Reason(
            member.path, f'host {host.name} has no {resource_class}')
        return
    asked = f'{amount} {resource_class} on host {host.name}'
    if amount < inventory.min_unit:
        yield Reason(member.path, f'{asked} is less than its min_unit, '
                                  f'{inventory.min_unit}')
    if amount > inventory.max_unit:
        yield Reason(member.path, f'{asked} is more than its max_unit, '
                                  f'{inventory.max_unit}')
    if amount % inventory.step_size:
        yield Reason(member.path, f'{asked} is no multiple of its step_size, '
                                  f'{inventory.step_size}')


def _overfull(new: list[tuple[Member, Host]]) -> Iterator[Reason]:
    """Hosts asked for more than they have, all their new members together."""
    asked: dict[tuple[str, str], int] = defaultdict(int)
    paths: dict[tuple[str, str], list[str]] = defaultdict(list)
    hosts = {}
    for member, host in new:
        hosts[host.name] = host
        for resource_class, amount in member.requirements.resources.items():
            asked[host.name, resource_class] += amount
            paths[host.name, resource_class].append(member.path)
    for (name, resource_class), amount in sorted(asked.items()):
        inventory = hosts[name].inventories.get(resource_class)
        if inventory is None:
            continue
        # Placement's comparison, word for word: used and asked against the
        # product as a float.
        capacity = (
            (inventory.total - inventory.reserved)
            * inventory.allocation_ratio)
        if inventory.used + amount > capacity:
            yield Reason(
                ', '.join(paths[name, resource_class]),
                f'host {name} has {int(capacity)} {resource_class}, of which '
                f'{inventory.used} are used: no room for {amount}')


def _broken_policies(group: Group, placement: Mapping[str, Host],
                     snapshot: Snapshot) -> Iterator[Reason]:
    for scope in group.scopes():
        for policy in scope.group.rules:
            if policy.hard:
                at = f'{scope.path}: {policy.title}'.removeprefix(': ')
                found = policy.check(scope, placement, snapshot)
                if found.count:
                    yield from (Reason(at, message) for message in (
                        found.messages or (f'violations: {found.count}',)))

# SPDX-License-Identifier: Apache-2.0
"""The validation of placements.

A placement is valid if every member has one host that is known, enabled and
suitable, if the members of each host fit into its free capacity, and if every
hard policy holds. The check shares no code with the solver, so that it detects
errors of the solver.
"""

from collections.abc import Iterator, Mapping
from collections import Counter, defaultdict
from typing import Any

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.member_traits import traits_for
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import Member
from nova_holistic.model.messages.marked_text import format_message
from nova_holistic.model.plan import Reason
from nova_holistic.model.storage_pools import named, POOL
from nova_holistic.solver.tree_check import cannot_serve, tree_classes


def check(group: Group, snapshot: Snapshot, placement: Mapping[str, str],
          placed: Mapping[str, str] | None = None) -> tuple[Reason, ...]:
    """Validate a complete placement; return no reasons if it is valid.

    Members in ``placed`` stay on their hosts, even if the hosts have been
    disabled or changed since. The snapshot counts their usage. Policies apply
    to them as to all other members.

    :param placement: member path to host name, of all members
    :param placed: member path to host name, of the members placed earlier
    :raises InvalidDocument: if the snapshot lacks a flavor or level
    """
    placed = placed or {}
    snapshot = snapshot.without_servers(placed.values())
    return check_bound(bind(group, snapshot), snapshot, placement, placed)


def check_bound(group: Group, snapshot: Snapshot,
                placement: Mapping[str, str],
                placed: Mapping[str, str]) -> tuple[Reason, ...]:
    """Validate a placement of a group that is bound to the snapshot.

    :param snapshot: a snapshot whose ``Host.servers`` count no member of the
        group
    """
    members = {m.path: m for m in group.all_members()}
    hosts = snapshot.by_name()
    known = {path: hosts[name] for path, name in placement.items()
             if path in members and name in hosts}
    new = [(members[path], host) for path, host in known.items()
           if path not in placed]
    return (*_misplaced(members, hosts, placement, placed),
            *_unsuitable(new),
            *_broken_policies(group, known, snapshot))


def broken_policies(group: Group, snapshot: Snapshot,
                    placement: Mapping[str, str]) -> tuple[Reason, ...]:
    """One reason for each violation of a hard policy by existing servers.

    :param group: bound to the snapshot
    :param snapshot: its ``Host.servers`` count no member of the group
    :param placement: member path to host name, of some or all members; the
        snapshot contains these hosts
    """
    hosts = snapshot.by_name()
    return tuple(_broken_policies(group, {
        path: hosts[name] for path, name in placement.items()}, snapshot))


def fits(member: Member, host: Host) -> bool:
    """Whether the host is enabled, meets the member's requirements and has
    room for it, regardless of policies.

    :param member: a member with resolved resources
    """
    return not any(_unsuitable([(member, host)]))


def _unsuitable(new: list[tuple[Member, Host]]) -> Iterator[Reason]:
    """Requirements of new members that their hosts do not meet, and hosts
    without room for their new members together."""
    classes = tree_classes(new)
    for member, host in new:
        yield from _unfit(member, host, classes.get(host.name, frozenset()))
    yield from _overfull(new, classes)
    yield from _without_providers(new, classes)
    yield from _overfull_shares(new)


def _overfull_shares(new: list[tuple[Member, Host]]) -> Iterator[Reason]:
    """Providers that several hosts share, and that do not have what the new
    members of all these hosts request together."""
    shares = {}
    requested: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for member, host in new:
        wanted = Counter(member.requirements.resources)
        for group in member.requirements.request_groups:
            wanted.update(group.resources)
        for provider in host.providers:
            for resource_class in (
                    provider.inventories.keys() & wanted.keys()
                    if provider.sharing else ()):
                # A host contains only those classes that it uses.
                shares[provider.uuid, resource_class] = provider
                requested[provider.uuid, resource_class][member.path] = (
                    wanted[resource_class])
    for (uuid, resource_class), amounts in sorted(requested.items()):
        provider = shares[uuid, resource_class]
        amount = sum(amounts.values())
        inventory = provider.inventories[resource_class]
        if amount > inventory.free and amount:
            yield _reason(
                ', '.join(amounts),
                'provider {:name}, which hosts share, has {} {}, of which {} '
                'are used: no room for {}', provider.name, inventory.capacity,
                resource_class, inventory.used, amount)


def _without_providers(new: list[tuple[Member, Host]],
                       classes: Mapping[str, frozenset[str]],
                       ) -> Iterator[Reason]:
    """Hosts whose trees of resource providers cannot serve the requests of
    their new members."""
    members: dict[str, list[Member]] = defaultdict(list)
    hosts = {}
    for member, host in new if classes else ():
        if host.name in classes:
            hosts[host.name] = host
            members[host.name].append(member)
    for name, those in sorted(members.items()):
        if cannot_serve(hosts[name], those, classes[name]):
            yield _reason(
                ', '.join(each.path for each in those),
                'the providers of host {:name} cannot give these members what '
                'they request', name)


def _misplaced(members: Mapping[str, Member], hosts: Mapping[str, Host],
               placement: Mapping[str, str],
               placed: Mapping[str, str]) -> Iterator[Reason]:
    """Members without a known host, unknown members, and moved members."""
    for path in members:
        if path not in placement:
            yield _reason(path, 'the member is not placed')
    for path, name in placement.items():
        if path not in members:
            yield _reason(path, 'the group has no such member')
        elif name not in hosts:
            yield _reason(path, 'host {:name} is not in the snapshot', name)
        if path in placed and placed[path] != name:
            yield _reason(
                path, 'the member is on host {:name} already and cannot be on '
                '{:name}', placed[path], name)


def _unfit(member: Member, host: Host,
           tree: frozenset[str]) -> Iterator[Reason]:
    """The requirements of the member that the host does not meet, and whether
    the host is disabled.

    :param tree: resource classes that ``tree_check`` checks
    """
    requirements, name = member.requirements, host.name
    if not host.enabled:
        yield _reason(member.path, 'host {:name} is disabled', name)
    if _is_wrong_kind(member, host):
        yield _reason(member.path, 'host {:name} is {} storage pool', name,
                      'a' if POOL in host.traits else 'not a')
        return
    for trait in sorted(requirements.required_traits - traits_for(
            host, requirements.resources)):
        yield _reason(member.path, 'host {:name} lacks {}', name, named(trait))
    for trait in sorted(requirements.forbidden_traits & host.traits):
        yield _reason(member.path, 'host {:name} has the forbidden trait {}',
                      name, trait)
    for aggregate in sorted(requirements.aggregates - host.aggregates):
        yield _reason(member.path, 'host {:name} is not in aggregate {:name}',
                      name, aggregate)
    zone = requirements.availability_zone
    if zone is not None and host.availability_zone != zone:
        yield _reason(
            member.path,
            'host {:name} is in availability zone {:name}, not {}', name,
            host.availability_zone or None, zone)
    vertex = (*host.location, name)
    if vertex[:len(requirements.location)] != requirements.location:
        yield _reason(
            member.path, 'host {:name} is at {:name}, not below {:name}', name,
            '/'.join(vertex), '/'.join(requirements.location))
    for resource_class, amount in sorted(requirements.resources.items()):
        if resource_class not in tree:
            yield from _bad_amount(member, host, resource_class, amount)


def _is_wrong_kind(member: Member, host: Host) -> bool:
    """Whether the member is a volume on a compute host, or a server on a
    storage pool."""
    requirements = member.requirements
    if POOL in host.traits:
        return POOL in requirements.forbidden_traits
    return POOL in requirements.required_traits


def _bad_amount(member: Member, host: Host, resource_class: str,
                amount: int) -> Iterator[Reason]:
    """Violations of Placement's rules for the amount of one allocation."""
    inventory = host.inventories.get(resource_class)
    if inventory is None:
        yield _reason(member.path, 'host {:name} has no {}', host.name,
                      resource_class)
        return
    for wrong, what, unit in (
            (amount < inventory.min_unit, 'less than its min_unit',
             inventory.min_unit),
            (amount > inventory.max_unit, 'more than its max_unit',
             inventory.max_unit),
            (amount % inventory.step_size, 'not a multiple of its step_size',
             inventory.step_size)):
        if wrong:
            yield _reason(member.path, '{} {} on host {:name} is {}, {}',
                          amount, resource_class, host.name, what, unit)


def _overfull(new: list[tuple[Member, Host]],
              tree: Mapping[str, frozenset[str]]) -> Iterator[Reason]:
    """Hosts whose new members together exceed the free capacity.

    :param tree: by host name, resource classes that ``tree_check`` checks
    """
    requested: dict[tuple[str, str], int] = defaultdict(int)
    paths: dict[tuple[str, str], list[str]] = defaultdict(list)
    hosts = {}
    for member, host in new:
        hosts[host.name] = host
        for resource_class, amount in member.requirements.resources.items():
            requested[host.name, resource_class] += amount
            paths[host.name, resource_class].append(member.path)
    for (name, resource_class), amount in sorted(requested.items()):
        inventory = hosts[name].inventories.get(resource_class)
        if inventory is None or resource_class in tree.get(name, ()):
            continue
        # Placement compares the sum of used and requested amounts with this
        # product as a float.
        capacity = (
            (inventory.total - inventory.reserved)
            * inventory.allocation_ratio)
        if inventory.used + amount > capacity:
            yield _reason(
                ', '.join(paths[name, resource_class]),
                'host {:name} has {} {}, of which {} are used: no room for {}',
                name, int(capacity), resource_class, inventory.used, amount)


def _broken_policies(group: Group, placement: Mapping[str, Host],
                     snapshot: Snapshot) -> Iterator[Reason]:
    for scope in group.scopes():
        for policy in scope.group.rules:
            if policy.hard:
                at = f'{scope.path}: {policy.title}'.removeprefix(': ')
                found = policy.check(scope, placement, snapshot)
                if found.count:
                    yield from (Reason.of(at, message) for message in (
                        found.messages
                        or (format_message('violations: {}', found.count),)))


def _reason(at: str, pattern: str, *parts: Any) -> Reason:
    return Reason.of(at, format_message(pattern, *parts))

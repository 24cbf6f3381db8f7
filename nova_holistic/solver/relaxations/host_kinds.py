# SPDX-License-Identifier: Apache-2.0
"""Kinds of hosts in a snapshot that could take members if they were empty."""

from collections.abc import Mapping, Sequence
from collections import Counter
from dataclasses import replace

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.member_traits import traits_for
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import Member
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.tree_check import cannot_serve, tree_classes


def kinds(group: Group, snapshot: Snapshot, in_time: InTime) -> Sequence[Host]:
    """One empty host of each kind that could take a member.

    Hosts are of one kind if they have the same resources, traits, nested and
    sharing providers, and hypervisor. Kinds that can take more of the
    different members come first, then kinds of more hosts.

    :param group: a group with resolved resources
    :returns: hosts with the names of existing hosts
    """
    members = {m.requirements: m for m in group.all_members()}.values()
    hosts: dict[tuple, Host] = {}
    number: Counter[tuple] = Counter()
    for host in snapshot.hosts:
        if host.enabled:
            key = _kind(host)
            hosts.setdefault(key, host)
            number[key] += 1
    order = []
    for at, (key, host) in enumerate(hosts.items()):
        in_time()
        empty = emptied(host)
        taken = sum(_takes(empty, each) for each in members)
        if taken:
            order.append((-taken, -number[key], at, empty))
    return [host for *_, host in sorted(order, key=lambda each: each[:3])]


def emptied(host: Host) -> Host:
    """The host without servers, and without usage of the resources that it
    does not share. Sharing providers keep their usage."""
    return replace(
        host, servers=0, statistics=FrozenMapping(),
        inventories=_empty(host.inventories),
        providers=tuple(
            each if each.sharing
            else replace(each, inventories=_empty(each.inventories))
            for each in host.providers))


def _empty(inventories: Mapping[str, Inventory]
           ) -> FrozenMapping[str, Inventory]:
    return FrozenMapping({name: replace(inventory, used=0)
                          for name, inventory in inventories.items()})


def _kind(host: Host) -> tuple:
    position = {each.uuid: number
                for number, each in enumerate(host.providers)}
    return (_empty(host.inventories), host.traits, host.hypervisor, tuple(
        each.uuid if each.sharing else (
            position.get(each.parent), _empty(each.inventories), each.traits)
        for each in host.providers))


def _takes(host: Host, member: Member) -> bool:
    """Whether the member fits on the host at a suitable location.

    :param host: an empty host
    """
    wanted = member.requirements
    traits = traits_for(host, wanted.resources)
    classes = tree_classes([(member, host)]).get(host.name, frozenset())
    return (wanted.required_traits <= traits
            and wanted.forbidden_traits.isdisjoint(host.traits)
            and all(name in classes or _offers(host, name, amount)
                    for name, amount in wanted.resources.items())
            and not cannot_serve(host, [member], classes))


def _offers(host: Host, name: str, amount: int) -> bool:
    inventory = host.inventories.get(name)
    return not amount or (
        inventory is not None and amount <= inventory.capacity
        and inventory.min_unit <= amount <= inventory.max_unit
        and amount % inventory.step_size == 0)

# SPDX-License-Identifier: Apache-2.0
"""Kinds of hosts in a snapshot that could take members if they were empty."""

from collections.abc import Sequence
from collections import Counter
from dataclasses import replace

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.member_traits import traits_for
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.requirements import Requirements


def kinds(group: Group, snapshot: Snapshot) -> Sequence[Host]:
    """One empty host of each kind that could take a member.

    Hosts are of one kind if they have the same resources, traits and
    hypervisor. Kinds that can take more of the different members come first,
    then kinds of more hosts.

    :param group: a group with resolved resources
    :returns: hosts with the names of existing hosts
    """
    requirements = {member.requirements for member in group.all_members()}
    hosts: dict[tuple, Host] = {}
    number: Counter[tuple] = Counter()
    for host in snapshot.hosts:
        if host.enabled:
            key = _kind(host)
            hosts.setdefault(key, host)
            number[key] += 1
    order = []
    for at, (key, host) in enumerate(hosts.items()):
        taken = sum(_takes(host, each) for each in requirements)
        if taken:
            order.append((-taken, -number[key], at, emptied(host)))
    return [host for *_, host in sorted(order, key=lambda each: each[:3])]


def emptied(host: Host) -> Host:
    """The host without servers, and without usage of its resources."""
    return replace(host, servers=0, statistics=FrozenMapping(),
                   inventories=FrozenMapping(_empty(host)))


def _empty(host: Host) -> dict[str, Inventory]:
    return {name: replace(inventory, used=0)
            for name, inventory in host.inventories.items()}


def _kind(host: Host) -> tuple:
    return (frozenset(_empty(host).items()), host.traits, host.hypervisor)


def _takes(host: Host, requirements: Requirements) -> bool:
    """Whether one such member fits on the host if the host is empty and at a
    suitable location."""
    traits = traits_for(host, requirements.resources)
    return (requirements.required_traits <= traits
            and requirements.forbidden_traits.isdisjoint(host.traits)
            and all(_offers(host, name, amount)
                    for name, amount in requirements.resources.items()))


def _offers(host: Host, name: str, amount: int) -> bool:
    inventory = host.inventories.get(name)
    return not amount or (
        inventory is not None and amount <= inventory.capacity
        and inventory.min_unit <= amount <= inventory.max_unit
        and amount % inventory.step_size == 0)

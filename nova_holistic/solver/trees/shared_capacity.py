# SPDX-License-Identifier: Apache-2.0
"""The capacity of a provider that several hosts share.

The rows of provider trees limit the members of each host. This policy limits
the members of all hosts that share a provider together.
"""

from collections.abc import Collection, Mapping
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from math import gcd
from typing import Any, ClassVar

import pulp

from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group, Scope
from nova_holistic.model.members.member import Member
from nova_holistic.model.messages.marked_text import format_message
from nova_holistic.model.policy import Encoder, Policy, Violations


@dataclass(frozen=True, kw_only=True, eq=False)
class SharedCapacity(Policy):
    """The members on hosts that share a provider allocate no more of a
    resource class than the provider has free.

    A problem of the solver contains it. Documents cannot.

    :ivar provider: name of the provider
    :ivar free: amount of the class that is free
    :ivar hosts: names of the hosts that share the provider
    :ivar amounts: path to amount of the class, of the new members that request
        the class
    """

    type: ClassVar[str] = 'shared capacity'
    keys: ClassVar[Mapping[str, Any]] = {}
    counts_servers: ClassVar[bool] = False

    provider: str
    resource_class: str
    free: int
    hosts: frozenset[str]
    amounts: Mapping[str, int]

    @property
    def title(self) -> str:
        return (f'{self.free} {self.resource_class} of the shared provider '
                f'{self.provider}')

    @property
    def summary(self) -> str:
        return format_message('{} {} of the shared provider {:name}',
                              self.free, self.resource_class, self.provider)

    def check(self, scope: Scope, placement: Mapping[str, Host],
              snapshot: Snapshot) -> Violations:
        amount = sum(amount for path, amount in self.amounts.items()
                     if path in placement
                     and placement[path].name in self.hosts)
        return Violations.of(int(amount > self.free), lambda: [format_message(
            'provider {:name} has {} {} free, and the members need {}',
            self.provider, self.free, self.resource_class, amount)])

    def encode(self, scope: Scope, encoder: Encoder) -> None:
        members: dict[int, list[Member]] = defaultdict(list)
        for member in scope.members:
            if member.path in self.amounts:
                members[self.amounts[member.path]].append(member)
        hosts = [host for host in encoder.snapshot.hosts
                 if host.name in self.hosts]
        # The row is divided by the common divisor. This is exact, because
        # numbers of members are whole.
        unit = gcd(*members) or 1
        # All members together allocate no more than the free capacity.
        encoder.require(pulp.lpSum(
            amount // unit * encoder.among(
                replace(scope, members=tuple(alike)), hosts)
            for amount, alike in sorted(members.items()))
            <= self.free // unit)


def shared_capacities(group: Group, snapshot: Snapshot,
                      placed: Collection[str]) -> tuple[SharedCapacity, ...]:
    """The limits of shared providers that the members of a group may exceed.

    :param group: the group, bound to the snapshot
    :param placed: paths of the members whose usage is in the snapshot
    """
    shared = _shared(snapshot)
    if not shared:
        return ()
    amounts = _amounts(group, placed)
    return tuple(
        SharedCapacity(
            provider=provider.name, resource_class=name,
            free=max(0, provider.inventories[name].free), hosts=hosts,
            amounts=amounts[name])
        for (provider, name), hosts in shared.items()
        # Otherwise, the members cannot exceed the limit.
        if sum(amounts.get(name, {}).values())
        > max(0, provider.inventories[name].free))


def _shared(snapshot: Snapshot
            ) -> Mapping[tuple[NestedProvider, str], frozenset[str]]:
    """The names of the hosts that use a resource class of a shared provider,
    for each of these providers and classes."""
    def work() -> Mapping[tuple[NestedProvider, str], frozenset[str]]:
        # A host contains only the classes that it uses.
        providers: dict[tuple[str, str], NestedProvider] = {}
        hosts: dict[tuple[str, str], list[str]] = defaultdict(list)
        for host in snapshot.hosts:
            for provider in host.providers:
                for name in provider.inventories if provider.sharing else ():
                    key = provider.uuid, name
                    providers[key] = provider
                    hosts[key].append(host.name)
        return {(provider, key[1]): frozenset(hosts[key])
                for key, provider in providers.items()}

    return snapshot.once('shared providers', work)


def _amounts(group: Group,
             placed: Collection[str]) -> Mapping[str, Mapping[str, int]]:
    """For each resource class, path to amount of the new members that request
    it."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for member in group.all_members():
        if member.path in placed:
            continue
        wanted = Counter(member.requirements.resources)
        for each in member.requirements.request_groups:
            wanted.update(each.resources)
        for name, amount in wanted.items():
            if amount:
                found[name][member.path] = amount
    return FrozenMapping(found)

# SPDX-License-Identifier: Apache-2.0
"""Resources that a member requests from a single provider of its host."""

from collections.abc import Collection, Iterable, Sequence
from collections import Counter
from dataclasses import dataclass, replace

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.member_traits import of_other_providers
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.request_group import RequestGroup


@dataclass(frozen=True, slots=True)
class Demand:
    """The resources and traits that one or several equal request groups
    request.

    :ivar outside: whether these are resources outside request groups. Then the
        root provider or a sharing provider of the host may have the required
        traits in place of the provider of the resources
    """

    resources: FrozenMapping[str, int]
    required_traits: frozenset[str] = frozenset()
    forbidden_traits: frozenset[str] = frozenset()
    outside: bool = False

    @classmethod
    def of(cls, group: RequestGroup) -> 'Demand':
        """The demand of a request group, without its suffix."""
        return cls(group.resources, group.required_traits,
                   group.forbidden_traits)

    @property
    def title(self) -> str:
        """The request in words, for error messages."""
        return ' '.join([
            ' and '.join(f'{amount} {name}' for name, amount
                         in sorted(self.resources.items())),
            *(f'with {trait}' for trait in sorted(self.required_traits)),
            *(f'without {trait}' for trait in sorted(self.forbidden_traits))])


@dataclass(frozen=True, slots=True)
class Part:
    """One provider of a host: the root provider or a nested provider.

    :ivar above: indexes into the result of ``parts``: of the provider and of
        the providers above it
    :ivar common: traits of the root provider and of the sharing providers
    """

    inventories: FrozenMapping[str, Inventory]
    traits: frozenset[str]
    above: frozenset[int] = frozenset()
    common: frozenset[str] = frozenset()

    def most(self, demand: Demand) -> int:
        """Maximum number of request groups of this kind that the provider can
        serve."""
        return min(self._most_by_class(demand).values())

    def most_of_any(self, alike: Iterable[Demand]) -> int:
        """Maximum number of request groups of these kinds together that the
        provider can serve. An upper bound if they request several classes.

        :param alike: demands for the same resource classes
        """
        # Each group requests at least the minimum amount of each class. The
        # minima can belong to different demands.
        found = [each for each in map(self._most_by_class, alike)
                 if all(each.values())]
        return min(max(each[name] for each in found)
                   for name in found[0]) if found else 0

    def _most_by_class(self, demand: Demand) -> dict[str, int]:
        """For each resource class, the maximum number of such request groups
        if no other class limits it."""
        missing = demand.required_traits - self.traits
        if demand.outside:
            missing -= self.common
        if missing or demand.forbidden_traits & self.traits:
            return dict.fromkeys(demand.resources, 0)
        return {name: _most(self.inventories.get(name), amount)
                for name, amount in demand.resources.items()}


def parts(host: Host, used: bool = True) -> tuple[Part, ...]:
    """All providers of a host, the root provider first.

    :param used: whether the inventories include the current usage
    """
    common = host.traits.union(*(
        each.traits for each in host.providers if each.sharing))
    return tuple(
        Part(inventories if used else FrozenMapping({
            name: replace(each, used=0)
            for name, each in inventories.items()}), traits, above, common)
        for (inventories, traits), above in zip((
            (host.inventories, host.traits),
            *((each.inventories, each.traits) for each in host.providers)),
            _above(host)))


def _above(host: Host) -> Sequence[frozenset[int]]:
    """For each provider, its own index and those of the providers above it.
    Nothing is above a provider that hosts share."""
    position = {each.uuid: number for number, each
                in enumerate(host.providers, 1)}
    parents = {number: position.get(each.parent, 0)
               for number, each in enumerate(host.providers, 1)}
    found = [frozenset([0])]
    for first, each in enumerate(host.providers, 1):
        own, number = ({first} if each.sharing else {0}), first
        while number not in own:
            own.add(number)
            number = parents[number]
        found.append(frozenset(own))
    return found


def nested_classes(snapshot: Snapshot) -> frozenset[str]:
    """Resource classes that nested providers of hosts have."""
    return snapshot.once('nested classes', lambda: frozenset(
        name for host in snapshot.hosts for each in host.providers
        for name in each.inventories))


def tree_classes(group: Group, snapshot: Snapshot) -> frozenset[str]:
    """Resource classes that the members request, and for which the root
    provider is not the only possible provider: nested providers have them, or
    request groups contain them."""
    nested = nested_classes(snapshot)
    different = {id(each.requirements): each.requirements
                 for each in group.all_members()}
    return frozenset(
        name for wanted in different.values()
        for name, amount in wanted.resources.items()
        if amount and name in nested).union(
            name for wanted in different.values()
            for each in wanted.request_groups for name in each.resources)


@dataclass(frozen=True, slots=True)
class ProviderTraits:
    """The providers of a snapshot other than root providers.

    :ivar traits: all of their traits that members may require of them
    :ivar nested: resource classes of the providers that are not shared
    """

    traits: frozenset[str] = frozenset()
    nested: frozenset[str] = frozenset()

    @classmethod
    def of(cls, snapshot: Snapshot) -> 'ProviderTraits':
        """The providers of a snapshot, which are determined once."""
        def work() -> ProviderTraits:
            # Many hosts have the same sharing providers.
            different = {id(each): each for host in snapshot.hosts
                         for each in host.providers}.values()
            return cls(
                of_other_providers(frozenset[str]().union(*(
                    each.traits for each in different))),
                frozenset(name for each in different if not each.sharing
                          for name in each.inventories))

        return snapshot.once('provider traits', work)


def demands(wanted: Requirements, classes: Collection[str],
            known: ProviderTraits = ProviderTraits()) -> Counter[Demand]:
    """The demands of a member, each with its number: one for each request
    group, and one for each of these classes that it requests outside request
    groups.

    Several providers outside request groups have the required traits together.
    If only one class comes from nested providers, its provider has the traits
    that no other provider has. Otherwise, no demand contains them.

    :param classes: the result of ``tree_classes``
    """
    own = [(name, amount) for name, amount in sorted(wanted.resources.items())
           if name in classes and amount]
    nested = [name for name, _ in own if name in known.nested]
    required = wanted.required_traits & known.traits
    return Counter(
        [Demand.of(each) for each in wanted.request_groups]
        + [Demand(FrozenMapping({name: amount}),
                  required if nested == [name] else frozenset(),
                  wanted.forbidden_traits & known.traits, outside=True)
           for name, amount in own])


def _most(inventory: Inventory | None, amount: int) -> int:
    if inventory is None or not (
            inventory.min_unit <= amount <= inventory.max_unit) or (
                amount % max(inventory.step_size, 1)):
        return 0
    return max(0, inventory.free) // amount

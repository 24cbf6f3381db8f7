# SPDX-License-Identifier: Apache-2.0
"""Resources that one provider of a host has to give to a member."""

from collections.abc import Collection, Sequence
from collections import Counter
from dataclasses import dataclass, replace

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.request_group import RequestGroup


@dataclass(frozen=True, slots=True)
class Demand:
    """Request groups that do not differ in what they request."""

    resources: FrozenMapping[str, int]
    required_traits: frozenset[str] = frozenset()
    forbidden_traits: frozenset[str] = frozenset()

    @classmethod
    def of(cls, group: RequestGroup) -> 'Demand':
        return cls(group.resources, group.required_traits,
                   group.forbidden_traits)

    @property
    def title(self) -> str:
        """What it requests, as error messages say it."""
        return ' '.join([
            ' and '.join(f'{amount} {name}' for name, amount
                         in sorted(self.resources.items())),
            *(f'with {trait}' for trait in sorted(self.required_traits)),
            *(f'without {trait}' for trait in sorted(self.forbidden_traits))])


@dataclass(frozen=True, slots=True)
class Part:
    """One provider of a host: the root provider, or one below it.

    :ivar above: positions of the provider itself and of those above it, in
        ``parts``
    """

    inventories: FrozenMapping[str, Inventory]
    traits: frozenset[str]
    above: frozenset[int] = frozenset()

    def most(self, demand: Demand) -> int:
        """The maximum number of such groups that it can give."""
        if (demand.required_traits - self.traits
                or demand.forbidden_traits & self.traits):
            return 0
        return min(_most(self.inventories.get(name), amount)
                   for name, amount in demand.resources.items())


def parts(host: Host, used: bool = True) -> tuple[Part, ...]:
    """All providers of a host.

    :param used: whether their use counts
    """
    return tuple(
        Part(inventories if used else FrozenMapping({
            name: replace(each, used=0)
            for name, each in inventories.items()}), traits, above)
        for (inventories, traits), above in zip((
            (host.inventories, host.traits),
            *((each.inventories, each.traits) for each in host.providers)),
            _above(host)))


def _above(host: Host) -> Sequence[frozenset[int]]:
    position = {each.uuid: number for number, each
                in enumerate(host.providers, 1)}
    parents = {number: position.get(each.parent, 0)
               for number, each in enumerate(host.providers, 1)}
    found = [frozenset([0])]
    for number in parents:
        own = {0}
        while number not in own:
            own.add(number)
            number = parents[number]
        found.append(frozenset(own))
    return found


def nested_classes(snapshot: Snapshot) -> frozenset[str]:
    """Resource classes of which providers below a host have some."""
    return snapshot.once('nested classes', lambda: frozenset(
        name for host in snapshot.hosts for each in host.providers
        for name in each.inventories))


def tree_classes(group: Group, snapshot: Snapshot) -> frozenset[str]:
    """Resource classes of the members that do not come from root providers
    alone. Empty if root providers have all that the members request."""
    nested = nested_classes(snapshot)
    different = {id(each.requirements): each.requirements
                 for each in group.all_members()}
    return frozenset(
        name for wanted in different.values()
        for name, amount in wanted.resources.items()
        if amount and name in nested).union(
            name for wanted in different.values()
            for each in wanted.request_groups for name in each.resources)


def demands(wanted: Requirements,
            classes: Collection[str]) -> Counter[Demand]:
    """The groups that a member requests. Each of these classes, if it is
    requested outside a group, also has to come from one provider."""
    return Counter(
        [Demand.of(each) for each in wanted.request_groups]
        + [Demand(FrozenMapping({name: amount}))
           for name, amount in sorted(wanted.resources.items())
           if name in classes and amount])


def _most(inventory: Inventory | None, amount: int) -> int:
    if inventory is None or not (
            inventory.min_unit <= amount <= inventory.max_unit) or (
                amount % max(inventory.step_size, 1)):
        return 0
    return max(0, inventory.free) // amount

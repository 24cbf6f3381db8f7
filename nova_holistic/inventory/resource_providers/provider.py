# SPDX-License-Identifier: Apache-2.0
"""One resource provider, from Placement's answers about it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
import functools
from typing import Any

from nova_holistic.model.cloud.inventory import Inventory, with_use_changed
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.cloud.use_change import UseChange
from nova_holistic.model.frozen import FrozenMapping

Answer = Mapping[str, Any]
"""The JSON document of the allocations, inventories or traits of a provider.
"""

_LIMITS = ('total', 'reserved', 'allocation_ratio', 'min_unit', 'max_unit',
           'step_size')
_GENERATION = 'resource_provider_generation'


@dataclass(frozen=True, slots=True)
class Provider:
    """A resource provider.

    :ivar generation: not newer than any other value of the object
    :ivar inventories: inventory by resource class, with the amount in use
    :ivar consumers: number of consumers of any type with allocations
    :ivar below: the providers below this provider
    :ivar is_counted: whether ``consumers`` is known. If not, it is 1
    """

    generation: int
    inventories: FrozenMapping[str, Inventory]
    traits: frozenset[str]
    consumers: int
    below: tuple[NestedProvider, ...] = ()
    is_counted: bool = True

    @classmethod
    def from_placement(cls, answers: Sequence[Answer],
                       traits: Iterable[str]) -> 'Provider':
        """The provider from Placement's answers about it.

        :param answers: allocations, inventories and possibly traits, in this
            order
        :param traits: names of its traits
        """
        allocations = answers[0]['allocations']
        return cls(
            # The oldest generation: after a change between two answers, the
            # next listing has a newer generation.
            generation=min(generation_of(answer) for answer in answers),
            inventories=_inventories(answers[1], _used(allocations)),
            traits=shared(frozenset(traits)), consumers=len(allocations))

    @classmethod
    def with_use(cls, inventories: Answer, used: Mapping[str, int],
                 traits: Iterable[str]) -> 'Provider':
        """A provider whose consumers are not counted.

        :param used: amount in use of each resource class of the provider
        """
        is_used = any(used.values())
        return cls(
            generation=generation_of(inventories),
            inventories=_inventories(inventories, used),
            traits=shared(frozenset(traits)), consumers=int(is_used),
            is_counted=not is_used)

    @classmethod
    def of_sharing(cls, inventories: Answer, used: Mapping[str, int],
                   traits: Iterable[str]) -> 'Provider':
        """A provider that shares its resources. Its consumers are not counted.

        :param used: amount in use of each resource class of the provider
        """
        return replace(cls.with_use(inventories, Counter(used), traits),
                       consumers=0, is_counted=True)

    def with_allocations(self, allocations: Answer) -> 'Provider':
        """The provider with these allocations; the same object if nothing has
        changed."""
        consumers = allocations['allocations']
        used = _used(consumers)
        found = replace(
            self, consumers=len(consumers), is_counted=True,
            inventories=FrozenMapping({
                name: replace(inventory, used=used[name])
                for name, inventory in self.inventories.items()}))
        return self if found == self else found

    def with_change(self, change: UseChange) -> 'Provider':
        """The provider after a change of its usage."""
        inventories = with_use_changed(self.inventories, change.amounts)
        return replace(self, inventories=inventories, consumers=(
            max(0, self.consumers + change.consumers) if self.is_counted
            else int(any(each.used for each in inventories.values()))))

    def with_change_below(self, uuid: str, change: UseChange) -> 'Provider':
        """The provider after a change of the usage of a nested provider.

        :param uuid: UUID of the nested provider
        """
        return replace(self, below=tuple(
            replace(provider, inventories=with_use_changed(
                provider.inventories, change.amounts))
            if provider.uuid == uuid else provider for provider in self.below))

    def used(self) -> dict[str, int]:
        """Amount in use of each resource class of the provider."""
        return {name: inventory.used
                for name, inventory in self.inventories.items()}


@functools.lru_cache(maxsize=4096)
def shared(traits: frozenset[str]) -> frozenset[str]:
    """The same object for equal traits. Most hosts of a cloud have the same
    traits, and separate objects would take several KiB for each host."""
    return traits


def generation_of(answer: Answer) -> int:
    """The generation of the provider at the time of the answer."""
    return answer[_GENERATION]


def _inventories(answer: Answer, used: Mapping[str, int]
                 ) -> FrozenMapping[str, Inventory]:
    return FrozenMapping({
        name: Inventory(used=used[name], **{
            limit: fields[limit] for limit in _LIMITS})
        for name, fields in answer['inventories'].items()})


def _used(consumers: Mapping[str, Any]) -> Counter[str]:
    used: Counter[str] = Counter()
    for consumer in consumers.values():
        used.update(consumer['resources'])
    return used

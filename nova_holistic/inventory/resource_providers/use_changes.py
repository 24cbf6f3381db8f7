# SPDX-License-Identifier: Apache-2.0
"""Finds providers whose usage changed without a new generation.

Each new allocation raises the generation of its provider. The deletion of an
allocation keeps the generation unchanged. Nova deletes allocations with
``DELETE /allocations/{consumer}`` when a server is deleted, and replaces them
when a server moves to another provider.
"""

from collections.abc import Collection, Mapping
from collections import Counter
from typing import Any

from nova_holistic.inventory.resource_providers.provider import Provider
from nova_holistic.inventory.service_client import ServiceClient
from nova_holistic.model.cloud.inventory import Inventory

PLACEMENT_VERSION = '1.38'
"""Traits of providers (1.6), and all resource classes in summaries (1.27)."""

Demand = tuple[str, int]
"""A resource class, and the smallest amount that a consumer can have."""


class UseLists:
    """Placement's lists of providers with room for something.

    :ivar traits: traits of each provider that was in a list of ``used``
    :ivar uses: usage by resource class of these providers, as last read
    """

    def __init__(self, placement: ServiceClient):
        self._placement = placement
        self.traits: dict[str, Collection[str]] = {}
        self.uses: dict[str, Mapping[str, int]] = {}

    def used(self, demand: Demand) -> Mapping[str, Mapping[str, int]]:
        """Usage by resource class of providers with room for the demand, and
        possibly of other providers.

        Placement may be configured to leave some out
        (``max_allocation_candidates``).
        """
        path = f'/allocation_candidates?resources={_query(demand)}'
        with self._placement.reading(path):
            summaries: Mapping[str, Any] = self._placement.get(
                path, PLACEMENT_VERSION)['provider_summaries']
            self.traits.update((uuid, summary['traits'])
                               for uuid, summary in summaries.items())
            found = {uuid: {name: amounts['used'] for name, amounts
                            in summary['resources'].items()}
                     for uuid, summary in summaries.items()}
            self.uses.update(found)
            return found

    def with_capacity(self, demand: Demand) -> frozenset[str]:
        """All providers with room for the demand, and no others."""
        path = f'/resource_providers?resources={_query(demand)}'
        with self._placement.reading(path):
            return frozenset(item['uuid'] for item in self._placement.get(
                path, PLACEMENT_VERSION)['resource_providers'])


def find_changed(known: Mapping[str, Provider],
                 lists: UseLists) -> frozenset[str]:
    """The providers whose usage may differ from the known usage.

    Requests: one for each list of providers with capacity for a demand, at
    most one for each different demand, and one more for each demand for which
    a full provider may have capacity again.

    :param known: providers whose generations have not changed
    """
    changed: set[str] = set()
    waiting = {uuid: _demands(provider, room=True)
               for uuid, provider in known.items()}
    # A list decides about all providers that should be in it. The usage of a
    # listed provider is compared, and a missing provider must be read.
    while demanded := Counter(
            demand for demands in waiting.values() for demand in demands):
        demand = max(sorted(demanded), key=demanded.__getitem__)
        used = lists.used(demand)
        for uuid in [uuid for uuid, demands in waiting.items()
                     if uuid in used or demand in demands]:
            del waiting[uuid]
            if used.get(uuid) != known[uuid].used():
                changed.add(uuid)
    # The other providers had no capacity. Check whether they still have none.
    for demand in sorted(frozenset[Demand]().union(*(
            _demands(known[uuid], room=False) for uuid in waiting))):
        changed |= lists.with_capacity(demand) & waiting.keys()
    return frozenset(changed)


def _demands(provider: Provider, *, room: bool) -> frozenset[Demand]:
    """The demands for which the provider has capacity.

    :param room: if False, instead the demands for which it has no capacity,
        but could have capacity after the deletion of consumers
    """
    found = set()
    for name, inventory in provider.inventories.items():
        least = _least(inventory)
        if least <= inventory.max_unit and (inventory.free >= least) is room:
            if room or inventory.used:
                found.add((name, least))
    return frozenset(found)


def _least(inventory: Inventory) -> int:
    """The smallest amount that a consumer may allocate, without regard to
    max_unit."""
    step = max(inventory.step_size, 1)
    return -(-max(inventory.min_unit, 1) // step) * step


def _query(demand: Demand) -> str:
    name, amount = demand
    return f'{name}:{amount}'

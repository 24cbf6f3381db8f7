# SPDX-License-Identifier: Apache-2.0
"""Resource providers, as Placement knows them, read anew where they changed.

A provider's generation grows with every change of its inventories and traits
and with every new allocation. It does not grow when allocations go: neither
``DELETE /allocations/{consumer}``, which is how Nova frees a deleted server,
nor a move to another provider touches it. So use is compared as well: one
``GET /allocation_candidates`` tells the use of every provider with room for
one VCPU. One that the answer lacks is full, as the cache must say too.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
import threading
from typing import Any

from nova_holistic.inventory.service import Service
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.inventory import Inventory

PLACEMENT_VERSION = '1.38'
"""Generations with traits (1.6), every class in summaries (1.27)."""

_LIMITS = ('total', 'reserved', 'allocation_ratio', 'min_unit', 'max_unit',
           'step_size')

Usage = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Provider:
    """A resource provider.

    :ivar generation: no newer than anything else here
    :ivar consumers: how many have allocations here, of whatever type
    """

    generation: int
    inventories: FrozenMapping[str, Inventory]
    traits: frozenset[str]
    consumers: int


class ProviderReader:
    """Remembers providers, and reads those that changed.

    What it returns for a provider with room for one VCPU was true of it at
    some moment during the call. For one without, use that went away may
    still be counted in other classes: it can take nothing that needs a VCPU.
    """

    def __init__(self, placement: Service, threads: int):
        """:param threads: how many providers are read at once"""
        self._placement = placement
        self._threads = threads
        self._lock = threading.Lock()
        self._known: dict[str, Provider] = {}

    def read(self, uuids: Collection[str]) -> Mapping[str, Provider]:
        """Those of the providers that exist.

        :raises ServiceFailed: Placement does not answer, or answers nonsense
        """
        with self._lock:
            generations = self._generations()
            usages = self._usages_with_room()
            present = [uuid for uuid in uuids if uuid in generations]
            changed = [uuid for uuid in present if not _is_current(
                self._known.get(uuid), generations[uuid], usages.get(uuid))]
            fetched = self._fetch_all(changed)
            found = {uuid: fetched[uuid] if uuid in fetched
                     else self._known[uuid] for uuid in present}
            self._known = {uuid: provider for uuid, provider in found.items()
                           if provider is not None}
            return dict(self._known)

    def _generations(self) -> Mapping[str, int]:
        path = '/resource_providers'
        with self._placement.reading(path):
            listing = self._placement.get(path, PLACEMENT_VERSION)
            return {item['uuid']: item['generation']
                    for item in listing['resource_providers']}

    def _usages_with_room(self) -> Mapping[str, Usage]:
        """Use of every provider that can take one VCPU."""
        path = '/allocation_candidates?resources=VCPU:1'
        with self._placement.reading(path):
            summaries = self._placement.get(
                path, PLACEMENT_VERSION)['provider_summaries']
            return {uuid: {name: amounts['used'] for name, amounts
                           in summary['resources'].items()}
                    for uuid, summary in summaries.items()}

    def _fetch_all(self, uuids: Collection[str]
                   ) -> Mapping[str, Provider | None]:
        if self._threads == 1 or len(uuids) < 2:
            return {uuid: self._fetch(uuid) for uuid in uuids}
        with ThreadPoolExecutor(self._threads) as pool:
            return dict(zip(uuids, pool.map(self._fetch, uuids)))

    def _fetch(self, uuid: str) -> Provider | None:
        """One provider; None where it went away meanwhile."""
        path = f'/resource_providers/{uuid}'
        answers = []
        for part in ('inventories', 'traits', 'allocations'):
            answer = self._placement.get(
                f'{path}/{part}', PLACEMENT_VERSION, missing_ok=True)
            if answer is None:
                return None
            answers.append(answer)
        with self._placement.reading(path):
            return _provider(*answers)


def _provider(inventories: Any, traits: Any, allocations: Any) -> Provider:
    consumers = allocations['allocations'].values()
    used: Counter[str] = Counter()
    for consumer in consumers:
        used.update(consumer['resources'])
    return Provider(
        # Of three answers the oldest: a change between two of them then
        # shows in the next listing.
        generation=min(answer['resource_provider_generation'] for answer
                       in (inventories, traits, allocations)),
        inventories=FrozenMapping({
            name: Inventory(used=used[name],
                            **{limit: fields[limit] for limit in _LIMITS})
            for name, fields in inventories['inventories'].items()}),
        traits=frozenset(traits['traits']),
        consumers=len(consumers))


def _is_current(known: Provider | None, generation: int,
                usage: Usage | None) -> bool:
    """Whether what is known of a provider still holds."""
    if known is None or known.generation != generation:
        return False
    if usage is not None:
        return usage == {name: inventory.used for name, inventory
                         in known.inventories.items()}
    # Not listed. Only a lack of VCPUs explains that; a provider that is
    # missing for another reason tells nothing about its use.
    vcpu = known.inventories.get('VCPU')
    return vcpu is not None and vcpu.free < 1

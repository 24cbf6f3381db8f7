# SPDX-License-Identifier: Apache-2.0
"""Reports to the inventory how requests of this process change the use of
providers."""

from collections.abc import Callable, Collection, Iterable, Mapping
from collections import OrderedDict
import functools
import threading
import time
from typing import Any, Protocol

from nova_holistic.holds.allocation_bodies import FIRST_GENERATION
from nova_holistic.model.cloud.use_change import UseChange
from nova_holistic.model.frozen import FrozenMapping

REMEMBERED = 100_000
"""Maximum number of holds whose allocations are kept in memory, because a
request that drops a hold does not contain them. The oldest ones are removed.
An entry takes about 300 bytes."""

DROPPED = 600
"""Seconds for which the allocations of a dropped hold are kept, because the
request may be repeated."""

_PATH = '/allocations'

Uses = Mapping[str, UseChange]
"""Changes of use by UUID of the provider."""


class ChangeReceiver(Protocol):
    """Receives the changes that requests make: see ``CloudInventory``."""

    def mark_providers(self, uuids: Collection[str]) -> None:
        ...

    def mark_use(self, uuids: Collection[str]) -> None:
        ...

    def moment(self) -> int:
        ...

    def change_use(self, since: int, changes: Uses) -> None:
        ...


class UseTrackingAdapter:
    """A keystoneauth Adapter for Placement with the methods that HoldClient
    uses.

    If a request with a known effect succeeds, the inventory changes the use of
    the providers, and nothing is read. The effect is known if consumers are
    created, or if holds that this process created are emptied at their first
    generation. After every other request that may have changed allocations,
    even if it failed, the providers are marked, and are read again. After a
    DELETE, only their use is read: it does not depend on inventories. If a
    hold that this process has already dropped is not found, nothing has
    changed, and nothing is read. If this process drops a hold of another
    process, the provider is unknown and is not marked.
    """

    def __init__(self, adapter: Any, inventory: ChangeReceiver,
                 clock: Callable[[], float] = time.monotonic):
        """
        :param adapter: keystoneauth Adapter for the placement service
        :param clock: returns seconds since any point in time
        """
        self._adapter = adapter
        self._clock = clock
        self._inventory = inventory
        self._lock = threading.Lock()
        self._created: OrderedDict[str, tuple[tuple[str, UseChange], ...]] = (
            OrderedDict())
        self._dropped: OrderedDict[str, float] = OrderedDict()

    def request(self, path: str, method: str, **options: Any) -> Any:
        """See keystoneauth's Adapter."""
        if method == 'DELETE' and path.startswith(f'{_PATH}/'):
            emptied = path.removeprefix(f'{_PATH}/')
            uses, exact = self._use(emptied), False
        elif method == 'POST' and path == _PATH:
            uses, exact = self._change(options['json'])
        else:
            uses, exact = {}, False
        if not uses:
            return self._adapter.request(path, method, **options)
        since, changed, unchanged = self._inventory.moment(), False, False
        try:
            response = self._adapter.request(path, method, **options)
            changed = exact and response.status_code == 204
            unchanged = (method == 'DELETE' and response.status_code == 404
                         and self._is_dropped(path))
            if response.status_code in (204, 404):
                self._drop(_emptied(path, method, options))
            return response
        finally:
            if changed:
                self._inventory.change_use(since, uses)
            elif method == 'DELETE':
                if not unchanged:
                    self._inventory.mark_use(frozenset(uses))
            else:
                self._inventory.mark_providers(frozenset(uses))

    def _change(self, body: Mapping[str, Any]) -> tuple[Uses, bool]:
        """The changes that a request makes if it succeeds, and whether they
        are exact."""
        total: dict[str, UseChange] = {}
        exact = True
        for consumer, wanted in body.items():
            generation = wanted['consumer_generation']
            if wanted['allocations']:
                uses = _uses(wanted['allocations'])
                exact &= generation is None
                self._remember(consumer, uses)
            else:
                uses = {uuid: -use
                        for uuid, use in self._use(consumer).items()}
                exact &= generation == FIRST_GENERATION
            for uuid, use in uses.items():
                total[uuid] = total.get(uuid, UseChange()) + use
        return total, exact

    def _use(self, consumer: str) -> Uses:
        """The use of a consumer that this process created; empty for other
        consumers."""
        with self._lock:
            return dict(self._created.get(consumer, ()))

    def _is_dropped(self, path: str) -> bool:
        """Whether this process has dropped the hold of a DELETE before."""
        with self._lock:
            return path.removeprefix(f'{_PATH}/') in self._dropped

    def _drop(self, consumers: Iterable[str]) -> None:
        """Note that consumers are deleted. Their use is kept for ``DROPPED``
        seconds, because the request may be repeated."""
        with self._lock:
            now = self._clock()
            for consumer in consumers:
                if consumer in self._created:
                    self._dropped.setdefault(consumer, now)
            while self._dropped:
                oldest, since = next(iter(self._dropped.items()))
                if since >= now - DROPPED:
                    break
                del self._dropped[oldest]
                self._created.pop(oldest, None)

    def _remember(self, consumer: str, uses: Uses) -> None:
        with self._lock:
            self._dropped.pop(consumer, None)
            self._created[consumer] = tuple(uses.items())
            self._created.move_to_end(consumer)
            while len(self._created) > REMEMBERED:
                self._created.popitem(last=False)


def _emptied(path: str, method: str,
             options: Mapping[str, Any]) -> Iterable[str]:
    """Consumers that a request deletes."""
    if method == 'DELETE':
        return [path.removeprefix(f'{_PATH}/')]
    return [consumer for consumer, wanted in options['json'].items()
            if not wanted['allocations']]


def _uses(allocations: Mapping[str, Any]) -> Uses:
    return {uuid: _use_of_one(frozenset(allocation['resources'].items()))
            for uuid, allocation in allocations.items()}


@functools.lru_cache(maxsize=1024)
def _use_of_one(amounts: frozenset[tuple[str, int]]) -> UseChange:
    """The use of one provider by one consumer. Equal holds share one object,
    to save memory."""
    return UseChange(1, FrozenMapping(dict(amounts)))

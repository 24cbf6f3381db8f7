# SPDX-License-Identifier: Apache-2.0
"""Marks the hosts of holds that this process changes in Placement."""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping
import threading
from typing import Any

REMEMBERED = 100_000
"""Holds whose provider is remembered, the latest ones. A request that drops a
hold does not name its provider. An entry takes about 200 bytes."""

_PATH = '/allocations'


class MarkingAdapter:
    """A keystoneauth Adapter for Placement, as HoldClient uses it.

    After each request that may have changed allocations, also after a failed
    one, the providers are marked. If a hold is dropped that another process
    put, its provider is not known and is not marked.
    """

    def __init__(self, adapter: Any,
                 mark: Callable[[Collection[str]], object]):
        """:param mark: receives UUIDs of providers"""
        self._adapter = adapter
        self._mark = mark
        self._lock = threading.Lock()
        self._providers: OrderedDict[str, str] = OrderedDict()

    def request(self, path: str, method: str, **options: Any) -> Any:
        """See keystoneauth's Adapter."""
        changed = frozenset(self._changed(path, method, options.get('json')))
        try:
            return self._adapter.request(path, method, **options)
        finally:
            if changed:
                self._mark(changed)

    def _changed(self, path: str, method: str, body: Any) -> Iterator[str]:
        """UUIDs of the providers whose use the request changes."""
        if method == 'DELETE' and path.startswith(f'{_PATH}/'):
            yield from self._emptied(path.removeprefix(f'{_PATH}/'))
        elif method == 'POST' and path == _PATH:
            for consumer, wanted in body.items():
                if wanted['allocations']:
                    yield from self._filled(consumer, wanted['allocations'])
                else:
                    yield from self._emptied(consumer)

    def _emptied(self, consumer: str) -> Iterator[str]:
        # The provider stays remembered: the request may be repeated.
        with self._lock:
            if consumer in self._providers:
                yield self._providers[consumer]

    def _filled(self, consumer: str,
                allocations: Mapping[str, Any]) -> Iterator[str]:
        with self._lock:
            for provider in allocations:
                self._providers[consumer] = provider
                self._providers.move_to_end(consumer)
                yield provider
            while len(self._providers) > REMEMBERED:
                self._providers.popitem(last=False)

# SPDX-License-Identifier: Apache-2.0
"""Immutable and hashable values."""

from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from typing import Any, TypeVar

K = TypeVar('K')
V = TypeVar('V')


class FrozenMapping(Mapping[K, V]):
    """An immutable mapping whose hash does not depend on the order of its
    items."""

    __slots__ = ('_items', '_hash')

    def __init__(self, items: Mapping[K, V] | None = None):
        self._items = dict(items or {})
        self._hash: int | None = None

    def __getitem__(self, key: K) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    # Those of ``Mapping`` call the methods above for each item.

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def get(self, key: K, default: Any = None) -> Any:
        return self._items.get(key, default)

    def items(self) -> ItemsView[K, V]:
        return self._items.items()

    def values(self) -> ValuesView[V]:
        return self._items.values()

    def __eq__(self, other: object) -> bool:
        # This takes a fraction of the time of ``Mapping.__eq__``.
        if isinstance(other, FrozenMapping):
            return self._items == other._items
        return super().__eq__(other)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._items.items()))
        return self._hash

    def __repr__(self) -> str:
        return f'FrozenMapping({self._items!r})'


def freeze(value: Any) -> Any:
    """The value of a document with tuples for lists and FrozenMappings for
    mappings."""
    if isinstance(value, list):
        return tuple(map(freeze, value))
    if isinstance(value, dict):
        return FrozenMapping({k: freeze(v) for k, v in value.items()})
    return value

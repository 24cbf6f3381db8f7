# SPDX-License-Identifier: Apache-2.0
"""A mapping that never changes, and whose changed copies cost as much as the
changes."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from nova_holistic.model.changed_keys import changed_keys

K = TypeVar('K')
V = TypeVar('V')

MIN_CHANGES = 64
"""Minimum number of changes after which all values are copied."""
_SHARE = 16
"""The values are copied if more than one of this number has changed."""

_GONE: Any = object()
"""The changed value of a key that was removed."""


class _Base(Generic[K, V]):
    """Values that several mappings share.

    :ivar before: an object that identifies the base from whose values these
        were copied
    :ivar changes: keys of the values that were changed then
    """

    __slots__ = ('values', 'key', 'before', 'changes')

    def __init__(self, values: Mapping[K, V], before: object = None,
                 changes: Iterable[K] = ()):
        self.values = values
        self.key = object()
        self.before = before
        self.changes = changes


class LayeredMapping(Mapping[K, V]):
    """A base of many values, and few changes. Threads may share an object.

    The order is that of the base, followed by new keys. A changed value keeps
    its place.
    """

    __slots__ = ('_base', '_changes', '_length')

    def __init__(self, values: Mapping[K, V] = {}):
        """:param values: a mapping that does not change later"""
        self._base: _Base[K, V] = _Base(values)
        self._changes: dict[K, V] = {}
        self._length = len(values)

    def __getitem__(self, key: K) -> V:
        value = self._changes.get(key, self)
        if value is self:
            return self._base.values[key]
        if value is _GONE:
            raise KeyError(key)
        return value

    def get(self, key: K, default: Any = None) -> Any:
        """The value of a key."""
        value = self._changes.get(key, self)
        if value is self:
            return self._base.values.get(key, default)
        return default if value is _GONE else value

    def __contains__(self, key: object) -> bool:
        value = self._changes.get(key, self)  # type: ignore[call-overload]
        return value is not _GONE and (
            value is not self or key in self._base.values)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[K]:
        return iter(self.copied())

    def copied(self) -> dict[K, V]:
        """A dictionary with these values."""
        found = {**self._base.values, **self._changes}
        for key, value in self._changes.items():
            if value is _GONE:
                del found[key]
        return found

    def updated(self, values: Mapping[K, V],
                gone: Iterable[K] = ()) -> 'LayeredMapping[K, V]':
        """The mapping after changes.

        :param values: new values
        :param gone: keys that are removed first; they need not exist
        """
        base, changes = self._base, dict(self._changes)
        length = self._length
        for key in gone:
            if key in base.values:
                length -= changes.get(key) is not _GONE
                changes[key] = _GONE
            elif key in changes:
                length -= 1
                del changes[key]
        for key, value in values.items():
            length += (changes[key] is _GONE if key in changes
                       else key not in base.values)
            changes[key] = value
        found: LayeredMapping[K, V] = LayeredMapping.__new__(LayeredMapping)
        found._base, found._changes, found._length = base, changes, length
        if not base.values or (
                len(changes) > max(MIN_CHANGES, len(base.values) // _SHARE)):
            found._base = _Base(found.copied(), base.key, changes.keys())
            found._changes = {}
        return found

    def differences_from(self, before: 'LayeredMapping[K, V]'
                         ) -> list[K] | None:
        """Keys that only one of the mappings has, or whose values are not the
        same object; None if all values must be compared."""
        mine, other = self._base, before._base
        if mine is not other and mine.before is not other.key:
            return None
        keys = {**before._changes, **self._changes}
        if mine is not other:
            keys = {**keys, **dict.fromkeys(mine.changes)}
        # This calls no function of Python for each key.
        now, last = self._changes.get, before._changes.get
        new, old = mine.values.get, other.values.get
        return [key for key in keys if last(key, old(key, _GONE))
                is not now(key, new(key, _GONE))]


def differences(before: Mapping[K, Any], now: Mapping[K, Any]) -> list[K]:
    """Keys that only one of the mappings has, or whose values are not the
    same object. If one mapping was made from the other with few changes, only
    these are compared."""
    if before is now:
        return []
    if isinstance(before, LayeredMapping) and isinstance(now, LayeredMapping):
        few = now.differences_from(before)
        if few is not None:
            return few
        before, now = before.copied(), now.copied()
    return [*(before.keys() - now.keys()), *changed_keys(now, before, now)]

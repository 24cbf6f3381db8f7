# SPDX-License-Identifier: Apache-2.0
"""Failure and locality domains."""

from dataclasses import dataclass, field

HOST = 'host'
"""The finest level of every topology."""


@dataclass(frozen=True, slots=True, order=True)
class Domain:
    """One vertex of the topology, identified by its path from the root.

    :ivar level: kind of vertex, e.g. ``rack``; also a label's key
    :ivar path: names from the root down to it; for a label, its value alone
    """

    level: str
    path: tuple[str, ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, '_hash', hash((self.level, self.path)))

    def __hash__(self) -> int:
        # Domains are keys of many mappings, so the hash is stored.
        return self._hash

    def __reduce__(self) -> tuple:
        # The hashes of strings differ in another process.
        return Domain, (self.level, self.path)

    def __str__(self) -> str:
        return '/'.join(self.path)

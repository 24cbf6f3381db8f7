# SPDX-License-Identifier: Apache-2.0
"""Failure and locality domains."""

from dataclasses import dataclass

HOST = 'host'
"""The finest level of every topology."""


@dataclass(frozen=True, slots=True, order=True)
class Domain:
    """One vertex of the topology: identified by its path from the root.

    :ivar level: kind of vertex, e.g. ``rack``; also a label's key
    :ivar path: names from the root down to it; for a label, its value alone
    """

    level: str
    path: tuple[str, ...]

    def __str__(self) -> str:
        return '/'.join(self.path)

# SPDX-License-Identifier: Apache-2.0
"""A mapping of names to the elements of a sequence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar('T')


@dataclass(frozen=True, slots=True, eq=False)
class NamedRows(Mapping[str, T]):
    """Hosts by their names. A plan looks up few of them, so that a dictionary
    of all hosts would take longer to make than the lookups take.

    :ivar rows: the index of each element by its name
    """

    elements: Sequence[T]
    rows: Mapping[str, int]

    def __getitem__(self, name: str) -> T:
        return self.elements[self.rows[name]]

    def __contains__(self, name: object) -> bool:
        return name in self.rows

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

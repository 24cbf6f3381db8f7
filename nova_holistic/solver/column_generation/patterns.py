# SPDX-License-Identifier: Apache-2.0
"""Patterns: numbers of members of each kind on one host."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """Patterns on hosts of some types.

    :ivar types: [pattern]: host type
    :ivar members: [pattern, kind]: number of members
    """

    types: np.ndarray
    members: np.ndarray

    @classmethod
    def together(cls, some: 'Sequence[Patterns]', kinds: int) -> 'Patterns':
        """All of the patterns.

        :param kinds: number of kinds of members
        """
        return cls(
            np.concatenate([np.zeros(0, dtype=np.int64),
                            *(each.types for each in some)]),
            np.concatenate([np.zeros((0, kinds), dtype=np.int64),
                            *(each.members for each in some)]))

    def only(self, which: np.ndarray) -> 'Patterns':
        """The patterns with these numbers, or those of a mask."""
        return Patterns(self.types[which], self.members[which])

    def __len__(self) -> int:
        return len(self.types)

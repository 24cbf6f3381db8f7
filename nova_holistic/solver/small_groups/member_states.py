# SPDX-License-Identifier: Apache-2.0
"""The states of a domain: how many members of each class it holds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
import math

import numpy as np

from nova_holistic.solver.limits.current import small_groups as limits


@dataclass(frozen=True, slots=True, eq=False)
class MemberStates:
    """All numbers of members that one domain can hold, as states.

    State 0 is the empty domain, and the last state contains all members. The
    number of the union of two states is the sum of their numbers.

    :ivar counts: [state, class]: number of members
    :ivar first: [pair]: a state
    :ivar second: [pair]: a state that can be added to it. Pairs are ordered by
        their union
    :ivar start: [state]: the first pair whose union is the state
    """

    counts: np.ndarray
    first: np.ndarray
    second: np.ndarray
    start: np.ndarray

    @classmethod
    def of(cls, sizes: Sequence[int]) -> 'MemberStates':
        """Create the states.

        :param sizes: [class]: number of members
        """
        counts = np.zeros((1, 0), dtype=np.int64)
        first = second = np.zeros(1, dtype=np.int64)
        for size in sizes:
            own = np.arange(size + 1)
            counts = np.column_stack((
                np.tile(counts, (size + 1, 1)),
                np.repeat(own, len(counts))))
            one, two = np.nonzero(own[:, None] + own <= size)
            step = len(counts) // (size + 1)
            first = (first[:, None] + step * one).ravel()
            second = (second[:, None] + step * two).ravel()
        order = np.argsort(first + second, kind='stable')
        first, second = first[order], second[order]
        return cls(counts, first, second, np.searchsorted(
            first + second, np.arange(len(counts))))

    def __len__(self) -> int:
        return len(self.counts)

    def with_second(self, possible: np.ndarray) -> 'MemberStates':
        """The states, with only the pairs whose second state is possible.

        :param possible: [state]; the empty domain is always possible
        """
        kept = possible[self.second] | (self.second == 0)
        numbers = np.add.reduceat(kept, self.start, dtype=np.int64)
        return replace(
            self, first=self.first[kept], second=self.second[kept],
            start=np.cumsum(numbers) - numbers)

    def combined(self, one: np.ndarray, two: np.ndarray) -> np.ndarray:
        """[row, state]: the minimum cost of the state in two domains together.

        :param one: [row, state]: its cost in the first domain
        :param two: [row, state]: its cost in the second domain
        """
        rows = max(1, limits().costs // len(self.first))
        return np.concatenate([np.minimum.reduceat(
            one[row:row + rows, self.first]
            + two[row:row + rows, self.second], self.start, axis=1)
            for row in range(0, len(one), rows)])

    def separated(self, state: int, one: np.ndarray,
                  two: np.ndarray) -> tuple[int, int]:
        """The parts of a state in two domains that have the minimum cost.

        :param one: [state]: the cost in the first domain
        :param two: [state]: the cost in the second domain
        """
        end = (self.start[state + 1] if state + 1 < len(self)
               else len(self.first))
        pairs = slice(self.start[state], end)
        best = self.start[state] + int(np.argmin(
            one[self.first[pairs]] + two[self.second[pairs]]))
        return int(self.first[best]), int(self.second[best])


def number_of_pairs(sizes: Sequence[int]) -> int:
    """The number of pairs of states for classes of these sizes."""
    return math.prod((size + 1) * (size + 2) // 2 for size in sizes)

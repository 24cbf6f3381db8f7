# SPDX-License-Identifier: Apache-2.0
"""The domains that each domain of the next coarser level contains."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nova_holistic.solver.problem.hosts import HostTable


@dataclass(frozen=True, slots=True, eq=False)
class DomainChildren:
    """The children of all domains of one level.

    :ivar numbers: [n]: the children of the first domain, then those of the
        next one
    :ivar parents: [n]: the domain of each of them, in ascending order
    :ivar lengths: [domain]: its number of children
    :ivar start: [domain]: position of its first child
    """

    numbers: np.ndarray
    parents: np.ndarray
    lengths: np.ndarray
    start: np.ndarray

    @classmethod
    def of(cls, table: HostTable, tree: Sequence[str],
           height: int) -> 'DomainChildren':
        """The children of the domains at one height of a tree of levels.

        :param tree: levels, the coarsest first. Each domain is in one domain
            of the level before
        :param height: number of levels below the domains, at least 1. Above
            the tree is one domain of all hosts
        """
        inner = table.division(tree[len(tree) - height]).of_host
        parents = np.zeros(int(inner.max()) + 1, dtype=np.int64)
        if height < len(tree):
            parents[inner] = table.division(
                tree[len(tree) - 1 - height]).of_host
        order = np.argsort(parents, kind='stable')
        return cls._ordered(order, parents[order], int(parents.max()) + 1)

    @classmethod
    def _ordered(cls, numbers: np.ndarray, parents: np.ndarray,
                 domains: int) -> 'DomainChildren':
        lengths = np.bincount(parents, minlength=domains)
        return cls(numbers, parents, lengths, np.cumsum(lengths) - lengths)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, domain: int) -> np.ndarray:
        """The children of one domain."""
        start = self.start[domain]
        return self.numbers[start:start + self.lengths[domain]]

    def only(self, kept: np.ndarray) -> 'DomainChildren':
        """Some of the children.

        :param kept: [child]: whether it remains
        """
        those = kept[self.numbers]
        return self._ordered(
            self.numbers[those], self.parents[those], len(self))

    def renumbered(self, kept: np.ndarray) -> 'DomainChildren':
        """Some of the children, with consecutive numbers.

        :param kept: [child]: whether it remains
        """
        those = self.only(kept)
        return replace(those, numbers=(np.cumsum(kept) - 1)[those.numbers])

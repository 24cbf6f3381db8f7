# SPDX-License-Identifier: Apache-2.0
"""The maximum number of some members on each host."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.problem.kinds import Kinds


@dataclass(frozen=True, slots=True, eq=False)
class HostRoom:
    """Upper limits from the room for each kind, the free amounts of each
    resource class, and the policies that limit the members on a host.

    :ivar kind_of: member path to the number of its kind
    """

    kinds: Kinds
    kind_of: dict[str, int]

    @classmethod
    def all_of(cls, kinds: Kinds) -> 'HostRoom':
        """Return the room for members of these kinds."""
        return cls(kinds, kinds.kind_of)

    def of(self, paths: Iterable[str]) -> np.ndarray:
        """[host]: maximum number of these members, which do not stay."""
        kinds = self.kinds
        numbers = np.bincount([self.kind_of[path] for path in paths],
                              minlength=len(kinds.kinds))
        room = np.minimum(
            np.minimum(kinds.room, numbers[:, None]).sum(axis=0),
            kinds.most_on_a_host)
        for amounts, free in zip(kinds.amounts.T, kinds.free.T):
            # The smallest members come first.
            total = np.cumsum(np.sort(np.repeat(amounts, numbers)))
            room = np.minimum(room, np.searchsorted(total, free, 'right'))
        return room

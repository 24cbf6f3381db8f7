# SPDX-License-Identifier: Apache-2.0
"""The mixes of one star on one level that the traffic bound knows."""

from dataclasses import dataclass, field

import numpy as np

from nova_holistic.solver.traffic.bundle import Bundle
from nova_holistic.solver.traffic.sorts import Sorts
from nova_holistic.solver.traffic.traffic import Star


@dataclass(slots=True, eq=False)
class Front:
    """One star on one level.

    :ivar level: of the domains
    :ivar inside: [place, cell]
    :ivar sort: of each mix that has entered
    """

    star: Star
    level: str
    sorts: Sorts | Bundle
    inside: np.ndarray
    sort: np.ndarray
    mixes: np.ndarray
    known: set[tuple[int, ...]] = field(default_factory=set)

    @property
    def rows(self) -> int:
        """One for each node and place, one for each sort."""
        return len(self.star.nodes) * len(self.inside) + len(self.sorts.place)

    def enter(self, sorts: np.ndarray, mixes: np.ndarray) -> bool:
        """Add mixes that are not there yet; whether there are any."""
        keys = enumerate(zip(sorts.tolist(), *mixes.T.tolist()))
        new = [n for n, key in keys if key not in self.known]
        self.known.update(zip(sorts.tolist(), *mixes.T.tolist()))
        self.sort = np.concatenate((self.sort, sorts[new]))
        self.mixes = np.concatenate((self.mixes, mixes[new]))
        return bool(new)

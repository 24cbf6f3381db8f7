# SPDX-License-Identifier: Apache-2.0
"""Patterns of one star on one level in the traffic bound."""

from dataclasses import dataclass, field

import numpy as np

from nova_holistic.solver.traffic.domain_aggregate import DomainAggregate
from nova_holistic.solver.traffic.domain_types import DomainTypes
from nova_holistic.solver.traffic.traffic_graph import Star


@dataclass(slots=True, eq=False)
class ColumnPool:
    """Patterns of one star on one level.

    :ivar level: level of the domains
    :ivar inside: [place, cell]
    :ivar type_of: type of each pattern
    """

    star: Star
    level: str
    types: DomainTypes | DomainAggregate
    inside: np.ndarray
    type_of: np.ndarray
    patterns: np.ndarray
    known: set[tuple[int, ...]] = field(default_factory=set)

    @property
    def rows(self) -> int:
        """Number of rows: one for each node and place, and one for each type.
        """
        return len(self.star.nodes) * len(self.inside) + len(self.types.place)

    def add(self, types: np.ndarray, patterns: np.ndarray) -> bool:
        """Add the patterns that are new. Return whether there are any."""
        keys = enumerate(zip(types.tolist(), *patterns.T.tolist()))
        new = [n for n, key in keys if key not in self.known]
        self.known.update(zip(types.tolist(), *patterns.T.tolist()))
        self.type_of = np.concatenate((self.type_of, types[new]))
        self.patterns = np.concatenate((self.patterns, patterns[new]))
        return bool(new)

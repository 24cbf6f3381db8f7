# SPDX-License-Identifier: Apache-2.0
"""Patterns of one star on one level in the traffic bound."""

from dataclasses import dataclass, field

import numpy as np

from nova_holistic.solver.traffic.domain_aggregate import CellTable
from nova_holistic.solver.traffic.domain_types import DomainTypes
from nova_holistic.solver.traffic.traffic_graph import Star


@dataclass(slots=True, eq=False)
class ColumnPool:
    """Patterns of one star on one level.

    :ivar level: level of the domains
    :ivar types: types of domains with the same limits
    :ivar inside: [place, cell]: whether the place contains the cell
    :ivar type_of: [pattern]: type of the domains that have the pattern
    :ivar patterns: [pattern, node of the star]: number of members
    :ivar known: types and numbers of all patterns
    """

    star: Star
    level: str
    types: DomainTypes | CellTable
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
        """Add the patterns that are new; return whether any pattern is new.

        :param types: [pattern]: type of the domains
        :param patterns: [pattern, node of the star]: number of members
        """
        keys = enumerate(zip(types.tolist(), *patterns.T.tolist()))
        new = [n for n, key in keys if key not in self.known]
        self.known.update(zip(types.tolist(), *patterns.T.tolist()))
        self.type_of = np.concatenate((self.type_of, types[new]))
        self.patterns = np.concatenate((self.patterns, patterns[new]))
        return bool(new)

# SPDX-License-Identifier: Apache-2.0
"""All numbers of members of each kind that a host can take, with their costs.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.column_generation.enumeration import (
    every_pattern)
from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.limits.current import confined as limits
from nova_holistic.solver.numerics.tolerances import (
    SUM_ROUNDING, UTILISATION_ROUNDING)
from nova_holistic.solver.problem.deadline import InTime


@dataclass(frozen=True, slots=True, eq=False)
class HostPatterns:
    """Patterns of members on one host.

    :ivar members: [pattern, kind]; the first pattern is empty
    :ivar costs: [type, pattern]: lower bound of the cost of a host; infinite
        if it has no room for the members
    """

    members: np.ndarray
    costs: np.ndarray

    @classmethod
    def of(cls, host_types: HostTypes,
           in_time: InTime) -> 'HostPatterns | None':
        """All patterns of the types; None if they are too many, or if a host
        with members costs less than an empty host."""
        members = _patterns(host_types, in_time)
        if members is None:
            return None
        used = members @ host_types.amounts
        fits = np.ones((len(host_types), len(members)), dtype=bool)
        for amounts, free in ((used, host_types.free),
                              (members, host_types.room)):
            for here, most in zip(amounts.T, free.T):
                fits &= here <= most[:, None]
        costs = np.full(fits.shape, np.inf)
        types, patterns = np.nonzero(fits)
        in_time()
        exact = host_types.cost(types, members[patterns])
        error = UTILISATION_ROUNDING if len(host_types.slopes) else 0.0
        if (exact < -error).any():
            return None
        costs[fits] = np.maximum(0.0, exact * (1 - SUM_ROUNDING) - error)
        return cls(members, costs)

    def up_to(self, size: int) -> 'HostPatterns':
        """The patterns of at most this number of members."""
        those = self.sizes <= size
        return HostPatterns(self.members[those], self.costs[:, those])

    @property
    def sizes(self) -> np.ndarray:
        """[pattern]: number of members."""
        return self.members.sum(axis=1)


def _patterns(host_types: HostTypes, in_time: InTime) -> np.ndarray | None:
    """[pattern, kind]: the numbers of members that the largest amounts of any
    hosts allow; None if they are too many."""
    def largest() -> Iterator[int]:
        for room in host_types.room.max(axis=0).tolist():
            in_time()
            yield room

    free = host_types.free.max(axis=0)
    return every_pattern(largest(), lambda found: (
        found @ host_types.amounts[:found.shape[1]] <= free).all(axis=1),
        limits().patterns // len(host_types))

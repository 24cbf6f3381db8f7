# SPDX-License-Identifier: Apache-2.0
"""The convex cost of each host, as the largest of several linear functions.

A tangent of the cost is a linear function of the load that all parts add
together. It is nowhere above the cost.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.members.member import Member
from nova_holistic.model.objective import HostCost
from nova_holistic.objectives.utilisation import requested_classes
from nova_holistic.solver.evaluation.marginal_cost import MarginalCost
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.utilisation_curve import curve


@dataclass(frozen=True, slots=True, eq=False)
class HostCurves:
    """The costs and the capacity of all hosts, for one group.

    :ivar classes: resource classes that the group requests
    :ivar free: [host, class]: free amount
    :ivar shares: [host, class]: increase of the utilisation by one unit
    :ivar utilisation: [host]: mean utilisation without the group
    :ivar slopes: slopes of the cost on pieces of equal width of the
        utilisation, in ascending order
    """

    classes: Sequence[str]
    free: np.ndarray
    shares: np.ndarray
    utilisation: np.ndarray
    slopes: np.ndarray

    @classmethod
    def of(cls, table: HostTable, members: Sequence[Member],
           host_cost: HostCost) -> 'HostCurves':
        """The curves of a convex cost.

        :param members: all members of the group
        """
        classes = requested_classes(members)
        amounts = [table.amounts(name) for name in classes]
        capacity = np.stack([each.capacity for each in amounts], axis=1)
        return cls(
            classes,
            np.stack([np.maximum(each.free, 0) for each in amounts], axis=1),
            1.0 / (len(classes) * np.maximum(capacity, 1)),
            MarginalCost(table, members, host_cost, ()).utilisation,
            np.array(host_cost.slopes, dtype=float))

    def tangents(self, host: int) -> list[tuple[float, float]]:
        """Slope and value at a load of 0, for each tangent of the cost of the
        host. The tangent of the first piece is left out, because the costs of
        the parts alone already add up to at least this tangent."""
        number, used = len(self.slopes), float(self.utilisation[host])
        first = min(int(used * number), number - 1)
        pieces = np.arange(first + 1, number)
        at = curve(np.append(pieces / number, used), self.slopes)
        return [(float(self.slopes[piece]), float(
            value - at[-1] - self.slopes[piece] * (piece / number - used)))
            for piece, value in zip(pieces, at)]

    def largest_gain(self, hosts: np.ndarray,
                     prices: np.ndarray) -> np.ndarray:
        """[n]: the maximum of price times load less the cost, over all loads
        for which each of the hosts has capacity.

        :param prices: [n]: price of a unit of load
        """
        used = self.utilisation[hosts, None]
        most = (self.free[hosts] * self.shares[hosts]).sum(axis=1)[:, None]
        number = len(self.slopes)
        # The maximum is at the end of a piece.
        loads = np.clip(np.arange(number + 1) / number - used, 0.0, most)
        loads = np.concatenate((loads, most), axis=1)
        costs = curve(used + loads, self.slopes) - curve(used, self.slopes)
        return (prices[:, None] * loads - costs).max(axis=1, initial=0.0)

# SPDX-License-Identifier: Apache-2.0
"""The convex cost of each host, as the largest of several linear functions.

A tangent of the cost is a linear function of the load that all parts add
together. It is not above the cost at any load that members can add together.
Between two such loads, it may be above the cost, which makes bounds tighter.
"""

from collections.abc import Sequence
from collections import Counter
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.members.member import Member
from nova_holistic.model.objective import HostCost
from nova_holistic.objectives.utilisation import requested_classes
from nova_holistic.solver.evaluation.marginal_cost import MarginalCost
from nova_holistic.solver.limits.current import shared_hosts as limits
from nova_holistic.solver.numerics.member_prices import MemberPrices
from nova_holistic.solver.numerics.tolerances import EQUAL_LOADS
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
    :ivar gains: [host]: upper bound of the prices of all members on the host,
        less its cost, for the prices of members in a relaxation; at least 0
    :ivar sums: [n, class]: the amounts that some members request together;
        None if there are too many different ones. Then, all amounts are
        possible
    """

    classes: Sequence[str]
    free: np.ndarray
    shares: np.ndarray
    utilisation: np.ndarray
    slopes: np.ndarray
    gains: np.ndarray
    sums: np.ndarray | None
    _loads: np.ndarray
    _costs: np.ndarray

    @classmethod
    def of(cls, table: HostTable, members: Sequence[Member],
           host_cost: HostCost, prices: MemberPrices | None = None
           ) -> 'HostCurves':
        """The curves of a convex cost.

        :param members: all members of the group
        :param prices: prices of members; None if they are not known
        """
        classes = requested_classes(members)
        amounts = [table.amounts(name) for name in classes]
        capacity = np.stack([each.capacity for each in amounts], axis=1)
        free = np.stack([np.maximum(each.free, 0) for each in amounts],
                        axis=1)
        gains, slopes = np.zeros(len(table)), host_cost.slopes
        if prices is not None:
            gains[prices.hosts] = prices.gains
        corners = np.full((len(table), 2 * len(slopes) + 4), np.nan)
        return cls(
            classes, free,
            1.0 / (len(classes) * np.maximum(capacity, 1)),
            MarginalCost(table, members, host_cost, ()).utilisation,
            np.array(slopes, dtype=float), gains,
            sums_of_amounts(members, classes, free.max(axis=0)), corners,
            corners.copy())

    def tangents(self, host: int) -> list[tuple[float, float]]:
        """Slope and value at a load of 0, for each tangent of the cost of the
        host. The tangent at the smallest loads is left out, because the costs
        of the parts alone already add up to at least this tangent."""
        self._find_corners(np.array([host]))
        loads, costs = self._loads[host], self._costs[host]
        rise = np.diff(loads)
        steps = np.flatnonzero(rise > EQUAL_LOADS)[1:]
        slopes = np.diff(costs)[steps] / rise[steps]
        return list(zip(slopes.tolist(), (
            costs[steps] - slopes * loads[steps]).tolist()))

    def largest_gain(self, hosts: np.ndarray,
                     prices: np.ndarray) -> np.ndarray:
        """[n]: the maximum of price times load less the cost, over the loads
        that members on each of the hosts may add together.

        :param prices: [n]: price of a unit of load
        """
        self._find_corners(hosts)
        return (prices[:, None] * self._loads[hosts]
                - self._costs[hosts]).max(axis=1, initial=0.0)

    def _find_corners(self, hosts: np.ndarray) -> None:
        """Find some possible loads of the hosts, from 0 to the largest, and
        their costs. Between two of them, the costs of the other possible loads
        are on a line."""
        hosts = hosts[np.isnan(self._loads[hosts, 0])]
        if not len(hosts):
            return
        number, used = len(self.slopes), self.utilisation[hosts, None]
        ends = np.arange(number + 1) / number - used
        if self.sums is None:
            most = (self.free[hosts] * self.shares[hosts]).sum(
                axis=1)[:, None]
            loads = np.clip(np.concatenate((
                ends, ends, most * 0, most), axis=1), 0.0, most)
        else:
            loads = self._possible_loads(hosts, ends)
        loads.sort(axis=1)
        self._loads[hosts] = loads
        self._costs[hosts] = curve(used + loads, self.slopes) - curve(
            used, self.slopes)

    def _possible_loads(self, hosts: np.ndarray,
                        ends: np.ndarray) -> np.ndarray:
        """[n, load]: on each host, the possible loads next to each end, the
        smallest, and the largest.

        :param ends: [n, end]
        """
        # Many hosts are equal.
        _, some, of = np.unique(np.concatenate((
            self.free[hosts], self.shares[hosts], ends), axis=1), axis=0,
            return_index=True, return_inverse=True)
        found = []
        for n in some.tolist():
            host = hosts[n]
            loads = np.sort(self.sums[(self.sums <= self.free[host]).all(
                axis=1)] @ self.shares[host])
            at = np.searchsorted(loads, ends[n])
            found.append(loads[np.clip(np.concatenate((
                at - 1, at, (0, len(loads) - 1))), 0, len(loads) - 1)])
        return np.array(found)[of.reshape(-1)]


def sums_of_amounts(members: Sequence[Member], classes: Sequence[str],
                    most: np.ndarray) -> np.ndarray | None:
    """[n, class]: the different sums of the amounts of some of the members,
    with the sum of no member; None if there are too many.

    :param most: [class]: the largest sums of interest
    """
    sums = np.zeros((1, len(classes)), dtype=np.int64)
    for amounts, number in Counter(
            tuple(each.requirements.resources.get(name, 0)
                  for name in classes) for each in members).items():
        one = np.array(amounts)
        some = one > 0
        if not some.any():
            continue
        number = min(number, int((most[some] // one[some]).min()))
        if len(sums) * (number + 1) > limits().candidate_sums:
            return None
        sums = (sums[:, None] + np.arange(number + 1)[:, None] * one
                ).reshape(-1, len(classes))
        sums = np.unique(sums[(sums <= most).all(axis=1)], axis=0)
        if len(sums) > limits().sums:
            return None
    return sums

# SPDX-License-Identifier: Apache-2.0
"""Prices that parts pay for hosts, and the bound that they prove.

The cost f of a host is convex, and 0 without members. Let X be the load of all
parts together, and x the load of one part. f(X) has two lower bounds:

- the sum of f(x) over all parts;
- for each price p, the sum of max(f(x), p x) over all parts, less the largest
  gain, which is the maximum of p Y - f(Y) over all loads Y. Proof: let Y be
  the sum of the loads with f(x) < p x. f(X) is at least f(Y) plus the sum of
  f(x) over all other parts, and f(Y) is at least p Y less the largest gain.

Any average of the two bounds is also a lower bound. Amounts beyond the free
capacity, and other members on a host that is closed to them, have additional
prices. If each part has its cheapest hosts for these prices, the sum of their
costs is a lower bound of the cost of all plans, by weak duality.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.numerics.host_duals import HostDuals
from nova_holistic.solver.shared_hosts.host_curves import HostCurves
from nova_holistic.solver.shared_hosts.part_program import PartProgram


@dataclass(frozen=True, slots=True, eq=False)
class HostPrices:
    """Prices of some hosts. All other hosts have their own costs.

    :ivar hosts: [n]: indexes of hosts with prices
    :ivar own: [n]: weight of the first bound, from 0 to 1: of the costs of the
        parts alone
    :ivar slope: [n]: price p of a unit of load in the second bound, whose
        weight is 1 - own
    :ivar amounts: [n, class]: price of a unit of the class; not negative
    :ivar uses: [n, part]: price of the host for the part; not negative
    :ivar once: [n]: sum of the prices of pairs of parts of which only one may
        use the host
    """

    hosts: np.ndarray
    own: np.ndarray
    slope: np.ndarray
    amounts: np.ndarray
    uses: np.ndarray
    once: np.ndarray

    @classmethod
    def none(cls, classes: int, parts: int) -> 'HostPrices':
        """No prices, for these numbers of resource classes and parts."""
        empty = np.zeros(0)
        return cls(np.zeros(0, dtype=np.int64), empty, empty,
                   np.zeros((0, classes)), np.zeros((0, parts)), empty)

    @classmethod
    def of(cls, duals: HostDuals, classes: Sequence[str],
           parts: int) -> 'HostPrices':
        """Prices from the dual values of a relaxation without parts.

        :param classes: resource classes of the prices
        :param parts: number of parts
        """
        hosts = len(duals.hosts)
        amounts = np.zeros((hosts, len(classes)))
        for c, name in enumerate(classes):
            if name in duals.classes:
                amounts[:, c] = duals.amounts[:, duals.classes.index(name)]
        return cls(duals.hosts, duals.alone, duals.slope, amounts,
                   np.zeros((hosts, parts)), np.zeros(hosts))

    def between(self, other: 'HostPrices', weight: float) -> 'HostPrices':
        """Prices between these and the others.

        :param weight: weight of the others
        """
        hosts = np.union1d(self.hosts, other.hosts)
        both = [(each._of(hosts), share) for each, share in (
            (self, 1 - weight), (other, weight))]
        own = sum(share * each.own for each, share in both)
        slope = sum(share * (1 - each.own) * each.slope
                    for each, share in both)
        return HostPrices(
            hosts, own, slope / np.where(own < 1, 1 - own, 1.0), *(
                sum(share * getattr(each, name) for each, share in both)
                for name in ('amounts', 'uses', 'once')))

    def _of(self, hosts: np.ndarray) -> 'HostPrices':
        """The same prices, for more hosts."""
        at = np.searchsorted(hosts, self.hosts)

        def extended(known: np.ndarray, other: float = 0.0) -> np.ndarray:
            found = np.full((len(hosts), *known.shape[1:]), other)
            found[at] = known
            return found

        return HostPrices(
            hosts, extended(self.own, 1.0), extended(self.slope),
            extended(self.amounts), extended(self.uses), extended(self.once))

    def costs(self, part: PartProgram, number: int,
              curves: HostCurves) -> np.ndarray:
        """[host, state]: what the part pays for the host with the members of
        the state; infinite if it cannot hold them.

        :param number: index of the part
        """
        found = part.problem.costs
        if not len(self.hosts):
            return found
        found, alone = found.copy(), found[self.hosts]
        possible = np.isfinite(alone)
        alone = np.where(possible, alone, 0.0)
        load = curves.shares[self.hosts] @ part.amounts.T
        own = self.own[:, None]
        paid = own * alone + (1 - own) * np.maximum(
            alone, self.slope[:, None] * load) + self.amounts @ part.amounts.T
        paid[:, 1:] += self.uses[:, number, None]
        found[self.hosts] = np.where(possible, paid, np.inf)
        return found

    def terms(self, curves: HostCurves) -> np.ndarray:
        """Numbers whose sum is the constant of the bound."""
        return -np.concatenate((
            (1 - self.own) * curves.largest_gain(self.hosts, self.slope),
            (self.amounts * curves.free[self.hosts]).ravel(), self.once))

# SPDX-License-Identifier: Apache-2.0
"""Prices that parts pay for hosts, and the bound that they prove.

The cost f of a host is convex, and 0 without members. Let X be the load of all
parts together, and x the load of one part. f(X) has three lower bounds:

- the sum of f(x) over all parts;
- for each price p, the sum of max(f(x), p x) over all parts, less the largest
  gain, which is the maximum of p Y - f(Y) over all loads Y. Proof: let Y be
  the sum of the loads with f(x) < p x. f(X) is at least f(Y) plus the sum of
  f(x) over all other parts, and f(Y) is at least p Y less the largest gain;
- the same with a price of each member instead of a price of its load. These
  prices are the same on all hosts.

Any average of the three bounds is also a lower bound. Amounts beyond the free
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
    :ivar members: [n]: weight of the third bound, from 0 to 1 - own
    :ivar slope: [n]: price p of a unit of load in the second bound, which has
        the remaining weight
    :ivar amounts: [n, class]: price of a unit of the class; not negative
    :ivar uses: [n, part]: price of the host for the part; not negative
    :ivar once: [n]: sum of the prices of pairs of parts of which only one may
        use the host
    """

    hosts: np.ndarray
    own: np.ndarray
    members: np.ndarray
    slope: np.ndarray
    amounts: np.ndarray
    uses: np.ndarray
    once: np.ndarray

    @classmethod
    def none(cls, classes: int, parts: int) -> 'HostPrices':
        """No prices, for these numbers of resource classes and parts."""
        empty = np.zeros(0)
        return cls(np.zeros(0, dtype=np.int64), empty, empty, empty,
                   np.zeros((0, classes)), np.zeros((0, parts)), empty)

    @classmethod
    def of_members(cls, hosts: np.ndarray, classes: int,
                   parts: int) -> 'HostPrices':
        """Only the third bound, for these hosts."""
        none = np.zeros(len(hosts))
        return cls(hosts, none, none + 1.0, none,
                   np.zeros((len(hosts), classes)),
                   np.zeros((len(hosts), parts)), none)

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
        return cls(duals.hosts, duals.alone, np.zeros(hosts), duals.slope,
                   amounts,
                   np.zeros((hosts, parts)), np.zeros(hosts))

    def between(self, other: 'HostPrices', weight: float) -> 'HostPrices':
        """Prices between these and the others.

        :param weight: weight of the others
        """
        hosts = np.union1d(self.hosts, other.hosts)
        both = [(each._of(hosts), share) for each, share in (
            (self, 1 - weight), (other, weight))]
        weight = sum(share * each.sloped for each, share in both)
        slope = sum(share * each.sloped * each.slope for each, share in both)
        own, members, amounts, uses, once = (
            sum(share * getattr(each, name) for each, share in both)
            for name in ('own', 'members', 'amounts', 'uses', 'once'))
        return HostPrices(hosts, own, members,
                          slope / np.where(weight > 0, weight, 1.0),
                          amounts, uses, once)

    @property
    def sloped(self) -> np.ndarray:
        """[n]: weight of the second bound."""
        return np.maximum(0.0, 1.0 - self.own - self.members)

    def _of(self, hosts: np.ndarray) -> 'HostPrices':
        """The same prices, for more hosts."""
        at = np.searchsorted(hosts, self.hosts)

        def extended(known: np.ndarray, other: float = 0.0) -> np.ndarray:
            found = np.full((len(hosts), *known.shape[1:]), other)
            found[at] = known
            return found

        return HostPrices(
            hosts, extended(self.own, 1.0), extended(self.members),
            extended(self.slope), extended(self.amounts),
            extended(self.uses), extended(self.once))

    def costs(self, part: PartProgram, number: int, curves: HostCurves,
              hosts: np.ndarray) -> np.ndarray:
        """[n, state]: what the part pays for each of the hosts with the
        members of the state; infinite if the host cannot hold them. The prices
        only raise the part's own costs.

        :param number: index of the part
        :param hosts: [n]: indexes of hosts
        """
        found = part.problem.costs[hosts]
        at = np.searchsorted(self.hosts, hosts)
        priced = np.flatnonzero(np.append(self.hosts, -1)[at] == hosts)
        at = at[priced]
        alone = found[priced]
        possible = np.isfinite(alone)
        alone = np.where(possible, alone, 0.0)
        load = curves.shares[hosts[priced]] @ part.amounts.T
        own, sloped, slope, members = (each[at, None] for each in (
            self.own, self.sloped, self.slope, self.members))
        paid = own * alone + sloped * np.maximum(
            alone, slope * load) + members * np.maximum(
                alone, part.values) + self.amounts[at] @ part.amounts.T
        paid[:, 1:] += self.uses[at, number, None]
        found[priced] = np.where(possible, paid, np.inf)
        return found

    def terms(self, curves: HostCurves) -> np.ndarray:
        """Numbers whose sum is the constant of the bound."""
        return -np.concatenate((
            self.sloped * curves.largest_gain(self.hosts, self.slope),
            self.members * curves.gains[self.hosts],
            (self.amounts * curves.free[self.hosts]).ravel(), self.once))

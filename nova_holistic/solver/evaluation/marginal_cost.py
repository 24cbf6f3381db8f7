# SPDX-License-Identifier: Apache-2.0
"""The cost of one more member on each host, as an array over all hosts, for
objectives that are sums over hosts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.members.member import Member
from nova_holistic.model.objective import HostCost
from nova_holistic.objectives.utilisation import requested_classes
from nova_holistic.solver.evaluation.covering_cost import covering_cost
from nova_holistic.solver.numerics.tolerances import UNLIMITED_MEMBERS
from nova_holistic.solver.problem.hosts import (
    by_group, Division, HostTable, ranks)
from nova_holistic.solver.problem.utilisation_curve import curve

Demand = Sequence[tuple[str, int]]
"""Resource classes and amounts that one member requests."""


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Hosts of one level's domains.

    :ivar hosts: indexes of the hosts that members may use
    :ivar room: [n]: maximum number of members on each of these hosts
    :ivar domain: [n]: domain of each of them
    :ivar domains: number of domains of the level
    """

    hosts: np.ndarray
    room: np.ndarray
    domain: np.ndarray
    domains: int

    @classmethod
    def of(cls, hosts: np.ndarray, room: np.ndarray,
           division: Division) -> 'Places':
        """Those of the hosts that are in a domain and have room.

        :param room: [n]: maximum number of members on each of the hosts
        """
        domain = division.of_host[hosts]
        some = (domain >= 0) & (room > 0)
        return cls(hosts[some], room[some], domain[some],
                   len(division.domains))


class MarginalCost:
    """The marginal costs of a group in which some members stay and others are
    inserted one by one.

    :ivar free: for each resource class that the group requests, [host]: free
        amount
    :ivar utilisation: [host]: mean utilisation
    :ivar opening: [host]: cost of using it; 0 if the group uses it already
    """

    def __init__(self, table: HostTable, members: Sequence[Member],
                 host_cost: HostCost, used: Sequence[int]):
        """:param used: indexes of the hosts of members that stay"""
        amounts = {name: table.amounts(name)
                   for name in requested_classes(members)}
        self.free = {name: each.free.copy() for name, each in amounts.items()}
        self._capacity = {name: np.maximum(each.capacity, 1)
                          for name, each in amounts.items()}
        # A host without capacity is fully utilised.
        self._used = {
            name: np.where(each.capacity > 0, each.capacity - each.free, 1)
            for name, each in amounts.items()}
        self._slopes = np.array(host_cost.slopes)
        self._hosts = len(table)
        self.utilisation = self._share({})
        self.opening = np.array(np.broadcast_to(
            host_cost.opening(1 - self.utilisation), self._hosts), dtype=float)
        self.opening[list(used)] = 0.0
        # [host]: its cost of utilisation.
        self._current = (curve(self.utilisation, self._slopes)
                         if len(self._slopes) else np.zeros(self._hosts))
        # The latest demand and the increases that it causes: members that
        # follow one another usually request the same.
        self._latest: tuple[Demand, np.ndarray] | None = None

    def of(self, amounts: Demand) -> np.ndarray:
        """[host]: the increase of its cost by one member that requests these
        amounts."""
        return self.opening + self._cost_increase(amounts)

    def at(self, amounts: Demand, hosts: np.ndarray) -> np.ndarray:
        """[n]: this increase for some hosts, in less time if they are few."""
        opening = self.opening[hosts]
        return opening + self._increase(amounts, hosts) if len(
            self._slopes) else opening

    def fits(self, amounts: Demand) -> np.ndarray:
        """[host]: whether these amounts are free."""
        result = np.ones(self._hosts, dtype=bool)
        for name, amount in amounts:
            result &= self.free[name] >= amount
        return result

    def room(self, amounts: Demand, hosts: np.ndarray) -> np.ndarray:
        """[n]: number of members that request these amounts and fit on each of
        the hosts."""
        found = np.full(len(hosts), UNLIMITED_MEMBERS)
        for name, amount in amounts:
            if amount:
                found = np.minimum(found, self.free[name][hosts] // amount)
        return found

    def put(self, amounts: Demand, host: int) -> None:
        """Place one member that requests these amounts on the host."""
        for name, amount in amounts:
            self.free[name][host] -= amount
            self._used[name][host] += amount
        self.opening[host] = 0.0
        changed = np.array([host])
        self.utilisation[changed] = self._share({}, changed)
        if len(self._slopes):
            self._current[changed] = curve(
                self.utilisation[changed], self._slopes)
        if self._latest is not None:
            latest, increase = self._latest
            increase[changed] = self._increase(latest, changed)

    def least(self, kinds: Sequence[tuple[Demand, np.ndarray, int]],
              most: int | None = None) -> float:
        """A lower bound of the cost of inserting all these members.

        Costs that rise with utilisation are larger if different members share
        a host. Members can share the cost of opening a host: only the largest
        opening cost of all kinds is counted.

        :param kinds: requested amounts, suitable hosts, and number of members
        :param most: maximum number of members on a host
        """
        utilisation_cost = sum(self._utilisation_bound(*each)
                               for each in kinds)
        if len(self._slopes):
            openings = [float(self.of(amounts)[suits].min())
                        for amounts, suits, _ in kinds]
        else:
            openings = [self._opening_bound(*each, most) for each in kinds]
        return max([utilisation_cost, *openings])

    def _opening_bound(self, amounts: Demand, suits: np.ndarray,
                       number: int, most: int | None) -> float:
        """The minimum cost of opening hosts with room for this number of
        members."""
        room = np.where(suits, number if most is None else most, 0)
        for name, amount in amounts:
            # More can be in use than the capacity.
            room = np.minimum(room, np.maximum(0, self.free[name]) // amount)
        return covering_cost(room, self.opening, number)

    def _utilisation_bound(self, amounts: Demand, suits: np.ndarray,
                           number: int) -> float:
        """The minimum cost of utilisation for members of one kind, without
        other members and without the costs of opening hosts."""
        if not len(self._slopes):
            return 0.0
        hosts = np.flatnonzero(suits)
        first = self._cost_increase(amounts)[hosts]
        if len(hosts) > number:
            # Marginal costs never fall, so the other hosts remain unused.
            hosts = hosts[np.argpartition(first, number - 1)[:number]]
        steps = self._steps(amounts, number, hosts)
        return float(np.sort(steps, axis=None)[:number].sum())

    def in_domains(self, amounts: Demand, number: int,
                   places: 'Places') -> np.ndarray:
        """[domain]: the minimum cost of inserting this number of members that
        request these amounts into the domain, without the costs of opening
        hosts; infinite if its hosts have too little room."""
        # Marginal costs never fall, so this number of hosts with the lowest
        # first ones is sufficient in each domain.
        order = np.argsort(self._steps(amounts, 1, places.hosts)[0])
        kept = order[ranks(places.domain[order]) < number]
        steps = self._steps(amounts, number, places.hosts[kept])
        some = np.arange(number)[:, None] < places.room[kept]
        cost = steps[some]
        where = np.broadcast_to(places.domain[kept], steps.shape)[some]
        order = np.argsort(cost)
        order = order[by_group(where[order])]
        cost = cost[order]
        sizes = np.bincount(where, minlength=places.domains)
        first = np.cumsum(sizes) - sizes
        found = np.full(places.domains, np.inf)
        fine = np.flatnonzero(sizes >= number)
        found[fine] = cost[first[fine][:, None] + np.arange(number)].sum(
            axis=1)
        return found

    def _steps(self, amounts: Demand, number: int,
               hosts: np.ndarray) -> np.ndarray:
        """[n, host]: the increase of the cost of each of the hosts by the n-th
        member that requests these amounts, without the cost of opening it."""
        if not len(self._slopes):
            return np.zeros((number, len(hosts)))
        shares = [self._share({name: n * amount for name, amount in amounts},
                              hosts) for n in range(number + 1)]
        return np.diff([curve(each, self._slopes) for each in shares], axis=0)

    def _cost_increase(self, amounts: Demand) -> np.ndarray:
        if not len(self._slopes):
            return np.zeros(self._hosts)
        wanted = tuple(amounts)
        if self._latest is None or self._latest[0] != wanted:
            self._latest = wanted, self._increase(wanted)
        return self._latest[1]

    def _increase(self, amounts: Demand,
                  hosts: np.ndarray | slice = slice(None)) -> np.ndarray:
        return (curve(self._share(dict(amounts), hosts), self._slopes)
                - self._current[hosts])

    def _share(self, extra: Mapping[str, int],
               hosts: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Mean utilisation of hosts, as objectives.utilisation defines it."""
        total = np.zeros(self._hosts)[hosts]
        for name, used in self._used.items():
            total += np.minimum((used[hosts] + extra.get(name, 0))
                                / self._capacity[name][hosts], 1.0)
        return total / max(1, len(self.free))

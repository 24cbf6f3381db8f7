# SPDX-License-Identifier: Apache-2.0
"""The value of the objective while members are placed one after another, and
the cost of one more member on each host, as an array over the hosts of a case.
"""

import abc
from collections.abc import Mapping, Sequence

import numpy as np

from nova_holistic.model.members.member import Member
from nova_holistic.model.objective import Objective, HostCost, Traffic
from nova_holistic.objectives.utilisation import requested_classes
from nova_holistic.solver.limits.current import improve as limits
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.utilisation_curve import (
    curve, is_number_of_hosts)


class PlacementCosts(abc.ABC):
    """Costs of the members of a case. They guide a search; rounding may make
    them differ from the objective.

    :ivar value: cost of all members that were added
    :ivar counts_hosts: whether the value is the number of hosts in use. Then
        it changes only when a host receives its first member or loses its last
        one
    """

    value: float = 0.0
    counts_hosts: bool = False

    @property
    def guide(self) -> float:
        """What a search lowers: the value, less a bonus for plans from which a
        plan of a lower value is easier to reach."""
        return self.value

    @abc.abstractmethod
    def of(self, c: int, pending: Mapping[int, int]) -> np.ndarray:
        """[host]: cost of one more member of the class. If members share the
        cost of a host, it is divided by the share of the pending members for
        which the host has room.

        :param pending: class to number of members without a host
        """

    @abc.abstractmethod
    def move(self, c: int, host: int, by: int) -> None:
        """Change the number of members of the class on the host.

        :param by: number of members to add; negative if they are removed
        """


def placement_costs(case: Case, objective: Objective,
                    members: Sequence[Member]) -> PlacementCosts | None:
    """Return the costs of a case before its members are placed; None if the
    objective does not describe its costs.

    :param members: all members of the group
    """
    host_cost, traffic = objective.host_cost(), objective.traffic()
    if host_cost is not None:
        return HostCosts(case, host_cost, members)
    return TrafficCosts(case, traffic) if traffic is not None else None


class HostCosts(PlacementCosts):
    """Costs that are a sum over the hosts in use.

    Most moves of single members do not change the number of hosts. Therefore,
    the squares of the loads of hosts guide the search: the members of a host
    with a low load move to hosts with a higher load, until no member is left
    on it (Falkenauer, A Hybrid Grouping Genetic Algorithm for Bin Packing,
    Journal of Heuristics 2, 1996).
    """

    def __init__(self, case: Case, host_cost: HostCost,
                 members: Sequence[Member]):
        names = requested_classes(members)
        amounts = [case.table.amounts(name) for name in names]
        shape = len(names), len(case.table)
        capacity = np.array([each.capacity for each in amounts],
                            dtype=float).reshape(shape)
        self._free = np.array([each.free for each in amounts],
                              dtype=float).reshape(shape)
        self._capacity = np.where(capacity > 0, capacity, np.inf)
        self._slopes = np.array(host_cost.slopes)
        count = max(1, len(names))
        self._share = np.where(
            capacity > 0, np.minimum(1.0, 1 - self._free / self._capacity),
            1.0).sum(axis=0) / count
        self._opening = np.array(np.broadcast_to(
            host_cost.opening(1 - self._share), shape[1]), dtype=float)
        self._opening[list(case.placed.values())] = 0.0
        self._asked = case.requested(names).astype(float)
        self._steps = self._asked @ (1 / self._capacity) / count
        self._on = np.zeros(shape[1], dtype=np.int64)
        # [class]: share of the largest host that one member takes.
        self._sizes = (self._asked / np.maximum(1.0, capacity.max(
            axis=1, initial=0.0))).sum(axis=1) / count
        # [host]: sum of these shares of its members, plus 1 if using the host
        # costs nothing.
        self._load = (self._opening == 0).astype(float)
        self._squares = 0.0
        self.counts_hosts = is_number_of_hosts(host_cost)
        self._weight = limits().load_weight if self.counts_hosts else 0.0

    @property
    def guide(self) -> float:
        return self.value - self._weight * self._squares

    def of(self, c: int, pending: Mapping[int, int]) -> np.ndarray:
        found = self._climb(c, slice(None))
        some = (self._on == 0) & (self._opening > 0)
        if some.any() and not len(self._slopes):
            demand = sum(number * self._asked[each]
                         for each, number in pending.items())
            room = np.ones(some.sum())
            for amount, free in zip(demand, self._free):
                if amount:
                    room = np.minimum(room, free[some] / amount)
            found[some] += self._opening[some] / np.maximum(room, 1e-6)
        elif some.any():
            found[some] += self._opening[some]
        return found

    def move(self, c: int, host: int, by: int) -> None:
        if by < 0:
            self._shift(c, host, by)
        added = abs(by) * self._climb(c, slice(host, host + 1))[0]
        if not self._on[host]:
            added += self._opening[host]
        self.value += added if by > 0 else -added
        if by > 0:
            self._shift(c, host, by)

    def _shift(self, c: int, host: int, by: int) -> None:
        self._on[host] += by
        self._free[:, host] -= by * self._asked[c]
        self._share[host] += by * self._steps[c, host]
        before = self._load[host]
        self._load[host] += by * self._sizes[c]
        self._squares += self._load[host] ** 2 - before ** 2

    def _climb(self, c: int, hosts: slice) -> np.ndarray:
        share = self._share[hosts]
        if not len(self._slopes):
            return np.zeros(len(share))
        return (curve(share + self._steps[c, hosts], self._slopes)
                - curve(share, self._slopes))


class TrafficCosts(PlacementCosts):
    """Costs of traffic: the sum over pairs of members of the Mbit/s between
    them, multiplied by the number of uplinks that this traffic uses."""

    def __init__(self, case: Case, traffic: Sequence[Traffic]):
        self._where = [case.table.division(level).of_host
                       for level in case.snapshot.levels]
        sides = [{m.path for m in side.members}
                 for each in traffic for side in (each.first, each.second)]
        domains = [len(case.table.division(level).domains)
                   for level in case.snapshot.levels]
        # The last number is for hosts in no domain.
        self._near = [[np.zeros(number + 1) for number in domains]
                      for _ in sides]
        self._total = np.zeros(len(sides))
        self._mbps = [each.mbps for each in traffic]
        self._sides = [[n for n, paths in enumerate(sides)
                        if each.members[0].path in paths]
                       for each in case.classes]
        self._hosts = len(case.table)
        for path, host in case.placed.items():
            self._count([n for n, paths in enumerate(sides) if path in paths],
                        host, 1)

    def of(self, c: int, pending: Mapping[int, int]) -> np.ndarray:
        return self._of(c, np.arange(self._hosts))

    def _of(self, c: int, hosts: np.ndarray) -> np.ndarray:
        found = np.zeros(len(hosts))
        for side in self._sides[c]:
            other, mbps = side ^ 1, self._mbps[side // 2]
            for near, where in zip(self._near[other], self._where):
                domain = where[hosts]
                found += 2 * mbps * (self._total[other] - np.where(
                    domain >= 0, near[domain], 0.0))
        return found

    def move(self, c: int, host: int, by: int) -> None:
        for _ in range(abs(by)):
            if by < 0:
                self._count(self._sides[c], host, -1)
            cost = float(self._of(c, np.array([host]))[0])
            self.value += cost if by > 0 else -cost
            if by > 0:
                self._count(self._sides[c], host, 1)

    def _count(self, sides: Sequence[int], host: int, by: int) -> None:
        for side in sides:
            self._total[side] += by
            for near, where in zip(self._near[side], self._where):
                near[where[host]] += by

# SPDX-License-Identifier: Apache-2.0
"""Hosts on which many members may get better places."""

from collections.abc import Sequence

import numpy as np

from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.objective import Objective
from nova_holistic.solver.evaluation.marginal_cost import MarginalCost
from nova_holistic.solver.limits.current import improve as limits
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.problem.eligibility import (
    demands, different_requirements, Eligibility)
from nova_holistic.solver.problem.hosts import HostTable


class PromisingHosts:
    """Chooses hosts by the cost of one more member.

    :param members: all members of the group
    """

    def __init__(self, table: HostTable, members: Sequence[Member],
                 objective: Objective):
        self._eligibility = Eligibility(table)
        self._members, self._host_cost = members, objective.host_cost()

    def choose(self, table: HostTable, freed: Sequence[Member], number: int,
               in_time: InTime) -> np.ndarray:
        """Sorted indexes of about this number of hosts: for each requirement,
        hosts with a low cost for their room, and the best hosts of each
        domain. If the members have many different requirements, only some of
        them are used.

        :param table: all hosts, with the capacity that other members leave
        :param freed: the members that may move
        """
        costs = self._host_cost and MarginalCost(
            table, self._members, self._host_cost, ())
        orders = []
        for requirements in some_requirements(freed):
            in_time()
            orders += self._orders(table, requirements, costs)
        found = np.zeros(len(table), dtype=bool)
        first, longest = 0, max(map(len, orders), default=0)
        while first < longest and found.sum() < number:
            last = first + max(1, number // (4 * len(orders)))
            for order in orders:
                found[order[first:last]] = True
            first = last
        return np.flatnonzero(found)

    def _orders(self, table: HostTable, requirements: Requirements,
                costs: MarginalCost | None) -> tuple[np.ndarray, np.ndarray]:
        """The hosts for one requirement, by cost and by domain."""
        amounts = tuple(demands(requirements))
        room = np.full(len(table), np.inf)
        for name, amount in amounts:
            room = np.minimum(room, table.amounts(name).free // amount)
        hosts = np.flatnonzero(self._eligibility.suitable(requirements)
                               & (room > 0))
        cost = (np.ones(len(table)) if costs is None
                else costs.of(amounts))[hosts]
        if self._host_cost is None or not self._host_cost.slopes:
            cost = cost / np.minimum(room[hosts], limits().shared_members)
        order = hosts[np.argsort(cost, kind='stable')]
        return order, table.alternated(order)


def some_requirements(members: Sequence[Member]) -> list[Requirements]:
    """Different requirements of the members, small and large ones; at most
    ``ordered_requirements`` (a limit)."""
    found = different_requirements(members)
    most = limits().ordered_requirements
    if len(found) <= most:
        return found
    found.sort(key=demands)
    return [found[number * len(found) // most] for number in range(most)]

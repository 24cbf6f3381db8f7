# SPDX-License-Identifier: Apache-2.0
"""A few hosts among which one small part of a group has its best places."""

from collections.abc import Sequence
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.members.member import Member
from nova_holistic.model.objective import HostCost
from nova_holistic.solver.evaluation.marginal_cost import (
    MarginalCost, Places)
from nova_holistic.solver.limits.current import improve as limits
from nova_holistic.solver.problem.eligibility import (
    Admission, admits_some, demands, Eligibility)
from nova_holistic.solver.problem.hard_forms import hard_form
from nova_holistic.solver.problem.hosts import HostTable, ranks
from nova_holistic.solver.problem.rows import ScopedPolicy


class PartHosts:
    """Chooses hosts by the cost of members and by the levels of policies.

    :ivar table: all hosts
    """

    def __init__(self, table: HostTable, members: Sequence[Member],
                 host_cost: HostCost):
        """:param members: all members of the group"""
        self.table = table
        # The utilisation depends on the resource classes alone.
        self._members = [*{m.requirements: m for m in members}.values()]
        self._host_cost = host_cost
        self._suitable = cache(Eligibility(table).suitable)
        self._admitted = Admission.of(table)

    def choose(self, table: HostTable, part: Sequence[Member],
               policies: Sequence[ScopedPolicy],
               open_hosts: np.ndarray) -> np.ndarray:
        """Sorted indexes of the hosts: for each requirement, the cheapest
        hosts of all, of the domains that are the cheapest for the whole part,
        and of different domains. Some of them also satisfy the preferences.

        :param table: all hosts, with the capacity that other members leave
        :param policies: the policies of the part
        :param open_hosts: mask of the hosts that the part may use
        """
        hard = [each for each in policies if each.policy.hard]
        found = self._cheapest(table, part, hard, open_hosts)
        if len(hard) < len(policies):
            found += self._cheapest(table, part, [
                each if each.policy.hard else replace(each, policy=hard_form(
                    each.policy, each.scope) or each.policy)
                for each in policies], open_hosts)
        return np.unique(np.concatenate(found))

    def _cheapest(self, table: HostTable, part: Sequence[Member],
                  policies: Sequence[ScopedPolicy],
                  open_hosts: np.ndarray) -> list[np.ndarray]:
        """Indexes of hosts that all of the policies admit."""
        costs = MarginalCost(table, self._members, self._host_cost, ())
        levels = {level for each in policies for level in each.policy.levels
                  if level != HOST}
        totals = {level: np.zeros(len(table.division(level).domains))
                  for level in levels}
        orders = []
        for requirements, number in Counter(
                m.requirements for m in part).items():
            amounts = tuple(demands(requirements))
            suits = open_hosts & self._suitable(requirements)
            for each in policies:
                if admits_some(each.policy) and any(
                        m.requirements == requirements
                        for m in each.scope.members):
                    suits &= self._admitted[each.policy]
            hosts = np.flatnonzero(suits & costs.fits(amounts))
            order = hosts[np.argsort(costs.of(amounts)[hosts], kind='stable')]
            orders.append((order, number))
            some = order[:limits().compared_hosts]
            for level, total in totals.items():
                total += costs.in_domains(amounts, number, Places.of(
                    some, costs.room(amounts, some), table.division(level)))
        found = [order[:limits().part_hosts * number]
                 for order, number in orders]
        for level, total in totals.items():
            best = np.argsort(total, kind='stable')[:limits().part_domains]
            for order, number in orders:
                found += _of_domains(order, table.division(
                    level).of_host[order], best, number)
        return found


def _of_domains(order: np.ndarray, domain: np.ndarray, best: np.ndarray,
                number: int) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays of host indexes: the cheapest hosts of each of the best
    domains, and the cheapest host of each of several domains.

    :param order: [n]: host indexes, the cheapest first
    :param domain: [n]: domain of each of these hosts
    :param best: the best domains
    :param number: number of hosts in each of the best domains; the number of
        other domains is proportional to it
    """
    rank = ranks(domain)
    return (order[np.isin(domain, best) & (rank < number)],
            order[rank == 0][:limits().part_hosts * number])

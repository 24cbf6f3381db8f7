# SPDX-License-Identifier: Apache-2.0
"""Few hosts that can hold many members together, for plans with few hosts.

If each host in use costs the same, the best plans use the hosts with the most
free capacity for the mixture of all members. Room for members of one size does
not tell them apart: hundreds of hosts have CPUs for eight members, but few of
them have memory for further members as well. A search among few such hosts
takes many more steps in the same time.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from nova_holistic.model.members.member import Member
from nova_holistic.solver.limits.current import (
    decomposition, improve as limits)
from nova_holistic.solver.problem.eligibility import (
    different_requirements, Eligibility, total_demand)
from nova_holistic.solver.problem.hosts import HostTable, ranks


def roomy_hosts(table: HostTable, members: Sequence[Member],
                eligibility: Eligibility,
                scale: float = 1.0) -> np.ndarray:
    """Sorted indexes of hosts, by several measures of room: the hosts with
    the most room, of the whole cloud and of each domain of a level with few
    domains; and the best hosts of some domains of the level above the hosts.
    The best hosts of these domains have the most room together.

    :param table: all hosts, with the capacity that other members leave
    :param eligibility: of a table of the same hosts
    :param scale: factor of the numbers of hosts and of domains
    """
    suits = np.zeros(len(table), dtype=bool)
    for each in different_requirements(members):
        suits |= eligibility.suitable(each)
    hosts = np.flatnonzero(suits)
    shares = np.array([
        np.clip(table.amounts(name).free[hosts] / total, 0.0, 1.0)
        for name, total in sorted(total_demand(members).items())])
    if not shares.size:
        return hosts[:0]
    # A plan needs at least this number of hosts, unless no plan exists.
    needed = 1 / max(shares.max(axis=1).min(), 1 / len(members))
    number = int(np.ceil(scale * limits().roomy_hosts * needed))
    domains = int(np.ceil(scale * limits().roomy_domains * needed))
    levels = table.snapshot.levels
    divisions = [table.division(level).of_host[hosts]
                 for level in levels[:-1]]
    chosen = [hosts[:0]]
    for value in _values(shares):
        order = np.argsort(-value, kind='stable')
        chosen.append(order[:number])
        for division in divisions:
            if len(np.unique(division)) <= decomposition().whole_domains:
                chosen.append(order[ranks(division[order]) < number])
        if divisions:
            chosen += _of_domains(order, value, divisions[-1], domains)
    return hosts[np.unique(np.concatenate(chosen))]


def _values(shares: np.ndarray) -> Iterator[np.ndarray]:
    """Several measures of the room of a host, each [host]: how much of each
    resource class has room together with the others, for different prices of
    the classes.

    :param shares: [resource class, host]: share of the demand of all members
    """
    least = shares.min(axis=0)
    yield least
    usable = np.minimum(shares, limits().uneven_room * least)
    yield usable.sum(axis=0)
    if len(shares) > 1:
        for one in usable:
            yield usable.sum(axis=0) + 2 * one


def _of_domains(order: np.ndarray, value: np.ndarray, division: np.ndarray,
                number: int) -> Iterator[np.ndarray]:
    """The best hosts of the domains whose best two, three or more hosts have
    the most room together.

    :param order: hosts by descending value
    :param number: number of domains
    """
    order = order[division[order] >= 0]
    rank = ranks(division[order])
    for size in range(2, limits().hosts_of_domain + 1):
        best = order[rank < size]
        total = np.bincount(division[best], value[best])
        first = np.argsort(-total, kind='stable')[:number]
        yield best[np.isin(division[best], first)]

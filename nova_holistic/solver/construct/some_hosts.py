# SPDX-License-Identifier: Apache-2.0
"""Selection of some hosts of a large cloud for greedy construction."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from nova_holistic.model.members.member import Member
from nova_holistic.solver.construct.promising_hosts import some_requirements
from nova_holistic.solver.limits.current import construct as limits
from nova_holistic.solver.problem.eligibility import (
    demands, Eligibility, total_demand)
from nova_holistic.solver.problem.hosts import by_group, HostTable


@dataclass(frozen=True, slots=True)
class HostSelection:
    """Members, and the hosts that they may use.

    :ivar eligibility: of a table of the same hosts
    :ivar open: mask of the hosts that may be chosen
    :ivar required: indexes of hosts that are chosen in any case
    :ivar used: indexes of hosts that other members use
    :ivar share: factor of the numbers of hosts
    :ivar most_on_a_host: maximum number of the members on one host
    :ivar missing: [host]: share of a member's traffic for which its uplink has
        no capacity; None if no policy limits traffic
    :ivar more_linked: whether hosts with free uplinks are chosen until they
        have capacity for several copies of the members
    """

    members: Sequence[Member]
    eligibility: Eligibility
    open: np.ndarray
    required: Collection[int] = ()
    used: Collection[int] = ()
    share: float = 1.0
    most_on_a_host: int | None = None
    missing: np.ndarray | None = None
    more_linked: bool = False

    def number(self, limit: int) -> int:
        """How many hosts to choose: the limit, multiplied by the share and
        rounded; at least 1."""
        return max(1, round(self.share * limit))

    def enough(self, room: np.ndarray) -> int:
        """How many of these hosts, in order, have capacity for several copies
        of the members.

        :param room: [host]: the share of the members that it can take
        """
        if self.most_on_a_host is not None:
            room = np.minimum(
                room, self.most_on_a_host / max(1, len(self.members)))
        return int(np.searchsorted(
            room.cumsum(), limits().fallback_copies)) + 1


def some_hosts(selection: HostSelection, table: HostTable) -> np.ndarray:
    """Sorted indexes of hosts: hosts with much free capacity from all
    locations, empty hosts, hosts that other members use, hosts of the domains
    with the most free capacity, and suitable hosts for each kind of members,
    also those with free uplinks.
    """
    room = free_shares(selection.members, table)
    order = np.argsort(-room, kind='stable')
    order = order[selection.open[order]]
    hosts, number = table.hosts, selection.number
    empty = [*islice((h for h in order.tolist() if not hosts[h].servers),
                     number(limits().further_hosts))]
    in_use = np.zeros(len(table), dtype=bool)
    in_use[list(selection.used)] = True
    roomy = table.alternated(order)
    chosen = [roomy[:max(number(limits().roomy_hosts),
                         selection.enough(room[roomy]))],
              np.array(empty, dtype=int),
              order[in_use[order] & (room[order] > 0)][
                  :number(limits().used_hosts)],
              _of_whole_domains(room, order, table)[
                  :number(limits().further_hosts)]]
    orders = [order]
    if selection.missing is not None:
        missing = selection.missing[order]
        linked = order[np.argsort(missing, kind='stable')]
        orders.append(linked)
        linked = linked[(selection.missing[linked] < 1) & (room[linked] > 0)]
        if selection.more_linked:
            chosen.append(linked[:selection.enough(room[linked])])
    for each in some_requirements(selection.members):
        suits = selection.eligibility.suitable(each) & table.fits(
            demands(each))
        chosen.extend(some[suits[some]][:number(limits().hosts_per_kind)]
                      for some in orders)
    return np.unique(np.concatenate(
        [*chosen, np.array([*selection.required], dtype=int)]
    )).astype(np.int64)


def _of_whole_domains(room: np.ndarray, order: np.ndarray,
                      table: HostTable) -> np.ndarray:
    """The hosts with room, domain by domain of the level above the hosts; the
    domain with the most free capacity comes first."""
    levels = table.snapshot.levels
    if len(levels) < 2:
        return order[:0]
    division = table.division(levels[-2])
    total = division.sums(np.minimum(room, 1.0))[:-1]
    rank = np.argsort(np.argsort(-total, kind='stable'), kind='stable')
    own = order[(division.of_host[order] >= 0) & (room[order] > 0)]
    return own[by_group(rank[division.of_host[own]])]


def free_shares(members: Iterable[Member], table: HostTable) -> np.ndarray:
    """[host]: the share of the members' requested resources that it can take,
    regardless of other requirements."""
    room = np.full(len(table), np.inf)
    for name, amount in total_demand(members).items():
        room = np.minimum(room, np.maximum(
            table.amounts(name).free, 0) / max(1, amount))
    return room

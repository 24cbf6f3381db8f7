# SPDX-License-Identifier: Apache-2.0
"""The members that greedy construction has placed, batch by batch."""

from collections.abc import Mapping, Sequence
from collections import Counter

import numpy as np

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.group import Group
from nova_holistic.model.link_demand import link_demand
from nova_holistic.model.members.member import Member
from nova_holistic.solver.construct.batches import Batch
from nova_holistic.solver.problem.eligibility import demands
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.member_usage import MemberUsage
from nova_holistic.solver.problem.rules import scoped_policies


class PlacedMembers:
    """Members on their hosts, and what they leave to other batches. At first,
    these are the members that stay.

    :ivar where: member path to host
    :ivar on: host index to the members of batches on it
    :ivar usage: what the members use that do not stay
    :ivar traffic: Mbit/s of these members on the uplink of each domain
    """

    def __init__(self, incumbent: Incumbent, table: HostTable):
        self._incumbent, self._table = incumbent, table
        self.where: dict[str, Host] = {
            path: table.hosts[table.index[name]]
            for path, name in incumbent.placed.items()}
        self.on: dict[int, list[Member]] = {}
        self.usage = MemberUsage(table, incumbent.members)
        self.traffic: Counter[Domain] = Counter()
        # Hosts in domains that a policy closes to further members.
        self._closed = np.zeros(len(table), dtype=bool)

    def open_to(self, batch: Batch) -> np.ndarray:
        """[host]: whether members of the batch may use it."""
        found = self._table.enabled & ~self._closed
        earlier = self._table.indexes(self.where.values())
        for level in batch.closes:
            of_host = self._table.division(level).of_host
            found &= ~np.isin(of_host, of_host[earlier])
        return found

    def leaves_capacity(self, members: Sequence[Member],
                        hosts: Sequence[int]) -> bool:
        """Whether these hosts have capacity for these members as well.

        :param hosts: [member]: index of the host
        """
        needed: Counter[tuple[str, int]] = Counter()
        for member, host in zip(members, hosts, strict=True):
            for name, amount in demands(member.requirements):
                needed[name, host] += amount
        return all(
            amount <= self._table.amounts(name).free[host]
            - self.usage.taken[name][host]
            for (name, host), amount in needed.items())

    def has_uplinks(self, group: Group,
                    placement: Mapping[str, Host]) -> bool:
        """Whether the uplinks have capacity for this traffic as well."""
        snapshot = self._incumbent.snapshot
        return all(
            mbps + self.traffic[domain] <= link.uplink_mbps - link.used_mbps
            for domain, mbps in link_demand(
                group, placement, snapshot).items()
            if (link := snapshot.uplinks(domain.level).get(domain)))

    def value(self, batch: Batch, placement: Mapping[str, Host]) -> float:
        """The increase of the objective by the members of the batch."""
        beside = [m for host in {host.name for host in placement.values()}
                  for m in self.on.get(self._table.index[host], ())]
        return self._incumbent.increase(batch.members, beside,
                                        {**self.where, **placement})

    def add(self, batch: Batch, group: Group,
            placement: Mapping[str, Host]) -> None:
        """Add the members of a batch.

        :param group: the group of the batch, whose policies may be different
        """
        known, table = self._incumbent, self._table
        self.where.update(placement)
        for member in batch.members:
            self.on.setdefault(table.index[placement[member.path].name],
                               []).append(member)
        self.usage.add({path: host for path, host in placement.items()
                        if path not in known.placed})
        self.traffic.update(link_demand(
            batch.within(known.group), placement, known.snapshot))
        for each in scoped_policies(group):
            for domain in each.policy.reserves(
                    each.scope, placement, known.snapshot):
                self._closed[table.hosts_of(domain.level, domain)] = True

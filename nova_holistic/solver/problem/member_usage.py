# SPDX-License-Identifier: Apache-2.0
"""Hosts with the use of the members that are placed on them."""

from collections.abc import Mapping, Sequence
from collections import Counter
from dataclasses import replace

import numpy as np

from nova_holistic.model.cloud.inventory import with_use_changed
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.members.member import Member
from nova_holistic.objectives.utilisation import requested_classes
from nova_holistic.solver.problem.eligibility import demands
from nova_holistic.solver.problem.hosts import HostTable


class MemberUsage:
    """What placed members use.

    :ivar taken: resource class to [host]: amount
    :ivar servers: host index to their number
    """

    def __init__(self, table: HostTable, members: Sequence[Member]):
        """:param members: all members of the group"""
        self._table = table
        self._demands = {m.path: demands(m.requirements) for m in members}
        self.taken = {name: np.zeros(len(table), dtype=np.int64)
                      for name in requested_classes(members)}
        self.servers: Counter[int] = Counter()

    def add(self, where: Mapping[str, Host], by: int = 1) -> None:
        """Add members on their hosts; remove them if ``by`` is -1."""
        for path, at in where.items():
            host = self._table.index[at.name]
            self.servers[host] += by
            for name, amount in self._demands[path]:
                self.taken[name][host] += by * amount

    def host(self, number: int) -> Host:
        """The host with the use of these members."""
        host = self._table.hosts[number]
        if not self.servers[number]:
            return host
        return replace(
            host, servers=host.servers + self.servers[number],
            inventories=with_use_changed(host.inventories, {
                name: int(amounts[number])
                for name, amounts in self.taken.items()}))

# SPDX-License-Identifier: Apache-2.0
"""The choice of a few hosts for each batch of members."""

import numpy as np

from nova_holistic.model.group import Group
from nova_holistic.model.link_demand import limits_links, with_demand
from nova_holistic.solver.construct.batches import Batch
from nova_holistic.solver.construct.placed_members import PlacedMembers
from nova_holistic.solver.construct.promising_hosts import PromisingHosts
from nova_holistic.solver.construct.roomy_hosts import roomy_hosts
from nova_holistic.solver.construct.some_hosts import HostSelection, some_hosts
from nova_holistic.solver.construct.uplinks import missing_uplinks
from nova_holistic.solver.limits.current import construct as limits
from nova_holistic.solver.problem.deadline import Deadline, InTime
from nova_holistic.solver.problem.eligibility import Eligibility
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent


class BatchHosts:
    """Chooses hosts with the capacity that placed members leave.

    :ivar more_linked: whether to choose more hosts with free uplinks
    """

    def __init__(self, incumbent: Incumbent, table: HostTable,
                 deadline: Deadline, in_time: InTime,
                 preferred: np.ndarray | None = None):
        """
        :param deadline: after it, fewer hosts are compared
        :param preferred: [host]: whether all batches first use it, except
            those that close their hosts to others
        """
        self._incumbent, self._table = incumbent, table
        self._deadline, self._in_time = deadline, in_time
        self._eligibility = Eligibility(table)
        self._promising = incumbent.objective.host_cost() and PromisingHosts(
            table, incumbent.members, incumbent.objective)
        self._masks = [np.ones(len(table), dtype=bool)]
        if incumbent.counts_hosts and not incumbent.placed:
            # All batches share few hosts.
            self._masks.insert(0, np.isin(np.arange(len(table)), roomy_hosts(
                table, incumbent.members, self._eligibility)))
        self._preferred = preferred
        self.more_linked = False

    def masks(self, batch: Batch) -> list[np.ndarray]:
        """[host]: whether the batch may use the host, for each attempt in
        turn."""
        preferred = self._preferred
        if preferred is None:
            return self._masks
        if batch.closes:
            return [*(each & ~preferred for each in self._masks),
                    self._masks[-1]]
        return [preferred, *(each | preferred for each in self._masks)]

    def table(self, group: Group, placed: PlacedMembers) -> HostTable:
        """All hosts, with the capacity that the placed members leave.

        :param group: the group of the batch
        """
        snapshot = self._incumbent.snapshot
        if placed.traffic and limits_links(group):
            snapshot = with_demand(snapshot, placed.traffic)
        table = self._table.under(snapshot)
        table.occupy(placed.usage.taken)
        return table

    def choose(self, batch: Batch, table: HostTable, placed: PlacedMembers,
               mask: np.ndarray, share: float) -> np.ndarray:
        """Sorted indexes of the hosts for a batch.

        :param table: the result of ``table``
        :param mask: [host]: whether the batch may use the host
        :param share: factor of the numbers of hosts
        """
        stay = self._incumbent.placed
        selection = HostSelection(
            [m for m in batch.members if m.path not in stay],
            self._eligibility, placed.open_to(batch) & mask,
            [table.index[stay[m.path]] for m in batch.members
             if m.path in stay],
            placed.on, share, missing=self._missing(batch, table),
            more_linked=self.more_linked)
        return np.union1d(some_hosts(selection, table),
                          self._cheap(selection, table, len(placed.where)))

    def _cheap(self, selection: HostSelection, table: HostTable,
               done: int) -> np.ndarray:
        """Indexes of hosts on which the members cost little; none if the
        construction is late, because the choice takes time.

        :param done: number of placed members
        """
        done += len(selection.members)
        late = self._deadline.elapsed() * len(self._incumbent.members) > (
            self._deadline.limit * done)
        if self._promising is None or late:
            return np.zeros(0, dtype=np.int64)
        found = self._promising.choose(
            table, selection.members, selection.number(limits().cheap_hosts),
            self._in_time)
        return found[selection.open[found]]

    def _missing(self, batch: Batch, table: HostTable) -> np.ndarray | None:
        """[host]: the share of a member's traffic for which its uplink has no
        capacity; None if no relationship limits it."""
        found = missing_uplinks(table, batch.policies(self._incumbent))
        return found if found.any() else None

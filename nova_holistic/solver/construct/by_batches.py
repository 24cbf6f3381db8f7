# SPDX-License-Identifier: Apache-2.0
"""Greedy construction of a plan for a group of many independent parts, one
batch of members after another.

Each batch uses only a few hosts, so that the effort grows with the number of
members and not with its square.
"""

from collections.abc import Mapping, Sequence
from collections import Counter

import numpy as np

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import Member
from nova_holistic.solver.construct.attempt import Ordering, ORDERINGS
from nova_holistic.solver.construct.batches import Batch
from nova_holistic.solver.construct.greedy import Restarts
from nova_holistic.solver.construct.some_hosts import HostSelection, some_hosts
from nova_holistic.solver.construct.uplinks import missing_uplinks
from nova_holistic.solver.limits.current import construct as limits, phases
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.eligibility import demands, Eligibility
from nova_holistic.solver.problem.hard_forms import with_hard_forms
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent, PlanCost
from nova_holistic.solver.problem.rows import ScopedPolicy
from nova_holistic.solver.problem.rules import scoped_policies
from nova_holistic.solver.problem.subproblem import Subproblem


class BatchConstruction:
    """Places batches of members.

    :ivar where: member path to host, of the members placed so far and of those
        that stay
    """

    def __init__(self, incumbent: Incumbent, table: HostTable,
                 deadline: Deadline):
        self._incumbent, self._table = incumbent, table
        self._deadline = deadline
        self._eligibility = Eligibility(table)
        self._successes: Counter[Ordering] = Counter()
        # Seconds left for attempts that may violate no preference and fail.
        self._spare = phases().attempt_share * deadline.left()
        self._clear()

    def place(self, batches: Sequence[Batch]) -> bool:
        """Place all batches; return whether this was possible. If no hosts are
        found for a batch, all batches are placed again, and the failed batch
        is the first.

        :raises OutOfTime: if the time ends before all batches are placed
        """
        order = [*batches]
        for _ in range(limits().orders):
            failed = next((each for each in order if not (
                self._place_preferred(each) or any(
                    self._place(each, each.within(self._incumbent.group),
                                share)
                    for share in (limits().batch_share, 1.0)))), None)
            if failed is None:
                return True
            order.remove(failed)
            order.insert(0, failed)
            self._clear()
        return False

    def _clear(self) -> None:
        """Remove all members except those that stay."""
        table = self._table
        self.where: dict[str, Host] = {
            path: table.hosts[table.index[name]]
            for path, name in self._incumbent.placed.items()}
        # [host]: amounts of the members placed so far, by resource class.
        self._taken: dict[str, np.ndarray] = {}
        self._on: dict[int, list[Member]] = {}
        # Hosts in domains that a policy closes to further members.
        self._closed = np.zeros(len(table), dtype=bool)

    def _place_preferred(self, batch: Batch) -> bool:
        """Place one batch without violated preferences, if it has any; return
        whether a plan was found. Greedy construction satisfies far more
        preferences if they restrict its hosts than if they are costs."""
        before = self._deadline.left()
        group = batch.within(self._incumbent.group)
        if self._spare <= 0 or all(
                each.policy.hard for each in scoped_policies(group)):
            return False
        found = self._place(batch, with_hard_forms(group),
                            limits().batch_share)
        if not found:
            self._spare -= before - self._deadline.left()
        return found

    def _place(self, batch: Batch, group: Group, share: float) -> bool:
        """Place one batch according to the best of several plans; return
        whether a plan was found.

        :param group: the group of the batch, whose policies may be different
        :param share: factor of the numbers of hosts
        """
        known = self._incumbent
        table = self._table.part(None)
        table.occupy(self._taken)
        paths = {member.path for member in batch.members}
        placed = {path: name for path, name in known.placed.items()
                  if path in paths}
        hosts = some_hosts(HostSelection(
            [m for m in batch.members if m.path not in placed],
            self._eligibility, self._open(batch),
            [table.index[name] for name in placed.values()],
            self._on, share, missing=self._missing(paths)), table)
        table = table.part(hosts)
        case = Case.of(group, known.snapshot, placed,
                       self._deadline.check,
                       Subproblem(table, constructs=True))
        best: tuple[PlanCost, Mapping[str, Host], Ordering] | None = None
        used = np.flatnonzero(np.isin(hosts, [*self._on]))
        for ordering, counts in Restarts(case, self._deadline, used).plans(
                sorted(ORDERINGS, key=lambda each: -self._successes[each]),
                limits().further_restarts):
            placement = case.placement(counts)
            plan_cost = (case.preference_cost(placement),
                         self._value(batch, placement))
            if best is None or plan_cost < best[0]:
                best = plan_cost, placement, ordering
            if self._deadline.left() < (limits().further_plan_share
                                        * self._deadline.limit):
                # The ordering that was best for most batches is first.
                break
        if best is None:
            return False
        self._successes[best[2]] += 1
        self._keep(batch, best[1], case.policies)
        return True

    def _missing(self, paths: set[str]) -> np.ndarray | None:
        """[host]: the share of the traffic of one of these members for which
        its uplink has no capacity; None if no relationship limits it."""
        found = missing_uplinks(self._table, (
            each for each in self._incumbent.policies
            if each.scope.members and each.scope.members[0].path in paths))
        return found if found.any() else None

    def _open(self, batch: Batch) -> np.ndarray:
        """[host]: whether members of the batch may use it."""
        found = self._table.enabled & ~self._closed
        earlier = [self._table.index[host.name]
                   for host in self.where.values()]
        for level in batch.closes:
            of_host = self._table.division(level).of_host
            found &= ~np.isin(of_host, of_host[earlier])
        return found

    def _value(self, batch: Batch, placement: Mapping[str, Host]) -> float:
        """The objective of the members on the hosts of the batch."""
        known, index = self._incumbent, self._table.index
        beside = [m for host in {host.name for host in placement.values()}
                  for m in self._on.get(index[host], ())]
        return known.objective.value(
            [*batch.members, *beside],
            {**{m.path: self.where[m.path] for m in beside}, **placement},
            known.placed, known.snapshot)

    def _keep(self, batch: Batch, placement: Mapping[str, Host],
              policies: Sequence[ScopedPolicy]) -> None:
        known, table = self._incumbent, self._table
        self.where.update(placement)
        for member in batch.members:
            host = table.index[placement[member.path].name]
            self._on.setdefault(host, []).append(member)
            if member.path in known.placed:
                continue
            for name, amount in demands(member.requirements):
                self._taken.setdefault(name, np.zeros(
                    len(table), dtype=np.int64))[host] += amount
        for each in policies:
            for domain in each.policy.reserves(
                    each.scope, placement, known.snapshot):
                self._closed[table.hosts_of(domain.level, domain)] = True

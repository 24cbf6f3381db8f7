# SPDX-License-Identifier: Apache-2.0
"""Greedy construction of a plan for a group of many independent parts, one
batch of members after another.

Each batch uses only a few hosts, so that the effort grows with the number of
members and not with its square.
"""

from collections.abc import Collection, Mapping, Sequence
from collections import Counter

import numpy as np

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.group import Group
from nova_holistic.model.link_demand import (
    limits_links, link_demand, with_demand)
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
        # Members that were placed without violated preferences.
        self._satisfied: set[str] = set()
        # Whether no hosts were found for the members in an earlier attempt.
        # Then, all of few free uplinks may be necessary.
        self._again = False
        # Path of a member of the class that most often found no host in the
        # last attempts.
        self._without_host: str | None = None
        self._clear()

    def place(self, batches: Sequence[Batch]) -> bool:
        """Place all batches; return whether this was possible. If no hosts are
        found for a part of a batch, this part is placed first, and only
        members whose hosts it needs are placed again.

        :raises OutOfTime: if the time ends before all batches are placed
        """
        first: list[Batch] = []
        before: dict[str, Host] = {}
        for _ in range(limits().first_parts):
            failed = self._failed_of(first, batches, before)
            if failed is None:
                return True
            if first and failed is first[0]:
                # It finds no hosts although it is placed before all others.
                break
            first = [failed, *(each for each in first if each is not failed)]
            before.update(self.where)
            self._clear()
        return False

    def _failed_of(self, first: Sequence[Batch], batches: Sequence[Batch],
                   before: Mapping[str, Host]) -> Batch | None:
        """Place all batches; return a part for which no hosts are found, or
        None.

        :param first: parts that are placed before all others
        :param before: earlier hosts of some members
        """
        for each in first:
            if not self._place_again(each, before) and self._failed_part(each):
                return each
        done = {m.path for each in first for m in each.members}
        return next(filter(None, map(self._failed_part, (
            self._not_placed_again(batches, before, done) if first
            else batches))), None)

    def _not_placed_again(self, batches: Sequence[Batch],
                          before: Mapping[str, Host],
                          done: Collection[str]) -> list[Batch]:
        """Place all parts again whose hosts are still possible; return batches
        of the others.

        :param done: paths of members that are placed
        """
        found = []
        for batch in batches:
            others = [part for part in batch.parts or (batch,) if not (
                part.members[0].path in done
                or self._place_again(part, before))]
            if others:
                found.append(Batch.of(others))
        return found

    def _place_again(self, part: Batch, before: Mapping[str, Host]) -> bool:
        """Place the members on the same hosts as before; return whether this
        is possible."""
        placement = {m.path: before[m.path] for m in part.members
                     if m.path in before}
        if len(placement) < len(part.members):
            return False
        known, table = self._incumbent, self._table
        waiting = [m for m in part.members if m.path not in known.placed]
        hosts = [table.index[placement[m.path].name] for m in waiting]
        if not self._open(part)[hosts].all():
            return False
        needed: Counter[tuple[str, int]] = Counter()
        for member, host in zip(waiting, hosts, strict=True):
            for name, amount in demands(member.requirements):
                needed[name, host] += amount
        if any(amount > table.amounts(name).free[host] - (
                self._taken[name][host] if name in self._taken else 0)
               for (name, host), amount in needed.items()):
            return False
        group = part.within(known.group)
        if not self._has_uplinks(group, placement):
            return False
        if part.members[0].path in self._satisfied:
            group = with_hard_forms(group)
        self._keep(part, group, placement)
        return True

    def _has_uplinks(self, group: Group,
                     placement: Mapping[str, Host]) -> bool:
        """Whether the uplinks have capacity for this traffic as well."""
        snapshot = self._incumbent.snapshot
        return all(
            mbps + self._traffic[domain] <= link.uplink_mbps - link.used_mbps
            for domain, mbps in link_demand(
                group, placement, snapshot).items()
            if (link := snapshot.uplinks(domain.level).get(domain)))

    def _failed_part(self, batch: Batch,
                     again: bool = False) -> Batch | None:
        """Place one batch; return a part of it for which no hosts are found,
        or None. If no hosts are found for one of several parts, this part is
        placed before the others, on hosts that are chosen for it alone."""
        self._again = again
        paths = {member.path for member in batch.members}
        if self._place_preferred(batch):
            self._satisfied |= paths
            return None
        self._satisfied -= paths
        group = batch.within(self._incumbent.group)
        if self._place(batch, group, limits().batch_share):
            return None
        if not batch.parts or self._without_host is None:
            return None if self._place(batch, group, 1.0) else batch
        part = batch.part_of(self._without_host)
        return self._failed_part(part, True) or self._failed_part(
            batch.without(part), True)

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
        # Mbit/s of the members placed so far, on the uplink of each domain.
        self._traffic: Counter[Domain] = Counter()

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
        snapshot = known.snapshot
        if self._traffic and limits_links(group):
            snapshot = with_demand(snapshot, self._traffic)
        table = self._table.under(snapshot)
        table.occupy(self._taken)
        paths = {member.path for member in batch.members}
        placed = {path: name for path, name in known.placed.items()
                  if path in paths}
        hosts = some_hosts(HostSelection(
            [m for m in batch.members if m.path not in placed],
            self._eligibility, self._open(batch),
            [table.index[name] for name in placed.values()],
            self._on, share, missing=self._missing(paths, table),
            more_linked=self._again), table)
        table = table.part(hosts)
        case = Case.of(group, snapshot, placed,
                       self._deadline.check,
                       Subproblem(table, constructs=True))
        best: tuple[PlanCost, Mapping[str, Host], Ordering] | None = None
        used = np.flatnonzero(np.isin(hosts, [*self._on]))
        restarts = Restarts(case, self._deadline, used)
        for ordering, counts in restarts.plans(
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
            self._without_host = next((
                case.classes[c].members[0].path
                for c, _ in restarts.failures.most_common(1)), None)
            return False
        self._successes[best[2]] += 1
        self._keep(batch, group, best[1])
        return True

    def _missing(self, paths: set[str],
                 table: HostTable) -> np.ndarray | None:
        """[host]: the share of the traffic of one of these members for which
        its uplink has no capacity; None if no relationship limits it."""
        found = missing_uplinks(table, (
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

    def _keep(self, batch: Batch, group: Group,
              placement: Mapping[str, Host]) -> None:
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
        self._traffic.update(link_demand(
            batch.within(known.group), placement, known.snapshot))
        for each in scoped_policies(group):
            for domain in each.policy.reserves(
                    each.scope, placement, known.snapshot):
                self._closed[table.hosts_of(domain.level, domain)] = True

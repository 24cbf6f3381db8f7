# SPDX-License-Identifier: Apache-2.0
"""Greedy construction of a plan for a group of many independent parts, one
batch of members after another.

Each batch uses only a few hosts, so that the effort grows with the number of
members and not with its square.
"""

from collections.abc import Collection, Mapping, Sequence
from collections import Counter
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.group import Group
from nova_holistic.solver.construct.attempt import Ordering, ORDERINGS
from nova_holistic.solver.construct.batch_hosts import BatchHosts
from nova_holistic.solver.construct.batches import (
    Batch, next_order, order_of)
from nova_holistic.solver.construct.cheapest_host import CheapestHost
from nova_holistic.solver.construct.greedy import Restarts
from nova_holistic.solver.construct.placed_members import PlacedMembers
from nova_holistic.solver.construct.places_first import PlacesFirst
from nova_holistic.solver.limits.current import construct as limits, phases
from nova_holistic.solver.numerics.kind_places import KindPlaces
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.hard_forms import with_hard_forms
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent, PlanCost
from nova_holistic.solver.problem.rules import scoped_policies
from nova_holistic.solver.problem.subproblem import Subproblem


@dataclass(frozen=True, slots=True)
class _BatchPlan:
    """A plan of one batch.

    :ivar cost: cost of its preferences, and the increase of the objective
    :ivar placement: member path to host
    :ivar ordering: ordering of the hosts that led to it
    """

    cost: PlanCost
    placement: Mapping[str, Host]
    ordering: Ordering


class BatchConstruction:
    """Places batches of members."""

    def __init__(self, incumbent: Incumbent, table: HostTable,
                 deadline: Deadline, last: Deadline,
                 places: KindPlaces | None = None):
        """
        :param deadline: after this deadline, each batch takes less effort
        :param last: a later deadline, at which the construction fails
        :param places: places for members that are used first
        """
        self._incumbent, self._table = incumbent, table
        self._deadline, self._last = deadline, last
        self._places = places
        self._hosts = BatchHosts(incumbent, table, deadline, last.check,
                                 places and places.hosts)
        self._successes: Counter[Ordering] = Counter()
        host_cost = incumbent.objective.host_cost()
        self._orderings: Sequence[Ordering] = ORDERINGS if (
            host_cost is None) else (CheapestHost(host_cost), *ORDERINGS)
        # Seconds left for failed attempts that may violate no preference.
        self._spare = phases().attempt_share * deadline.left()
        # Members that were placed without violated preferences.
        self._satisfied: set[str] = set()
        # Path of a member that most often found no host.
        self._without_host: str | None = None
        self._placed = PlacedMembers(incumbent, table)

    @property
    def where(self) -> Mapping[str, Host]:
        """Path to host of the placed members, and of those that stay."""
        return self._placed.where

    def place(self, batches: Sequence[Batch]) -> bool:
        """Place all batches; return whether this was possible. If no hosts are
        found for a part, it is placed first, and only members whose hosts it
        needs are placed again. Two such parts that need the same hosts are
        placed together.

        :raises OutOfTime: if the time ends before all batches are placed
        """
        first: list[Batch] = []
        before: dict[str, Host] = {}
        most = 0
        tried = set[Sequence[str]]()
        for _ in range(limits().first_parts):
            failed = self._failed_of(first, batches, before)
            if failed is None:
                return True
            at = next((number for number, each in enumerate(first)
                       if failed in (each, *each.parts)), None)
            late = not self._deadline.left()
            if at == 0 or late and len(self.where) <= most:
                # Placing it before others does not help.
                break
            most = max(most, len(self.where))
            tried.add(order_of(first))
            first = next_order(first, failed, at, tried)
            before.update(self.where)
            self._placed = PlacedMembers(self._incumbent, self._table)
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
        """Place a part on its hosts from before; return whether it fits."""
        placement = {m.path: before[m.path] for m in part.members
                     if m.path in before}
        if len(placement) < len(part.members):
            return False
        known, table = self._incumbent, self._table
        waiting = [m for m in part.members if m.path not in known.placed]
        hosts = table.indexes(placement[m.path] for m in waiting).tolist()
        if not self._placed.open_to(part)[hosts].all():
            return False
        if not self._placed.leaves_capacity(waiting, hosts):
            return False
        group = part.within(known.group)
        if not self._placed.has_uplinks(group, placement):
            return False
        if part.members[0].path in self._satisfied:
            group = with_hard_forms(group)
        self._placed.add(part, group, placement)
        return True

    def _failed_part(self, batch: Batch,
                     again: bool = False) -> Batch | None:
        """Place one batch; return a part of it for which no hosts are found,
        or None. If no hosts are found for one of several parts, this part is
        placed before the others, on hosts that are chosen for it alone."""
        self._hosts.more_linked = again
        paths = batch.paths
        group = batch.within(self._incumbent.group)
        prefers = not all(each.policy.hard for each in scoped_policies(group))
        if prefers and self._place_preferred(batch, group):
            self._satisfied |= paths
            return None
        self._satisfied -= paths
        if prefers and batch.parts and self._spare > 0:
            # Most parts can be placed without violated preferences.
            return next(filter(None, map(
                self._failed_part, batch.parts)), None)
        if self._place(batch, group, limits().batch_share):
            return None
        if not batch.parts or self._without_host is None:
            return None if self._place(batch, group, 1.0) else batch
        part = batch.part_of(self._without_host)
        return self._failed_part(part, True) or self._failed_part(
            batch.without(part), True)

    def _place_preferred(self, batch: Batch, group: Group) -> bool:
        """Place one batch without violated preferences; return whether a plan
        was found. Greedy construction satisfies far more preferences if they
        restrict its hosts than if they are costs.

        :param group: the group of the batch
        """
        before = self._deadline.left()
        if self._spare <= 0 or not before:
            return False
        found = self._place(batch, with_hard_forms(group),
                            limits().batch_share)
        if not found:
            self._spare -= before - self._deadline.left()
        return found

    def _place(self, batch: Batch, group: Group, share: float) -> bool:
        """Place one batch by the best of several plans; return whether one is
        found. After a plan without violations, no other hosts are tried.

        :param group: the group of the batch, whose policies may be different
        :param share: factor of the numbers of hosts
        """
        best: _BatchPlan | None = None
        for mask in self._hosts.masks(batch):
            found = self._best(batch, group, share, mask)
            if found and (best is None or found.cost < best.cost):
                best = found
            if best and not best.cost[0]:
                break
        if best is None:
            return False
        self._successes[best.ordering] += 1
        self._placed.add(batch, group, best.placement)
        return True

    def _best(self, batch: Batch, group: Group, share: float,
              mask: np.ndarray) -> '_BatchPlan | None':
        """The best of several plans of one batch; None if no plan is found.

        :param mask: [host]: whether the batch may use the host
        """
        table = self._hosts.table(group, self._placed)
        hosts = self._hosts.choose(batch, table, self._placed, mask, share)
        paths = batch.paths
        placed = {path: name for path, name in self._incumbent.placed.items()
                  if path in paths}
        case = Case.of(group, table.snapshot, placed, self._last.check,
                       Subproblem(table.part(hosts), constructs=True))
        best: _BatchPlan | None = None
        used = np.flatnonzero(np.isin(hosts, [*self._placed.on]))
        restarts = Restarts(case, self._last, used)
        orderings = self._orderings_of(case, hosts)
        for ordering, counts in restarts.plans(
                orderings, limits().further_restarts):
            placement = case.placement(counts)
            plan_cost = (case.preference_cost(placement),
                         self._placed.value(batch, placement))
            if best is None or plan_cost < best.cost:
                best = _BatchPlan(plan_cost, placement, orderings[ordering])
            if self._deadline.left() < (limits().further_plan_share
                                        * self._deadline.limit):
                # The ordering that was best for most batches is first.
                break
        if best is None:
            self._without_host = next((
                case.classes[c].members[0].path
                for c, _ in restarts.failures.most_common(1)), None)
        return best

    def _orderings_of(self, case: Case,
                      hosts: np.ndarray) -> Mapping[Ordering, Ordering]:
        """The orderings of the hosts of a case, the most successful first,
        each with the ordering on which it is based.

        :param hosts: [host of the case]: index in the snapshot
        """
        bases = sorted(self._orderings,
                       key=lambda each: -self._successes[each])
        if self._places is None:
            return {each: each for each in bases}
        first = PlacesFirst.of(bases[0], self._places, case, hosts,
                               self._placed.where)
        return {first.with_base(each): each for each in bases}

# SPDX-License-Identifier: Apache-2.0
"""Plans with few hosts for groups of many independent parts.

A relaxation without most policies packs the members of each kind on as few
hosts as possible. Small programs then assign the members of a few parts after
another to these places, under all policies. Greedy construction places the
parts for which these places are not sufficient.
"""

from collections.abc import Iterator, Sequence
from collections import Counter
import contextlib
from dataclasses import dataclass
import random

import numpy as np

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.group import Group
from nova_holistic.solver.column_generation.generation import ColumnGeneration
from nova_holistic.solver.column_generation.pattern_placement import (
    place_patterns)
from nova_holistic.solver.construct.batches import Batch, batches
from nova_holistic.solver.construct.components import components
from nova_holistic.solver.construct.missing_parts import MissingParts
from nova_holistic.solver.decomposition.aggregation import HostAggregation
from nova_holistic.solver.decomposition.assignment import assigned_counts
from nova_holistic.solver.decomposition.cells import Cells
from nova_holistic.solver.decomposition.host_assignment import (
    assign_to_hosts, from_patterns, HostAssignment)
from nova_holistic.solver.limits.current import phases as limits
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.eligibility import Eligibility
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.subproblem import Subproblem
from nova_holistic.solver.ruin_recreate.part_search import ruin_and_recreate
from nova_holistic.solver.ruin_recreate.roomy_hosts import roomy_hosts
from nova_holistic.solver.settings import DEFAULT


@dataclass(frozen=True, slots=True, eq=False)
class Packing:
    """A solved relaxation without most policies.

    :ivar group: the group of the relaxation, with all policies
    :ivar kinds: its members, without those that close their hosts to others
    :ivar generation: patterns of whole members; None without patterns
    """

    group: Group
    kinds: Kinds
    rules: Cells
    aggregation: HostAggregation
    generation: ColumnGeneration | None = None

    def assignment(self, gap: float,
                   deadline: Deadline) -> HostAssignment | None:
        """Places for the members of each kind on as few hosts as possible;
        None if none are found.

        :param gap: acceptable relative gap
        """
        if self.generation is None:
            for spare in limits().spare_hosts:
                found = assign_to_hosts(self.aggregation, spare, gap, deadline)
                if found.taken is not None:
                    return found
            return None
        self.generation.deadline = deadline
        places = place_patterns(self.kinds, self.rules, self.generation, gap,
                                True, float('inf'))
        return places and from_patterns(self.aggregation, *places, False)


def pack_parts(known: Incumbent, packing: Packing,
               deadline: Deadline) -> None:
    """Improve an incumbent that has a plan, whose objective is the number of
    hosts, and of which no member stays on its host.

    :raises OutOfTime: if the time ends before a plan is complete
    """
    parts = batches(known, 1)
    if known.is_good_enough or len(parts) < 2 or (
            len(known.members) > limits().packed_group):
        return
    assignment = packing.assignment(
        known.gap, deadline.part(limits().bound_share))
    if assignment is None:
        return
    where = _PackedParts(known, packing, assignment, deadline.part(
        limits().main_share)).place(parts)
    if where is None or known.offer(where):
        return
    # The plan has fewer hosts, but it may violate more preferences.
    other = Incumbent(known.group, known.snapshot, known.placed,
                      known.objective, known.gap)
    if other.offer(where):
        with contextlib.suppress(OutOfTime):
            ruin_and_recreate(other, deadline.part(limits().main_share),
                              DEFAULT.improvement.seed)
        known.offer(other.where)


class _PackedParts:
    """The assignment of the members of each part to places of their kinds."""

    def __init__(self, known: Incumbent, packing: Packing,
                 assignment: HostAssignment, deadline: Deadline):
        self._known, self._deadline = known, deadline
        self._group = packing.group
        self._kind_of = {m.path: kind for kind, each in enumerate(
            packing.kinds.kinds) for m in each.members}
        # [kind]: host to number of places that are left.
        self._left = [dict(each) for each in assignment.taken]
        self._table = HostTable.of(known.snapshot)
        self._hosts = np.union1d(assignment.hosts, roomy_hosts(
            self._table, known.members, Eligibility(self._table)))
        self._packed = {h for each in self._left for h in each}

    def place(self, parts: Sequence[Batch]) -> dict[str, Host] | None:
        """Member path to host; None if no hosts are found for some part.

        :raises OutOfTime: if the time ends before all parts are placed
        """
        where: dict[str, int] = {}
        for some in self._batches(parts):
            self._deadline.check()
            where.update(self._assigned(some))
        where.update(self._closed(parts))
        return self._completed(where)

    def _batches(self, parts: Sequence[Batch]) -> Iterator[set[str]]:
        """Paths of the members of some parts, without those of parts that
        close their hosts to others."""
        found: set[str] = set()
        for each in parts:
            paths = {m.path for m in each.members}
            if not paths <= self._kind_of.keys():
                continue
            if found and len(found) + len(paths) > limits().packed_members:
                yield found
                found = set()
            found |= paths
        if found:
            yield found

    def _assigned(self, paths: set[str]) -> dict[str, int]:
        """Hosts of the members that get a place of their kind."""
        known = self._known
        hosts = np.array(sorted({h for each in self._left for h in each}),
                         dtype=np.int64)
        case = Case.of(self._group.only(paths), known.snapshot, {},
                       self._deadline.check,
                       Subproblem(self._table.part(hosts), constructs=True))
        local = {h: n for n, h in enumerate(hosts.tolist())}
        kinds = [self._kind_of[each.members[0].path] for each in case.classes]
        found = assigned_counts(case, kinds, [
            {local[h]: number for h, number in each.items()}
            for each in self._left], self._deadline.part(
                limits().program_share), is_complete=False)
        where: dict[str, int] = {}
        for kind, each, counts in zip(kinds, case.classes, found or ()):
            places = [int(hosts[h]) for h, number in counts.items()
                      for _ in range(number)]
            where.update(zip((m.path for m in each.members), places))
            for host in places:
                self._left[kind][host] -= 1
        self._left = [{h: number for h, number in each.items() if number}
                      for each in self._left]
        return where

    def _closed(self, parts: Sequence[Batch]) -> dict[str, int]:
        """The hosts of the plan for members of parts that close their hosts,
        unless others are packed on them."""
        where: dict[str, int] = {}
        for each in parts:
            if all(m.path in self._kind_of for m in each.members):
                continue
            hosts = {m.path: self._table.index[
                self._known.where[m.path].name] for m in each.members}
            if not self._packed.intersection(hosts.values()):
                where.update(hosts)
        return where

    def _completed(self, where: dict[str, int]) -> dict[str, Host] | None:
        """A plan with other hosts for the parts whose hosts violate a policy,
        and with hosts for the members that have none."""
        known = self._known
        hosts = np.union1d(self._hosts, [
            self._table.index[host.name] for host in known.where.values()])
        case = Case.of(known.group, known.snapshot, {}, self._deadline.check,
                       Subproblem(self._table.part(hosts), constructs=True))
        part_of = components(case, of_all=True)
        class_of = {m.path: c for c, each in enumerate(case.classes)
                    for m in each.members}
        at = {path: self._table.hosts[host] for path, host in where.items()}
        incomplete = {part_of[c] for path, c in class_of.items()
                      if path not in at}
        for each in case.policies:
            classes = {class_of[m.path] for m in each.scope.members}
            # A plan without some members may violate a policy as well.
            if each.policy.hard and classes and (
                    each.policy.monotone
                    or not part_of[min(classes)] in incomplete) and (
                        each.policy.check(each.scope, at,
                                          known.snapshot).count):
                incomplete.add(part_of[min(classes)])
                for m in each.scope.members:
                    at.pop(m.path, None)
        counts = tuple(Counter(
            case.table.index[at[m.path].name] for m in each.members
            if m.path in at) for each in case.classes)
        missing = MissingParts(case, counts, random.Random(
            DEFAULT.improvement.seed), self._deadline.check)
        completed = missing.place(incomplete, known.counts(case))
        return completed and case.placement(completed)

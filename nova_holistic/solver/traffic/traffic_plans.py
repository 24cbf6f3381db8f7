# SPDX-License-Identifier: Apache-2.0
"""Plans for objectives that measure traffic: members with traffic are placed
close together first, and all other members on any hosts with room."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
import contextlib
from dataclasses import dataclass, replace

import numpy as np

from nova_holistic.model.objective import Objective, HostCost, Traffic
from nova_holistic.model.policy import Policy
from nova_holistic.solver.construct.attempt import Attempt, fullest
from nova_holistic.solver.construct.disaggregation import (
    disaggregate, KindPlaces)
from nova_holistic.solver.decomposition.aggregation import HostAggregation
from nova_holistic.solver.decomposition.cells import cells
from nova_holistic.solver.decomposition.host_assignment import (
    assign_to_hosts, HostAssignment)
from nova_holistic.solver.evaluation.rule_counts import RuleCounts
from nova_holistic.solver.limits.current import decomposition
from nova_holistic.solver.limits.current import phases as phases_limits
from nova_holistic.solver.limits.current import traffic as limits
from nova_holistic.solver.milp.backend import Backend
from nova_holistic.solver.milp.search import Search
from nova_holistic.solver.numerics.exact_weights import exact
from nova_holistic.solver.problem.case import Case, Counts
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.search_status import SearchStatus
from nova_holistic.solver.problem.subproblem import Subproblem
from nova_holistic.solver.traffic.construction import TrafficConstruction
from nova_holistic.solver.traffic.count_bounds import (
    CountBounds, has_coarse_levels)
from nova_holistic.solver.traffic.integer_counts import integer_counts
from nova_holistic.solver.traffic.joint_patterns import JointPatterns
from nova_holistic.solver.traffic.nested_bound import nested_bound
from nova_holistic.solver.traffic.remaining_capacity import (
    RemainingCapacity, traffic_classes, TrafficClass)
from nova_holistic.solver.traffic.traffic_bound import TrafficBound
from nova_holistic.solver.traffic.traffic_graph import TrafficGraph


@dataclass(frozen=True, slots=True, eq=False)
class TrafficPlacement:
    """Places of members with traffic, and the remaining problem.

    :ivar taken: for each class, host index to number of members
    :ivar rest: the remaining members, if the placed members stay
    """

    traffic_classes: tuple[TrafficClass, ...]
    taken: tuple[Mapping[int, int], ...]
    rest: Kinds


class TrafficPlans:
    """Bounds for an objective that measures traffic, and places for the
    members with traffic.

    :ivar bound: lower bound of the value of plans that satisfy the
        preferences, or of all plans if no plan satisfies them; None if nothing
        is proved
    """

    def __init__(self, kinds: Kinds, traffic: Sequence[Traffic],
                 deadline: Deadline):
        self._kinds, self._deadline = kinds, deadline
        self._graph = TrafficGraph.of(traffic)
        # The relaxation contains no other preferences.
        self._weights = held = frozenset(
            p.weight for scope in kinds.group.scopes()
            for p in scope.group.rules
            if not p.hard and has_coarse_levels(p))
        self._relaxation, self._bounds = self._relax(lambda policy: True)
        if self._relaxation.infeasible:
            held = frozenset()
            self._relaxation, self._bounds = self._relax(lambda policy: False)
        self.bound = self._least(self._relaxation, self._bounds)
        self._known = {held: self.bound}

    @property
    def cell(self) -> np.ndarray:
        """[host]: its cell, which is a part of the topology."""
        return self._relaxation.partition.of

    def within(self, cost: float) -> float | None:
        """The lower bound of the value of plans whose preferences cost at most
        the given cost; None if nothing is proved.

        One violation costs its preference's weight. Therefore preferences of a
        larger weight are satisfied.
        """
        if not cost:
            return self.bound
        held = frozenset(
            weight for weight in self._weights if exact(weight) > cost)
        if held not in self._known:
            try:
                self._known[held] = self._least(*self._relax(
                    lambda policy: policy.weight in held))
            except OutOfTime:
                # A bound for more plans also holds for fewer plans.
                return max((bound for fewer, bound in self._known.items()
                            if fewer <= held and bound is not None),
                           default=None)
        return self._known[held]

    def place(self) -> TrafficPlacement | None:
        """Place members with traffic; None if their numbers are unknown."""
        numbers = integer_counts(self._relaxation, self._deadline)
        if numbers is None:
            return None
        self._relaxation.fix_counts(numbers)
        classes = traffic_classes(self._kinds, self._graph)
        remaining = RemainingCapacity(self._kinds, self._graph, self._bounds,
                                      self._relaxation.capacity, classes)
        construction = TrafficConstruction(
            self._kinds, self._graph, self._relaxation, remaining, classes,
            self._deadline)
        construction.run(numbers)
        return TrafficPlacement(tuple(classes), tuple(construction.taken),
                                _remaining_kinds(
            self._kinds, remaining, classes, construction.taken))

    def _least(self, relaxation: TrafficBound,
               bounds: CountBounds) -> float | None:
        """The best one of three lower bounds; None if the relaxation proves
        none."""
        if relaxation.least is None or not self._graph.total:
            return relaxation.least
        joint = JointPatterns.of(self._graph).least(
            relaxation.capacity, self._kinds.table.snapshot.levels,
            self._deadline)
        return max(relaxation.least, joint, nested_bound(
            self._kinds, self._graph, bounds, self._deadline))

    def _relax(self, treat_as_hard: Callable[[Policy], bool]
               ) -> tuple[TrafficBound, CountBounds]:
        bounds = CountBounds.of(self._kinds, treat_as_hard,
                                self._deadline.check)
        relaxation = TrafficBound(self._kinds, self._graph, bounds,
                                  self._deadline)
        relaxation.run()
        return relaxation, bounds


def _remaining_kinds(kinds: Kinds, remaining: RemainingCapacity,
                     classes: Sequence[TrafficClass],
                     taken: Sequence[Mapping[int, int]]) -> Kinds:
    """The members without a place, and the remaining room for them."""
    hosts = kinds.table.hosts
    placed = {path: hosts[h].name for path, h in kinds.placed.items()}
    for traffic_class, host_counts in zip(classes, taken):
        place = [hosts[h].name
                 for h in sorted(Counter(host_counts).elements())]
        placed.update(zip(traffic_class.paths, place))
    rest = Kinds.of(kinds.group, kinds.table.snapshot, placed)
    free = remaining.free[:, [kinds.names.index(name) for name in rest.names]]
    room = rest.room.copy()
    changed = np.array(
        sorted({h for host_counts in taken for h in host_counts}),
        dtype=np.int64)
    for k, amounts in enumerate(rest.amounts):
        for column in np.flatnonzero(amounts).tolist():
            room[k, changed] = np.minimum(
                room[k, changed], free[changed, column] // amounts[column])
    room[:, remaining.full_hosts()] = 0
    return replace(rest, free=free, room=room)


def traffic_plan(kinds: Kinds, traffic: Sequence[Traffic],
                 incumbent: Incumbent, backend: Backend,
                 deadline: Deadline) -> Search | None:
    """A search with a plan on some hosts, and with bounds for the whole
    problem; None if no plan was found this way."""
    known = TrafficPlans(kinds, traffic, deadline)
    incumbent.prove_within(known.within)
    if incumbent.where is not None:
        # The search for places may take all the time that is left, and no
        # bound is proved after that.
        known.within(incumbent.plan_cost[0])
    placement = known.place()
    others = placement and _place_others(known, placement, deadline)
    if others is None:
        return None
    taken = [h for host_counts in placement.taken for h in host_counts]
    hosts = np.unique(np.concatenate((
        others[0].hosts, kinds.placed_hosts,
        np.array(taken, dtype=np.int64))))
    case = incumbent.case(deadline.check,
                          Subproblem(kinds.table.part(hosts)))
    search = Search(case, incumbent.objective, backend, deadline,
                    incumbent.gap)
    status = search.improve(
        _disaggregated(case, kinds, placement, *others, deadline), 0.0,
        known.within)
    return None if status is SearchStatus.NO_RESULT else search


def traffic_start(case: Case, placed: Mapping[str, str], objective: Objective,
                  deadline: Deadline
                  ) -> tuple[Counts | None, Callable[[float], float | None]]:
    """Counts that may be a plan for a case of all hosts, and bounds of the
    objective by the cost of preferences. If the objective does not measure
    traffic, the counts are None, and no bound is proved."""
    start, within = None, lambda cost: None
    traffic = objective.traffic()
    if not traffic:
        return start, within
    with contextlib.suppress(OutOfTime):
        kinds = Kinds.of(case.group, case.snapshot, placed, deadline.check)
        if kinds is None or not kinds.kinds:
            # There are too many kinds, or no members to place.
            return start, within
        known = TrafficPlans(kinds, traffic,
                             deadline.part(phases_limits().bound_share))
        within = known.within
        placement = known.place()
        others = placement and _place_others(known, placement, deadline)
        if others is not None:
            start = _disaggregated(case, kinds, placement, *others, deadline)
    return start, within


def _place_others(known: TrafficPlans, placement: TrafficPlacement,
                  deadline: Deadline
                  ) -> tuple[HostAssignment, np.ndarray] | None:
    """Any feasible places for the remaining members, and the cells to fill
    evenly; None if there is no room."""
    rest = placement.rest
    if not rest.kinds:
        return HostAssignment(np.zeros(0, dtype=np.int64), ()), known.cell
    if rest.lacks_room:
        return None
    host_cost = HostCost(lambda free: free * 0 + 1.0)
    rules = cells(rest, deadline.check)
    # Limits per host make it easier to satisfy all rules.
    for most_on_a_host in (max(1, rest.most_on_a_host
                               // limits().host_divisor),
                           rest.most_on_a_host):
        roomy = replace(rest, most_on_a_host=most_on_a_host)
        aggregation = HostAggregation(roomy, rules, host_cost, deadline)
        aggregation.run(1)
        if not aggregation.impossible and aggregation.bound is not None:
            # The places do not matter: only members with traffic have a cost.
            return assign_to_hosts(
                aggregation, decomposition().spare_hosts, None,
                deadline), rules.of
    return None


def _disaggregated(case: Case, kinds: Kinds, placement: TrafficPlacement,
                   others: HostAssignment, cell: np.ndarray,
                   deadline: Deadline) -> Counts | None:
    """Assign the places to members of a case of some hosts. Members with
    traffic are assigned without checks, because rules may seem violated while
    other members are missing.

    :param cell: cell of each host of the whole problem
    """
    hosts = kinds.table.indexes(case.table.hosts)
    local = {int(h): n for n, h in enumerate(hosts)}
    class_of = {path: c for c,
                traffic_class in enumerate(placement.traffic_classes)
                for path in traffic_class.paths}
    number = len(placement.rest.kinds)
    kind_of = {m.path: number for kind in kinds.kinds for m in kind.members}
    # Members of classes without a place get places of other members.
    kind_of.update((m.path, k) for k, kind in enumerate(placement.rest.kinds)
                   for m in kind.members)
    paths = [c.members[0].path for c in case.classes]
    attempt = Attempt(case, fullest, RuleCounts(case, deadline.check))
    for c, taken in enumerate(placement.taken):
        _put_in_order(attempt, [n for n, path in enumerate(paths)
                                if class_of.get(path) == c],
                      [local[h] for h in sorted(Counter(taken).elements())])
    return disaggregate(case, KindPlaces(
        [kind_of[c.members[-1].path] for c in case.classes],
        [{local[h]: n for h, n in host_counts.items()}
         for host_counts in others.taken or ()], cell[hosts]),
        deadline, attempt)


def _put_in_order(attempt: Attempt, classes: Sequence[int],
                  hosts: Sequence[int]) -> None:
    """Put one member of the classes on each of the hosts. If several classes
    are possible, choose the class that fits the host best."""
    left = {c: len(attempt.case.classes[c].members) for c in classes}
    for host in hosts:
        those = [c for c, number in left.items() if number]
        if len(those) > 1:
            results = {c: attempt.rule_counts.at(c, host) for c in those}
            those.sort(key=lambda c: (
                not results[c][0], results[c][1], -left[c]))
        attempt.put(those[0], host)
        left[those[0]] -= 1

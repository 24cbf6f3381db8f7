# SPDX-License-Identifier: Apache-2.0
"""Why each member of a plan is on its host: the other possible hosts if all
other members stay as planned, and the cost of the best of these hosts."""

from collections.abc import Iterator, Mapping
import contextlib
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from nova_holistic.model.binding import bind
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import Member
from nova_holistic.model.objective import Objective
from nova_holistic.model.plan import Plan
from nova_holistic.objectives import load_objective
from nova_holistic.solver.diagnosis.numbers import amounts
from nova_holistic.solver.evaluation.rule_counts import RuleCounts
from nova_holistic.solver.limits.current import diagnosis as limits
from nova_holistic.solver.limits.current import limits as all_limits, using
from nova_holistic.solver.planned_group import PlannedGroup
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.eligibility import Eligibility
from nova_holistic.solver.problem.member_classes import MemberClass
from nova_holistic.solver.problem.rows import ScopedPolicy
from nova_holistic.solver.settings import Settings, UNLIMITED
from nova_holistic.solver.trees.tree_problem import tree_problem


@dataclass(frozen=True, slots=True)
class HostsLeft:
    """Number of hosts left after a condition and all conditions before it."""

    condition: str
    hosts: int


@dataclass(frozen=True, slots=True)
class Binding:
    """A hard policy on the member.

    :ivar at: path of the group that carries the policy
    :ivar rules_out: number of hosts with room for the member where it would
        violate the policy
    """

    policy: str
    at: str
    rules_out: int


@dataclass(frozen=True, slots=True)
class Move:
    """A move of the member to another host while all others stay.

    :ivar preferences: increase of the weighted violations; may be negative if
        the plan is not proved optimal
    :ivar objective: increase of the cost, by the plan's objective
    """

    host: str
    preferences: float
    objective: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of one member.

    :ivar open: number of other hosts where it violates no hard policy,
        according to the counts, and to the checks at the tried hosts
    :ivar next_best: the best of the tried hosts; None if none is possible
    :ivar tried: number of hosts among which ``next_best`` is the best
    """

    member: str
    host: str
    left: tuple[HostsLeft, ...]
    bindings: tuple[Binding, ...]
    open: int
    next_best: Move | None
    tried: int


def explain(planned: PlannedGroup, objective: str | Objective, *,
            settings: Settings = UNLIMITED) -> tuple[Explanation, ...]:
    """Explain the members of the plan, in document order. At the time limit,
    return the explanations so far.

    :param settings: the time limit and its clock, and the limits of size and
        effort
    """
    deadline = Deadline(settings.timer, settings.time_limit)
    aim = load_objective(objective) if isinstance(objective, str) else (
        objective)
    snapshot = planned.snapshot.without_servers(planned.placed.values())
    bound = bind(planned.group, snapshot)
    flat = tree_problem(bound, snapshot, planned.placed)
    if flat is not None:
        bound, snapshot = flat.group, flat.snapshot
    found: list[Explanation] = []
    with contextlib.suppress(OutOfTime), using(
            settings.limits or all_limits()):
        case = Case.of(bound, snapshot, {}, deadline.check)
        for each in _Explainer(case, planned.plan, aim.for_group(bound),
                               planned.placed, deadline).all():
            found.append(each)
    return tuple(found)


class _Explainer:
    """Explains the members of one plan; tests hosts once per class."""

    def __init__(self, case: Case, plan: Plan, objective: Objective,
                 placed: Mapping[str, str], deadline: Deadline):
        self._case = case
        self._deadline = deadline
        self._objective = objective
        self._placed = placed
        self._at = {path: case.table.index[host]
                    for path, host in plan.hosts().items()}
        self._where = {path: case.table.hosts[h]
                       for path, h in self._at.items()}
        self._hard = [p for p in case.policies if p.policy.hard]
        self._rule_counts = [self._counted(p) for p in self._hard]
        self._governed = [frozenset(member.path for member in each.members)
                          for each in self._hard]
        self._cost = self._plan_cost()
        self._used = self._free_after()
        # At least one of each kind of ``_promising``.
        self._most_tried = max(3, limits().moves // len(case.members))

    def all(self) -> Iterator[Explanation]:
        class_of = self._case.class_of
        steps: dict[int, tuple[tuple[HostsLeft, ...], np.ndarray]] = {}
        # Identical members on one host have the same explanation.
        known: dict[tuple[int, int], Explanation] = {}
        for member in self._case.members:
            c = class_of[member.path]
            key = c, self._at[member.path]
            if c not in steps:
                self._deadline.check()
                steps[c] = self._steps(self._case.classes[c])
            if key not in known:
                known[key] = self._one(member, c, *steps[c])
            yield replace(known[key], member=member.path)

    def _one(self, member: Member, c: int, left: tuple[HostsLeft, ...],
             suits: np.ndarray) -> Explanation:
        here = self._at[member.path]
        room = suits & self._room(c)
        room[here] = False
        governing, excluded = [], []
        for each, rule_counts, paths in zip(self._hard, self._rule_counts,
                                            self._governed):
            self._deadline.check()
            out = room & ~self._allowed(rule_counts, c, here)
            # The policy of an exclusive group also applies to other members.
            if out.any() or member.path in paths:
                governing.append(each)
                excluded.append(out)
        best, tried = self._next_best(member, room, governing, excluded)
        return Explanation(
            member.path, self._case.table.hosts[here].name,
            (*left, HostsLeft('has room in addition to the rest of the plan',
                              int(room.sum()) + 1)),
            tuple(Binding(str(each.policy.summary), each.scope.path,
                          int(out.sum()))
                  for each, out in zip(governing, excluded)),
            int(_without(room, excluded).sum()), best, tried)

    def _steps(self, each: MemberClass
               ) -> tuple[tuple[HostsLeft, ...], np.ndarray]:
        """Hosts left after each condition, before any member is placed."""
        eligibility = Eligibility(self._case.table)
        suits = np.ones(len(self._case.table), dtype=bool)
        found = []
        for test in eligibility.tests(replace(
                each.requirements, resources=FrozenMapping())):
            suits &= test.passed
            found.append(HostsLeft(test.requirement, int(suits.sum())))
        suits = suits & eligibility.suitable(each.requirements)
        free = eligibility.room(each.requirements, 1) > 0
        resources = amounts(each.requirements)
        if resources:
            found.append(HostsLeft(f'has room for {resources}',
                                   int((suits & free).sum())))
        return tuple(found), suits

    def _counted(self, carried: ScopedPolicy) -> RuleCounts:
        in_time = self._deadline.check
        rule_counts = RuleCounts(self._case.under([carried]), in_time)
        for c, each in enumerate(self._case.classes):
            in_time()
            for member in each.members:
                rule_counts.add(c, self._at[member.path])
        return rule_counts

    @staticmethod
    def _allowed(rule_counts: RuleCounts, c: int, here: int) -> np.ndarray:
        rule_counts.remove(c, here)
        allowed = rule_counts.allowed_hosts(c, here)[0]
        rule_counts.add(c, here)
        return allowed

    def _free_after(self) -> dict[str, np.ndarray]:
        free: dict[str, np.ndarray] = {}
        for each in self._case.classes:
            for name, amount in each.demands:
                if name not in free:
                    free[name] = self._case.table.amounts(name).free.copy()
                for member in each.members:
                    if member.path not in self._placed:
                        free[name][self._at[member.path]] -= amount
        return free

    def _room(self, c: int) -> np.ndarray:
        room = np.ones(len(self._case.table), dtype=bool)
        for name, amount in self._case.classes[c].demands:
            room &= self._used[name] >= amount
        return room

    def _next_best(self, member: Member, room: np.ndarray,
                   governing: list[ScopedPolicy], excluded: list[np.ndarray]
                   ) -> tuple[Move | None, int]:
        """The cheapest of some moves, and their number.

        :param excluded: for each governing policy, [host]: whether its counts
            exclude the host. The hosts that its check excludes are added.
        """
        best: tuple[tuple[Fraction, float], str] | None = None
        fine = np.flatnonzero(_without(room, excluded))
        others = np.flatnonzero(room)
        chosen = self._promising(fine)
        if len(others) <= self._most_tried:
            # Several policies may exclude the same host.
            chosen += [h for h in others.tolist() if h not in chosen]
        tried = 0
        for h in chosen:
            if tried and not self._deadline.left():
                break
            cost = self._moved(member, h, governing, excluded)
            if cost is None:
                continue
            tried += 1
            key = cost, self._case.table.hosts[h].name
            if best is None or key < best:
                best = key
        if best is None:
            return None, tried
        (preferences, value), name = best
        return Move(name, float(preferences - self._cost[0]),
                    value - self._cost[1]), tried

    def _moved(self, member: Member, h: int, governing: list[ScopedPolicy],
               excluded: list[np.ndarray]) -> tuple[Fraction, float] | None:
        """The cost of the plan after the move; None if a policy excludes the
        host."""
        planned = self._where[member.path]
        self._where[member.path] = self._case.table.hosts[h]
        try:
            for each, out in zip(governing, excluded):
                out[h] = out[h] or each.policy.check(
                    each.scope, self._where, self._case.snapshot).count
            return None if any(out[h] for out in excluded) else (
                self._plan_cost())
        finally:
            self._where[member.path] = planned

    def _plan_cost(self) -> tuple[Fraction, float]:
        case = self._case
        return case.preference_cost(self._where), float(
            self._objective.value(case.members, self._where, self._placed,
                                  case.snapshot))

    def _promising(self, hosts: np.ndarray) -> list[int]:
        """All hosts if they are few; else in turn the emptiest hosts, the
        fullest hosts, and hosts with members: at least one of each."""
        empty = np.mean([
            np.clip(free / np.maximum(
                self._case.table.amounts(name).capacity, 1), 0, 1)
            for name, free in self._used.items()] or [
                np.zeros(len(self._case.table))], axis=0)
        order = hosts[np.argsort(-empty[hosts], kind='stable')].tolist()
        own = set(self._at.values())
        own_hosts = [h for h in reversed(order) if h in own]
        turns = order, order[::-1], own_hosts + order
        if len(hosts) <= self._most_tried:
            return hosts.tolist()
        return list(dict.fromkeys(
            h for turn in zip(*turns) for h in turn))[:self._most_tried]


def _without(room: np.ndarray, excluded: list[np.ndarray]) -> np.ndarray:
    """The hosts with room that no policy excludes."""
    return room & ~np.any([np.zeros_like(room), *excluded], axis=0)

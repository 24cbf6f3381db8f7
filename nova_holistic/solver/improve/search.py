# SPDX-License-Identifier: Apache-2.0
"""Large-neighbourhood search: steps until the plan is good enough, the time
limit is reached, or many steps have not improved the plan."""

import contextlib
import random

from nova_holistic.solver.improve.adaptive_selection import (
    AdaptiveSelection, WeightedNeighbourhood)
from nova_holistic.solver.improve.candidate_hosts import CandidateHosts
from nova_holistic.solver.improve.neighbourhood import PlanView
from nova_holistic.solver.improve.neighbourhoods import NEIGHBOURHOODS
from nova_holistic.solver.improve.rows_by_place import RowsByPlace
from nova_holistic.solver.improve.settings import Improvement
from nova_holistic.solver.improve.step import Outcome, Part, step, StepContext
from nova_holistic.solver.limits.current import improve as limits
from nova_holistic.solver.milp.task import Task
from nova_holistic.solver.numerics.tolerances import BOUND_ERROR
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime, TooLarge
from nova_holistic.solver.problem.eligibility import (
    different_requirements)
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent, PlanCost
from nova_holistic.solver.ruin_recreate.part_search import (
    ruin_and_recreate)


def improve(task: Task, settings: Improvement) -> None:
    """Improve the incumbent, which has a plan and movable members.

    Ruin and recreate and the large-neighbourhood search alternate: the plan
    of one is a new start for the other.
    """
    incumbent, deadline = task.known, task.deadline
    search, seed = None, settings.seed
    turn = settings.failures_in_turn
    with contextlib.suppress(OutOfTime):
        if not settings.neighbourhoods and is_large_case(incumbent):
            _improve_large(incumbent, deadline, settings)
            return
        while search is None or search.continues():
            if not settings.neighbourhoods:
                before = incumbent.plan_cost
                ruin_and_recreate(
                    incumbent, deadline.part(limits().ruin_share), seed)
                seed += 1
                if search is None and deadline.left() < (
                        limits().search_reserve * deadline.limit):
                    return
                if search is not None and incumbent.plan_cost == before:
                    turn *= 2
            if incumbent.is_good_enough:
                return
            search = search or _Search(task, settings)
            search.run(turn)


def _improve_large(incumbent: Incumbent, deadline: Deadline,
                   settings: Improvement) -> None:
    """Improve a plan for which only ruin and recreate is fast enough, with
    other random choices each time."""
    seed, failures = settings.seed, 0
    while failures < settings.failures:
        before = incumbent.plan_cost
        ruin_and_recreate(incumbent, deadline, seed)
        seed += 1
        failures = 0 if incumbent.plan_cost < before else failures + 1
        deadline.check()
        if incumbent.is_good_enough:
            return


def is_large_case(incumbent: Incumbent) -> bool:
    """Whether the case of all members and hosts would take most of the time.
    """
    hosts = len(incumbent.snapshot.hosts)
    requirements = different_requirements(incumbent.members)
    return (len(incumbent.policies) * hosts > limits().whole_rows
            or len(requirements) * hosts > limits().whole_places)


class _Search:
    """The steps of one search."""

    def __init__(self, task: Task, settings: Improvement):
        incumbent, deadline = task.known, task.deadline
        self._incumbent, self._settings = incumbent, settings
        self._deadline = deadline
        self._chance = random.Random(settings.seed)
        self._plan = PlanView(incumbent)
        self._selection = AdaptiveSelection(
            [NEIGHBOURHOODS[name]
             for name in settings.neighbourhoods or NEIGHBOURHOODS],
            settings, len(self._plan.movable), self._chance)
        table = HostTable.of(incumbent.snapshot)
        self._candidates = CandidateHosts(table, incumbent.members, self._plan)
        self._context = StepContext(
            table, _rows(incumbent, deadline), task.backend, deadline,
            settings)
        # Consecutive steps without a better plan, and the cost after them.
        self._failures, self._cost = 0, incumbent.plan_cost

    def continues(self) -> bool:
        """Whether a further step is useful."""
        return bool(
            self._plan.movable and self._deadline.left()
            and (self._failures < self._settings.failures
                 or self._incumbent.plan_cost < self._cost)
            and not self._incumbent.is_good_enough)

    def run(self, failures: int) -> None:
        """Take steps until the number of consecutive steps without a better
        plan has grown by this number, or no further step is useful."""
        if self._incumbent.plan_cost < self._cost:
            self._failures = 0
            self._plan = PlanView(self._incumbent)
        last = self._failures + failures
        while self._failures < last and self.continues():
            chosen = self._selection.draw(self._plan)
            if chosen is None:
                self._failures = self._settings.failures
                return
            before = self._incumbent.plan_cost
            outcome = self._step(chosen)
            gain = _gain(before, self._incumbent.plan_cost)
            self._selection.learn(chosen, outcome, gain)
            self._failures = 0 if gain > BOUND_ERROR else self._failures + 1
            self._cost = self._incumbent.plan_cost
            if outcome.is_better:
                self._plan = PlanView(self._incumbent)

    def _step(self, chosen: WeightedNeighbourhood) -> Outcome:
        plan, chance = self._plan, self._chance
        freed = chosen.neighbourhood.free(plan, max(1, round(chosen.size)),
                                          chance)
        if not freed:
            # The neighbourhood found no member that may move.
            return Outcome(False, True, 0.0)
        hosts = self._candidates.choose(
            plan, freed, self._settings, chance)
        return step(plan, Part(
            frozenset(freed), hosts, chosen.neighbourhood.is_for_preferences),
            self._context)


def _rows(incumbent: Incumbent, deadline: Deadline) -> RowsByPlace | None:
    try:
        return RowsByPlace(incumbent.whole_case(deadline.check),
                           deadline.check)
    except TooLarge:
        # Each step builds the rows that it needs.
        return None


def _gain(before: PlanCost, after: PlanCost) -> float:
    """Gain of a step; at least 1 if the cost of preferences decreases."""
    (cost, value), (less, lower) = before, after
    if less < cost:
        return 1.0 + float((cost - less) / cost)
    return (value - lower) / value if value else 0.0

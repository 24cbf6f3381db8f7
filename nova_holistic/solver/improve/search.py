# SPDX-License-Identifier: Apache-2.0
"""Large-neighbourhood search: steps until the plan is good enough, time runs
out, or nothing has been better for long."""

import contextlib
import random

from nova_holistic.solver.improve.arms import Arm, Arms
from nova_holistic.solver.improve.neighbourhood import PlanView
from nova_holistic.solver.improve.neighbourhoods import NEIGHBOURHOODS
from nova_holistic.solver.improve.rows_by_place import RowsByPlace
from nova_holistic.solver.improve.settings import Improvement
from nova_holistic.solver.improve.step import (
    Outcome, Part, step, Tools)
from nova_holistic.solver.improve.targets import Targets
from nova_holistic.solver.milp.backend import Backend
from nova_holistic.solver.problem.deadline import (
    Deadline, OutOfTime, TooLarge)
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent, Worth

_LEAST_GAIN = 1e-6
"""Less than that is rounding, and no reason to go on."""


def improve(incumbent: Incumbent, backend: Backend, deadline: Deadline,
            settings: Improvement) -> None:
    """Improve the incumbent, which has a plan with members that may move."""
    with contextlib.suppress(OutOfTime):
        _Search(incumbent, backend, deadline, settings).run()


class _Search:
    """The steps of one search."""

    def __init__(self, incumbent: Incumbent, backend: Backend,
                 deadline: Deadline, settings: Improvement):
        self._incumbent, self._settings = incumbent, settings
        self._deadline = deadline
        self._chance = random.Random(settings.seed)
        self._plan = PlanView(incumbent)
        self._arms = Arms(
            [NEIGHBOURHOODS[name]
             for name in settings.neighbourhoods or NEIGHBOURHOODS],
            settings, len(self._plan.movable), self._chance)
        table = HostTable.of(incumbent.snapshot)
        self._targets = Targets(table, incumbent.members, self._plan)
        self._tools = Tools(
            table, _rows(incumbent, deadline), backend, deadline, settings)

    def run(self) -> None:
        failures = 0
        while (self._plan.movable and self._deadline.left()
               and failures < self._settings.failures
               and not self._incumbent.is_good_enough):
            arm = self._arms.draw(self._plan)
            if arm is None:
                return
            before = self._incumbent.worth
            outcome = self._step(arm)
            gain = _gain(before, self._incumbent.worth)
            self._arms.learn(arm, outcome, gain)
            failures = 0 if gain > _LEAST_GAIN else failures + 1
            if outcome.is_better:
                self._plan = PlanView(self._incumbent)

    def _step(self, arm: Arm) -> Outcome:
        plan, chance = self._plan, self._chance
        freed = arm.neighbourhood.free(plan, max(1, round(arm.size)), chance)
        if not freed:
            # All members of its scope stay.
            return Outcome(False, True, 0.0)
        hosts = self._targets.choose(
            plan, freed, self._settings, chance)
        return step(plan, Part(
            frozenset(freed), hosts, arm.neighbourhood.is_for_preferences),
            self._tools)


def _rows(incumbent: Incumbent, deadline: Deadline) -> RowsByPlace | None:
    try:
        return RowsByPlace(incumbent.whole_case(deadline.check),
                           deadline.check)
    except TooLarge:
        # Each step writes down what it needs.
        return None


def _gain(before: Worth, after: Worth) -> float:
    """What a step has gained: 1 and more where preferences cost less."""
    (cost, value), (less, lower) = before, after
    if less < cost:
        return 1.0 + float((cost - less) / cost)
    return (value - lower) / value if value else 0.0

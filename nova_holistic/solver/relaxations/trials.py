# SPDX-License-Identifier: Apache-2.0
"""Trials that determine whether a changed group fits on a changed snapshot."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.objective import Objective
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.solver.limits.current import (
    Limits, limits as all_limits, phases as limits)
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.feasibility import Feasibility
from nova_holistic.solver.problem.hard_forms import only_rules
from nova_holistic.solver.settings import DEFAULT, Settings
from nova_holistic.solver.solve import solve

Constrain = Callable[[Group, Snapshot], Group]
"""Adds the requirements of the cloud to those of the group document."""


def unconstrained(group: Group, snapshot: Snapshot) -> Group:
    """Return the group unchanged."""
    return group


@dataclass(frozen=True, slots=True)
class Trials:
    """Solves changed problems within one time limit.

    :ivar deadline: the time limit
    :ivar constrain: a function that is applied to every group before the solve
    :ivar settings: settings of each solve, except its time limit, its gap and
        its observer: the caller has not asked about the changed problems
    """

    deadline: Deadline
    constrain: Constrain = unconstrained
    settings: Settings = DEFAULT

    @classmethod
    def of(cls, constrain: Constrain, settings: Settings) -> 'Trials':
        """Trials within the time limit of the settings, which starts now."""
        return cls(Deadline(settings.timer, settings.time_limit), constrain,
                   settings)

    def part(self, share: float) -> 'Trials':
        """Trials with a share of the remaining time."""
        return replace(self, deadline=self.deadline.part(share))

    def plan(self, group: Group, snapshot: Snapshot,
             objective: Objective | None = None
             ) -> Plan | Unplaceable | Unknown:
        """The answer of ``solve`` for the group without its preferences,
        within a share of the remaining time.

        :param objective: an objective; None means that all plans are equal
        """
        limit = limits().program_share * self.deadline.left()
        if limit <= 0:
            return Unknown('the time limit has passed')
        # Preferences do not affect whether a group fits.
        hard = only_rules(group, lambda each: each.hard)
        return solve(
            self.constrain(hard, snapshot), snapshot,
            objective=objective or Feasibility(),
            settings=replace(self.settings, time_limit=limit, gap=0.0,
                             observer=None, limits=_in_time(
                                 self.settings.limits or all_limits())))

    def fits(self, group: Group, snapshot: Snapshot) -> bool | None:
        """Whether a plan exists; None if this is unknown."""
        answer = self.plan(group, snapshot)
        return None if isinstance(answer, Unknown) else isinstance(
            answer, Plan)


def _in_time(chosen: Limits) -> Limits:
    """The limits without additional time for a first plan, because the time
    limit of a trial is a share of that of all trials."""
    return replace(chosen, construct=replace(
        chosen.construct, first_plan_seconds=0.0))


def is_monotone(group: Group) -> bool:
    """Whether a plan stays a plan after a host is added or a member is
    removed, as far as the hard policies of the group declare it."""
    return all(rule.monotone for scope in group.scopes()
               for rule in scope.group.rules if rule.hard)

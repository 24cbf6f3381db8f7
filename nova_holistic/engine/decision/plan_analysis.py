# SPDX-License-Identifier: Apache-2.0
"""Results of dry runs, with the additional information that was requested:
changes that make an unplaceable group fit, and the number of copies that
fit."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from nova_holistic.engine.decision.planning_request import PlanningRequest
from nova_holistic.engine.decision.snapshot_planner import SnapshotPlanner
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.model.relaxations import Headroom, Relaxations
from nova_holistic.solver.relaxations.headroom import headroom
from nova_holistic.solver.relaxations.relax import relax
from nova_holistic.solver.settings import Settings

_LEAST = 0.1
"""Minimum share of the time limit for each additional result. The total time
may therefore exceed the limit."""


@dataclass(frozen=True, slots=True)
class PlanAnalysis:
    """The result of a dry run.

    :ivar answer: the result of the solver
    :ivar group: the group of the result
    :ivar relaxations: changes that make an unplaceable group fit; None if they
        were not requested, or if the group is not unplaceable
    :ivar headroom: number of copies that fit; None if it was not requested
    """

    answer: Plan | Unplaceable | Unknown
    relaxations: Relaxations | None = None
    headroom: Headroom | None = None
    group: Group | None = None


class PlanAnalyser:
    """Carries out dry runs. All results of a dry run are computed on the
    snapshot of its plan."""

    def __init__(self, conf, snapshot_planner: SnapshotPlanner,
                 timer: Callable[[], float]):
        """:param timer: returns seconds, to measure durations"""
        self._conf = conf
        self._snapshot_planner = snapshot_planner
        self._timer = timer

    def analyse(self, request: PlanningRequest,
                extras: Collection[str]) -> PlanAnalysis:
        """The result of the solver for a group, with additional results.

        :param extras: the requested additional results, from
            ``table.records.EXTRAS``
        :raises InvalidDocument: the cloud has no such flavor or level
        """
        if not extras:
            return PlanAnalysis(self._snapshot_planner.answer(request),
                                group=request.group)
        started = self._timer()
        found: list[tuple[Plan | Unplaceable | Unknown, Snapshot]] = []

        def work(cloud: Snapshot) -> Plan | Unplaceable | Unknown:
            found.append(self._snapshot_planner.answer_on(request, cloud,
                                                          started))
            return found[-1][0]

        answer = self._snapshot_planner.on_cached_snapshot(work)
        return self._further(request, extras, answer, found[-1][1])

    def _further(self, request: PlanningRequest, extras: Collection[str],
                 answer: Plan | Unplaceable | Unknown,
                 snapshot: Snapshot) -> PlanAnalysis:
        seconds, limit = answer.seconds, self._conf.planner.time_limit
        until = self._timer() + limit - (
            seconds.get('total', 0.0) - seconds.get('snapshot', 0.0))

        def options() -> dict:
            return {'constrain': constrain, 'settings': Settings(
                solver=self._conf.planner.solver, timer=self._timer,
                time_limit=max(until - self._timer(), _LEAST * limit))}

        def constrain(group: Group, cloud: Snapshot) -> Group:
            return self._snapshot_planner.constrained(
                replace(request, group=group), cloud)

        return PlanAnalysis(
            answer,
            relax(request.group, snapshot, reasons=answer.reasons,
                  **options())
            if 'relaxations' in extras and isinstance(answer, Unplaceable)
            else None,
            headroom(request.group, snapshot, answer, **options())
            if 'headroom' in extras else None,
            request.group)

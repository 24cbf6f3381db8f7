# SPDX-License-Identifier: Apache-2.0
"""A plan with fewer members than desired, if the capacity is not sufficient
for all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
import time

from nova_holistic.engine.replan.partial_replan import PartialPlanner
from nova_holistic.engine.decision.planning_request import (
    CheckedPlan, NotPlanned, PlanningRequest)
from nova_holistic.engine.decision.snapshot_planner import SnapshotPlanner
from nova_holistic.model.elastic.optional_members import optional_units, Unit
from nova_holistic.model.plan import Reason


@dataclass(frozen=True, slots=True)
class Sized:
    """A decision about as many members as can be placed.

    :ivar request: the request for the members that the decision places
    :ivar reasons: the reasons for the missing members
    """

    request: PlanningRequest
    decision: CheckedPlan
    reasons: Sequence[Reason] = ()


class FewerMembers:
    """Plans the desired number of members. If the capacity is not sufficient
    for all, it plans as many as possible, but at least the minimum."""

    def __init__(self, planner: SnapshotPlanner, time_limit: float,
                 timer: Callable[[], float] = time.perf_counter):
        """
        :param time_limit: time limit in seconds of ``fewer``: for the plan
            without optional members and all larger plans together
        :param timer: returns seconds, to measure durations
        """
        self._planner = planner
        self._time_limit = time_limit
        self._timer = timer

    def decide(self, request: PlanningRequest) -> Sized:
        """A plan for the desired number of members, or for as many as can be
        placed.

        :raises NotPlanned: no plan for the minimum exists
        :raises InvalidDocument: the cloud has no such flavor or level
        """
        try:
            return Sized(request, self._planner.decide(request))
        except NotPlanned as refusal:
            units = list(optional_units(request.group, request.placed.keys()))
            if not units:
                raise
            return self.fewer(request, units, refusal)

    def fewer(self, request: PlanningRequest, units: Sequence[Unit],
              refusal: NotPlanned) -> Sized:
        """A plan for as many units as can be placed together with the other
        members.

        :param units: members that may be left out
        :param refusal: the reason why not all units can be placed
        :raises NotPlanned: no plan for the other members exists
        """
        deadline = self._timer() + self._time_limit
        least = replace(request, group=request.group.only(
            _paths(request).difference(*(u.members for u in units))))
        usable = self._planner.usable(request, self._planner.complete())
        base = self._planner.decide(
            least, usable=usable, time_limit=self._time_limit
        ) if least.group.all_members() else None
        found = PartialPlanner(
            request, lambda part, seconds: self._planner.decide(
                part, usable=usable, time_limit=seconds),
            {unit.path: unit.kind for unit in units},
            lambda: deadline - self._timer(),
            {unit.path: unit for unit in units}).plan(refusal.reasons)
        if found.decision is not None:
            return Sized(found.request, found.decision, found.reasons)
        if base is None:
            raise refusal
        return Sized(least, base, found.reasons)


def _paths(request: PlanningRequest) -> frozenset[str]:
    return frozenset(m.path for m in request.group.all_members())

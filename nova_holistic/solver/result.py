# SPDX-License-Identifier: Apache-2.0
"""Counts on hosts to a plan of members."""

import math
from collections.abc import Callable, Mapping

from nova_holistic.model.objective import Objective
from nova_holistic.model.plan import (
    ObjectiveValue, Placement, Plan, Preference)
from nova_holistic.model.snapshot import Host
from nova_holistic.solver.case import Case, Counts
from nova_holistic.solver.search import Verdict

_ROUNDING = 1e-6
"""What a solver's bound may be off by, relative to its size."""


def planned(case: Case, objective: Objective, counts: Counts,
            bound: float | None, verdict: Verdict | None,
            seconds: Callable[[], Mapping[str, float]]) -> Plan:
    """The plan that the counts mean, judged by objective and policies."""
    where = case.placement(counts)
    placed = {path: case.table.hosts[h].name
              for path, h in case.placed.items()}
    value = objective.value(case.members, where, placed, case.snapshot)
    return Plan(
        case.group.name,
        tuple(_placement(path, host) for path, host in where.items()),
        _judged(objective, value, bound, verdict is Verdict.BEST),
        tuple(Preference(p.policy.type, p.scope.path, p.policy.check(
            p.scope, where, case.snapshot).count)
            for p in case.policies if not p.policy.hard),
        seconds())


def _placement(path: str, host: Host) -> Placement:
    return Placement(path, host.name, host.node, host.location)


def _judged(objective: Objective, value: float, bound: float | None,
            best: bool) -> ObjectiveValue:
    if best:
        return ObjectiveValue(objective.name, value, value, 0.0)
    # Costs are never below 0.
    safe = 0.0
    if bound is not None:
        safe = max(0.0, bound - _ROUNDING * abs(bound))
        if objective.integral:
            safe = float(math.ceil(safe - _ROUNDING))
    safe = min(safe, value)
    return ObjectiveValue(objective.name, value, safe,
                          (value - safe) / value if value else 0.0)

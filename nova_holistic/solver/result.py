# SPDX-License-Identifier: Apache-2.0
"""A placement of members to a plan, with what is proved of it."""

from collections.abc import Callable, Mapping, Sequence

from nova_holistic.model.group import Group
from nova_holistic.model.objective import Objective
from nova_holistic.model.plan import (
    ObjectiveValue, Placement, Plan, Preference)
from nova_holistic.model.snapshot import Host, Snapshot
from nova_holistic.solver.problem import bound as bounds
from nova_holistic.solver.problem.rows import Carried
from nova_holistic.solver.problem.verdict import Verdict


def judged(group: Group, snapshot: Snapshot, objective: Objective,
           policies: Sequence[Carried], where: Mapping[str, Host],
           placed: Mapping[str, str], bound: float | None,
           verdict: Verdict | None,
           seconds: Callable[[], Mapping[str, float]]) -> Plan:
    """The plan that members are there.

    :param where: of all members, in document order
    """
    value = float(objective.value(
        group.all_members(), where, placed, snapshot))
    return Plan(
        group.name,
        tuple(_placement(path, host) for path, host in where.items()),
        _valued(objective, value, bound, verdict is Verdict.BEST),
        tuple(Preference(p.policy.title, p.scope.path, p.policy.check(
            p.scope, where, snapshot).count)
            for p in policies if not p.policy.hard),
        seconds())


def _placement(path: str, host: Host) -> Placement:
    return Placement(path, host.name, host.node, host.location)


def _valued(objective: Objective, value: float, bound: float | None,
            best: bool) -> ObjectiveValue:
    # A bound above the value is an error of the solver, and is not hidden.
    lower = bounds.safe(objective, bound)
    if best:
        lower = max(value, lower)
    return ObjectiveValue(objective.name, value, lower,
                          bounds.gap(value, lower))

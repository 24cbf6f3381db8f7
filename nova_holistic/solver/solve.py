# SPDX-License-Identifier: Apache-2.0
"""A group and a snapshot to a plan, or to reasons why there is none."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from nova_holistic.model.binding import bind
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.objective import Objective
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.model.snapshot import Snapshot
from nova_holistic.objectives import load_objective
from nova_holistic.solver.backend import Backend, load_backend
from nova_holistic.solver.case import Case
from nova_holistic.solver.contradiction import narrowed
from nova_holistic.solver.core import core
from nova_holistic.solver.deadline import Deadline, OutOfTime, TooLarge
from nova_holistic.solver.large import Found, large
from nova_holistic.solver.result import planned
from nova_holistic.solver.rules import Carried
from nova_holistic.solver.search import Search
from nova_holistic.solver.together import talking
from nova_holistic.solver.verdict import Verdict
from nova_holistic.solver.wording import reasons, unsifted

_FINDING = 0.9
"""Share of the time limit for plan or proof; the rest is for judging the plan
and for reasons."""

_FIRST = 0.7
"""Share of that for a few chosen hosts, before all are looked at."""


def solve(group: Group, snapshot: Snapshot, *,
          placed: Mapping[str, str] = FrozenMapping(),
          objective: str | Objective = 'spread', solver: str = 'highs',
          time_limit: float = 10.0, gap: float = 0.01,
          threads: int = 1,
          timer: Callable[[], float] = time.perf_counter
          ) -> Plan | Unplaceable | Unknown:
    """Where each member goes: preferences first, then the objective.

    :param placed: path to host name of members that stay where they are;
        their use and they themselves are counted in the snapshot already
    :param time_limit: wall-clock seconds for everything together
    :param gap: relative gap that is good enough, for groups too large to be
        solved to the end; small ones always are
    :param threads: that the solver may use; no answer depends on it
    :param timer: the only clock there is
    :raises InvalidDocument: an unknown flavor, level, placed member or host
    :raises UnknownPlugin: no such objective or solver is installed
    """
    whole = Deadline(timer, time_limit)
    deadline = whole.part(_FINDING)
    aim = load_objective(objective) if isinstance(objective, str) else (
        objective)
    backend = load_backend(solver, threads)
    snapshot = snapshot.without_servers(placed.values())
    bound = bind(group, snapshot)
    aim = aim.for_group(bound)
    try:
        found = _on_few(bound, snapshot, placed, aim, backend,
                        deadline.part(_FIRST), gap)
        if found is not None:
            return planned(found.case, aim, found.counts, found.bound,
                           Verdict.GOOD,
                           lambda: _seconds(whole, found.solving))
        case = Case.of(bound, snapshot, placed, deadline.check)
        blamed, room = narrowed(case, deadline.check)
    except OutOfTime as limit:
        return _unknown(bound, snapshot, whole, 0.0, limit)
    if blamed is not None:
        return _why_not(case, backend, whole, 0.0, blamed)
    search = Search(replace(case, room=room), aim, backend, deadline, gap)
    verdict = search.run(*talking(case, placed, aim, deadline))
    if verdict is Verdict.IMPOSSIBLE:
        return _why_not(case, backend, whole, search.solving)
    if search.best is None:
        return _unknown(bound, snapshot, whole, search.solving)
    return planned(case, aim, search.best, search.bound, verdict,
                   lambda: _seconds(whole, search.solving))


def _on_few(group: Group, snapshot: Snapshot, placed: Mapping[str, str],
            *how: object) -> Found | None:
    try:
        return large(group, snapshot, placed, *how)
    except OutOfTime:
        return None


def _why_not(case: Case, backend: Backend, deadline: Deadline,
             solving: float,
             blamed: Sequence[Carried] | None = None) -> Unplaceable:
    try:
        found = core(case, backend, deadline, blamed)
        told, minimal = reasons(found, deadline.check), found.minimal
    except OutOfTime:
        told, minimal = unsifted(case, blamed), False
    return Unplaceable(told, minimal, _seconds(deadline, solving))


def _unknown(group: Group, snapshot: Snapshot, deadline: Deadline,
             solving: float, limit: OutOfTime | None = None) -> Unknown:
    if isinstance(limit, TooLarge):
        return Unknown(
            f'{len(group.all_members())} members that differ in what they '
            f'ask for, on {len(snapshot.hosts)} hosts, are too many to be '
            f'written down', _seconds(deadline, solving))
    return Unknown(
        f'no plan for {len(group.all_members())} members on '
        f'{len(snapshot.hosts)} hosts was found within {deadline.limit:g} s, '
        f'and no proof that there is none', _seconds(deadline, solving))


def _seconds(deadline: Deadline, solving: float) -> FrozenMapping[str, float]:
    """Time by step; the snapshot was taken by the caller, who knows."""
    total = deadline.elapsed()
    return FrozenMapping({'snapshot': 0.0, 'build': total - solving,
                          'solve': solving, 'total': total})

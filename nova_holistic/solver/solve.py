# SPDX-License-Identifier: Apache-2.0
"""A group and a snapshot to a plan, or to reasons why there is none."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from nova_holistic.model.binding import bind
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.objective import Objective
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.model.snapshot import Snapshot
from nova_holistic.objectives import load_objective
from nova_holistic.solver.construct.joining import joined
from nova_holistic.solver.diagnosis.contradiction import narrowed
from nova_holistic.solver.diagnosis.core import core
from nova_holistic.solver.diagnosis.wording import reasons, unsifted
from nova_holistic.solver.large import large
from nova_holistic.solver.milp.backend import Backend, load_backend
from nova_holistic.solver.milp.search import Search
from nova_holistic.solver.observer import Answer, Observer, Question, report
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime, TooLarge
from nova_holistic.solver.problem.rules import Carried
from nova_holistic.solver.problem.verdict import Verdict
from nova_holistic.solver.processor import one_processor
from nova_holistic.solver.result import judged, planned
from nova_holistic.solver.settings import DEFAULT, Settings, Strategy
from nova_holistic.solver.traffic.traffic_plans import talking

_FINDING = 0.9
"""Share of the time limit for plan or proof; the rest is for judging the plan
and for reasons."""

_JOINING = 0.2
"""Share of that for joining those that stay, where few members do."""

_FIRST = 0.7
"""Share of what is left for a few chosen hosts, before all are looked at."""

_JOIN = (Strategy.AUTO, Strategy.INSERTION)
"""Strategies with which few members join those that stay without a program.
"""

_CHOOSE_HOSTS = (Strategy.AUTO, Strategy.INSERTION, Strategy.DECOMPOSED)
"""Strategies with which hosts are chosen first for a large group."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be planned, and what there is to do it.

    :ivar group: bound to the snapshot
    :ivar snapshot: whose servers are strangers to the group
    """

    group: Group
    snapshot: Snapshot
    placed: Mapping[str, str]
    aim: Objective
    backend: Backend
    gap: float
    deadline: Deadline
    strategy: Strategy


def solve(group: Group, snapshot: Snapshot, *,
          placed: Mapping[str, str] = FrozenMapping(),
          objective: str | Objective = 'spread', solver: str = 'highs',
          time_limit: float = 10.0, gap: float = 0.01,
          threads: int = 1,
          timer: Callable[[], float] = time.perf_counter,
          settings: Settings = DEFAULT,
          observer: Observer | None = None) -> Answer:
    """Where each member goes: preferences first, then the objective.

    :param placed: path to host name of members that stay where they are;
        their use and they themselves are counted in the snapshot already
    :param time_limit: wall-clock seconds for everything together
    :param gap: relative gap that is good enough, for groups too large to be
        solved to the end; small ones always are
    :param threads: that the solver may use; no answer depends on it
    :param timer: the only clock there is
    :param settings: how the plan is sought
    :param observer: called once with the question and the answer, beside the
        observers that are registered for all calls
    :raises InvalidDocument: an unknown flavor, level, placed member or host
    :raises UnknownPlugin: no such objective or solver is installed
    """
    deadline = Deadline(timer, time_limit)
    aim = load_objective(objective) if isinstance(objective, str) else (
        objective)
    backend = load_backend(solver, threads)
    reduced = snapshot.without_servers(placed.values())
    bound = bind(group, reduced)
    asked = _Asked(bound, reduced, placed, aim.for_group(bound), backend,
                   gap, deadline, settings.strategy)
    with one_processor():
        answer = _answer(asked, deadline.part(_FINDING))
    report(Question(bound, snapshot, FrozenMapping(placed), asked.aim),
           answer, observer)
    return answer


def _answer(asked: _Asked, deadline: Deadline) -> Answer:
    found = None
    if asked.strategy in _JOIN:
        found = _of_those_who_join(asked, deadline)
    if found is None and asked.strategy in _CHOOSE_HOSTS:
        found = _on_few(asked, deadline)
    return found or _on_all(asked, deadline)


def _of_those_who_join(asked: _Asked, deadline: Deadline) -> Plan | None:
    """A plan for few members beside others that stay, without a program."""
    try:
        found = joined(asked.group, asked.snapshot, asked.placed, asked.aim,
                       deadline.part(_JOINING), asked.gap,
                       always=asked.strategy is Strategy.INSERTION)
    except OutOfTime:
        return None
    return found and judged(
        asked.group, asked.snapshot, asked.aim, found.policies, found.where,
        asked.placed, found.bound, found.verdict,
        lambda: _seconds(asked.deadline, 0.0))


def _on_few(asked: _Asked, deadline: Deadline) -> Plan | None:
    """A plan for a large group on some of many hosts."""
    try:
        found = large(asked.group, asked.snapshot, asked.placed, asked.aim,
                      asked.backend, deadline.part(_FIRST), asked.gap,
                      deadline, always=asked.strategy is Strategy.DECOMPOSED)
    except OutOfTime:
        return None
    return found and planned(
        found.case, asked.aim, found.counts, found.bound, Verdict.GOOD,
        lambda: _seconds(asked.deadline, found.solving))


def _on_all(asked: _Asked, deadline: Deadline) -> Answer:
    """A plan, a proof that there is none, or neither."""
    whole = asked.deadline
    try:
        case = Case.of(asked.group, asked.snapshot, asked.placed,
                       deadline.check)
        blamed, room = narrowed(case, deadline.check)
    except OutOfTime as limit:
        return _unknown(asked, 0.0, limit)
    if blamed is not None:
        return _why_not(case, asked.backend, whole, 0.0, blamed)
    search = Search(replace(case, room=room), asked.aim, asked.backend,
                    deadline, asked.gap, asked.strategy)
    verdict = search.run(*talking(case, asked.placed, asked.aim, deadline))
    if verdict is Verdict.IMPOSSIBLE:
        return _why_not(case, asked.backend, whole, search.solving)
    if search.best is None:
        return _unknown(asked, search.solving)
    return planned(case, asked.aim, search.best, search.bound, verdict,
                   lambda: _seconds(whole, search.solving))


def _why_not(case: Case, backend: Backend, deadline: Deadline,
             solving: float,
             blamed: Sequence[Carried] | None = None) -> Unplaceable:
    try:
        found = core(case, backend, deadline, blamed)
        told, minimal = reasons(found, deadline.check), found.minimal
    except OutOfTime:
        told, minimal = unsifted(case, blamed), False
    return Unplaceable(told, minimal, _seconds(deadline, solving))


def _unknown(asked: _Asked, solving: float,
             limit: OutOfTime | None = None) -> Unknown:
    deadline, hosts = asked.deadline, len(asked.snapshot.hosts)
    members = len(asked.group.all_members())
    if isinstance(limit, TooLarge):
        return Unknown(
            f'{members} members that differ in what they ask for, on '
            f'{hosts} hosts, are too many to be written down',
            _seconds(deadline, solving))
    return Unknown(
        f'no plan for {members} members on {hosts} hosts was found within '
        f'{deadline.limit:g} s, and no proof that there is none',
        _seconds(deadline, solving))


def _seconds(deadline: Deadline, solving: float) -> FrozenMapping[str, float]:
    """Time by step; the snapshot was taken by the caller, who knows."""
    total = deadline.elapsed()
    return FrozenMapping({'snapshot': 0.0, 'build': total - solving,
                          'solve': solving, 'total': total})

# SPDX-License-Identifier: Apache-2.0
"""A group and a snapshot to a plan, or to reasons why there is none."""

import time
from collections.abc import Callable, Mapping, Sequence
import contextlib
from dataclasses import dataclass, replace

from nova_holistic.model.binding import bind
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.objective import Objective
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.model.snapshot import Snapshot
from nova_holistic.objectives import load_objective
from nova_holistic.solver.construct.first_plan import first_plan
from nova_holistic.solver.construct.joining import joined
from nova_holistic.solver.diagnosis.contradiction import propagated
from nova_holistic.solver.diagnosis.iis import find_iis
from nova_holistic.solver.diagnosis.wording import reasons, unreduced_reasons
from nova_holistic.solver.improve.search import improve
from nova_holistic.solver.large import large, relax
from nova_holistic.solver.limits.current import construct as construct_limits
from nova_holistic.solver.limits.current import limits as all_limits
from nova_holistic.solver.limits.current import phases as limits, using
from nova_holistic.solver.milp.backend import Backend, load_backend
from nova_holistic.solver.milp.search import Search
from nova_holistic.solver.observer import Answer, Observer, Question, report
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime, TooLarge
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.rows import Carried
from nova_holistic.solver.problem.verdict import Verdict
from nova_holistic.solver.processor import one_processor
from nova_holistic.solver.result import judged, Proof
from nova_holistic.solver.settings import DEFAULT, Settings, Strategy
from nova_holistic.solver.traffic.traffic_plans import traffic_start

_JOIN = (Strategy.AUTO, Strategy.INSERTION)
"""Strategies with which few members join those that stay without a program.
"""

_IMPROVE = (Strategy.AUTO, Strategy.INSERTION, Strategy.NEIGHBOURHOODS)
"""Strategies with which a plan is improved until it is good enough."""

_CHOOSE_HOSTS = (Strategy.AUTO, Strategy.INSERTION, Strategy.DECOMPOSED)
"""Strategies with which hosts are chosen first for a large group."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What there is to find a plan, and what is known so far."""

    incumbent: Incumbent
    backend: Backend
    deadline: Deadline
    settings: Settings

    @property
    def strategy(self) -> Strategy:
        return self.settings.strategy


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
    known = Incumbent(bound, reduced, placed, aim.for_group(bound), gap)
    with one_processor(), using(settings.limits or all_limits()):
        answer = _answer(_Asked(known, backend, deadline, settings),
                         deadline.part(limits().search_share))
    report(Question(bound, snapshot, FrozenMapping(placed), known.objective),
           answer, observer)
    return answer


def _answer(asked: _Asked, deadline: Deadline) -> Answer:
    """Every phase improves the incumbent; none begins where it is good."""
    known = asked.incumbent
    if asked.strategy in _JOIN:
        answer = _insert_members(asked, deadline)
        if answer is not None:
            return answer
    before, proof = known.where, None
    if asked.strategy is Strategy.NEIGHBOURHOODS:
        first_plan(known, deadline)
    if asked.strategy in _CHOOSE_HOSTS:
        _on_chosen_hosts(asked, deadline)
    on_all = known.where is before
    if on_all:
        proof = _on_all_hosts(asked, deadline)
    if proof is None and asked.strategy in _IMPROVE and (
            deadline.left() and not known.is_good_enough):
        with contextlib.suppress(OutOfTime):
            if on_all and _suits_patterns(known):
                large(known, asked.backend,
                      deadline.part(limits().decomposition_share),
                      always=True)
            elif not known.bound:
                relax(known, deadline.part(limits().relaxation_share))
        improve(known, asked.backend, deadline, asked.settings.improvement)
    return proof or _plan(asked)


def _insert_members(asked: _Asked, deadline: Deadline) -> Plan | None:
    """A plan for few members beside others that stay, without a program;
    None where others may find a better one."""
    known = asked.incumbent
    try:
        found = joined(known.group, known.snapshot, known.placed,
                       known.objective,
                       deadline.part(limits().insertion_share), known.gap,
                       always=asked.strategy is Strategy.INSERTION)
    except OutOfTime:
        return None
    if found is None:
        return None
    if not found.is_enough:
        known.offer(found.where)
        known.prove(found.bound, known.worth[0])
        return None
    return judged(
        known, found.where, Proof(found.bound, known.least, found.verdict),
        lambda: _seconds(asked.deadline, 0.0))


def _on_chosen_hosts(asked: _Asked, deadline: Deadline) -> None:
    """A plan for a large group on some of many hosts. Where there are
    many policies, it is constructed, and a relaxation gives the bound."""
    known, always = asked.incumbent, asked.strategy is Strategy.DECOMPOSED
    diverse = not always and _is_diverse(known)
    if diverse:
        first_plan(known, deadline.part(limits().chosen_hosts_share))
    elif not always and _different(known) > limits().coarse_from:
        with contextlib.suppress(OutOfTime):
            relax(known, deadline.part(limits().relaxation_share))
    with contextlib.suppress(OutOfTime):
        if not diverse or known.where is None:
            large(known, asked.backend,
                  deadline.part(limits().chosen_hosts_share), deadline,
                  always=always)
        elif known.objective.traffic():
            large(known, asked.backend,
                  deadline.part(limits().relaxation_share), always=True)
        elif _suits_patterns(known):
            large(known, asked.backend,
                  deadline.part(limits().chosen_hosts_share), deadline,
                  always=True)
        else:
            relax(known, deadline.part(limits().relaxation_share))


def _suits_patterns(known: Incumbent) -> bool:
    """Whether members differ so little that column generation is of use."""
    return _different(known) <= limits().pattern_kinds


def _different(known: Incumbent) -> int:
    """The number of different requirements."""
    # Most equal ones are one object, and it takes time to compare others.
    objects = {id(m.requirements): m.requirements for m in known.members}
    return len(set(objects.values()))


def _is_diverse(known: Incumbent) -> bool:
    """Whether the group has many policies, each for few members."""
    policies = len(known.policies)
    return (policies >= limits().diverse_policies
            and len(known.members) <= limits().members_per_policy * policies)


def _on_all_hosts(asked: _Asked,
                  deadline: Deadline) -> Unplaceable | Unknown | None:
    """All hosts in one program; the answer where that is no plan."""
    known, whole = asked.incumbent, asked.deadline
    improves = asked.strategy in _IMPROVE
    if known.where is None and (
            improves or len(known.snapshot.hosts)
            > construct_limits().all_hosts):
        first_plan(known, deadline.part(limits().first_plan_share))
    if improves and known.where is not None:
        # A search of neighbourhoods follows.
        deadline = deadline.part(limits().whole_share)
    try:
        case = known.whole_case(deadline.check)
        blamed, room = propagated(case, deadline.check)
    except OutOfTime as limit:
        return _unknown(asked, limit) if known.where is None else None
    if blamed is not None and known.where is None:
        return _unplaceable(case, asked.backend, whole, 0.0, blamed)
    search = Search(replace(case, room=room), known.objective, asked.backend,
                    deadline, known.gap, asked.strategy)
    verdict = search.run(
        *traffic_start(case, known.placed, known.objective, deadline),
        known.counts(case))
    known.solving += search.solving
    if verdict is Verdict.IMPOSSIBLE and known.where is None:
        return _unplaceable(case, asked.backend, whole, known.solving)
    if search.best is not None:
        known.offer(case.placement(search.best))
        known.prove(search.bound, search.worth[0])
        known.prove_least(search.least)
        if verdict is Verdict.BEST:
            known.prove_optimal(search.worth)
    return _unknown(asked) if known.where is None else None


def _plan(asked: _Asked) -> Plan:
    """The incumbent, with what is proved."""
    known = asked.incumbent
    return judged(
        known, known.where, Proof(known.bound, known.least, known.verdict),
        lambda: _seconds(asked.deadline, known.solving))


def _unplaceable(case: Case, backend: Backend, deadline: Deadline,
                 solving: float,
                 blamed: Sequence[Carried] | None = None) -> Unplaceable:
    try:
        found = find_iis(case, backend, deadline, blamed)
        told, minimal = reasons(found, deadline.check), found.minimal
    except OutOfTime:
        told, minimal = unreduced_reasons(case, blamed), False
    return Unplaceable(told, minimal, _seconds(deadline, solving))


def _unknown(asked: _Asked, limit: OutOfTime | None = None) -> Unknown:
    known, deadline = asked.incumbent, asked.deadline
    hosts, members = len(known.snapshot.hosts), len(known.members)
    if isinstance(limit, TooLarge):
        return Unknown(
            f'{members} members that differ in what they ask for, on '
            f'{hosts} hosts, are too many to be written down',
            _seconds(deadline, known.solving))
    return Unknown(
        f'no plan for {members} members on {hosts} hosts was found within '
        f'{deadline.limit:g} s, and no proof that there is none',
        _seconds(deadline, known.solving))


def _seconds(deadline: Deadline, solving: float) -> FrozenMapping[str, float]:
    """Time by step; the snapshot was taken by the caller, who knows."""
    total = deadline.elapsed()
    return FrozenMapping({'snapshot': 0.0, 'build': total - solving,
                          'solve': solving, 'total': total})

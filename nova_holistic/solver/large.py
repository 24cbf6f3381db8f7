# SPDX-License-Identifier: Apache-2.0
"""Large groups on large clouds: a few hosts are chosen first, by a relaxation
of the whole; only for these is everything written down.

A plan for the chosen hosts is a plan for the whole, and the relaxation's
bound is the whole's. That the chosen hosts have no plan proves nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.group import Group
from nova_holistic.model.objective import Objective, Outlay
from nova_holistic.model.snapshot import Snapshot
from nova_holistic.solver.apart import Apart
from nova_holistic.solver.assignment import assigned
from nova_holistic.solver.backend import Backend
from nova_holistic.solver.boarding import board, suits
from nova_holistic.solver.case import Case, Counts
from nova_holistic.solver.cells import Cells, cells
from nova_holistic.solver.columns import TINY
from nova_holistic.solver.deadline import Deadline, OutOfTime
from nova_holistic.solver.deal import deal
from nova_holistic.solver.generation import Generation
from nova_holistic.solver.greedy import fullest
from nova_holistic.solver.kinds import Kinds
from nova_holistic.solver.merged import Merged
from nova_holistic.solver.search import Search, Verdict
from nova_holistic.solver.seats import boarded, Seating, seating
from nova_holistic.solver.together import together
from nova_holistic.solver.ways import ways

LARGE = 5_000
"""Places from which on hosts are chosen first: each kind, and each group that
carries rules, on each host that it could use."""

FEW = 1_000
"""Hosts up to which many small groups are written down at once."""

WRITTEN = 10_000
"""Places up to which they are: each class of members, on each host."""

_SPARE = (0.0, 0.5, 1.0)
"""Hosts beside those that the relaxation uses, as shares of these, in turn."""

_ASSIGNING = 0.4
"""Share of the time that is left for giving seats away at once."""

_BEFORE = 2
"""Rounds of splitting before whole patterns are looked at, where they can be.
"""

_SHARE = 0.5
"""Share of the time limit after which the whole is looked at instead."""


@dataclass(frozen=True, slots=True)
class Found:
    """A plan on the hosts of a case, and what is proved of the whole."""

    case: Case
    counts: Counts
    bound: float | None
    solving: float


@dataclass(frozen=True, slots=True)
class _How:
    """What is asked, and what there is to answer it."""

    snapshot: Snapshot
    placed: Mapping[str, str]
    objective: Objective
    backend: Backend
    deadline: Deadline
    gap: float


def large(group: Group, snapshot: Snapshot, placed: Mapping[str, str],
          objective: Objective, backend: Backend, deadline: Deadline,
          gap: float) -> Found | None:
    """None where the group is not large, or no plan was found this way.

    :raises OutOfTime: before there was a plan
    """
    told = objective.outlay()
    # Few hosts are near each other, whatever else the objective asks for.
    outlay = told or Outlay(lambda free: free * 0 + 1.0)
    kinds = Kinds.of(group, snapshot, placed, deadline.check)
    if kinds is None or not kinds.kinds or (
            _size(kinds) <= LARGE or _scattered(kinds)) or (
            kinds.room.sum(axis=1) < kinds.numbers).any():
        return None
    traffic = objective.traffic()
    if traffic:
        near = together(kinds, traffic, snapshot, placed, objective, backend,
                        deadline, gap)
        if near is not None:
            return Found(near[0], near[1].best, near[1].bound,
                         near[1].solving)
    how = _How(snapshot, placed, objective, backend, deadline, gap)
    rules = cells(kinds, deadline.check)
    # Where costs rise with use, there are hosts enough in use.
    apart = Apart(kinds, rules) if outlay.slopes else Apart.of(kinds, rules)
    merged = Merged(apart.kinds, apart.cells, outlay, deadline)
    best: tuple[tuple[float, float], Found] | None = None
    if suits(apart.kinds, outlay, apart.cells, merged.columns):
        merged.run(_BEFORE)
        search, found = _patterned(apart, outlay, merged, how)
        if found is not None and search.preferred():
            return found
        best = found and (search.worth, found)
    merged.run()
    if merged.impossible or merged.bound is None:
        return best[1] if best else None
    return _chosen(apart, outlay, merged, how, best)


def _chosen(apart: Apart, outlay: Outlay, merged: Merged, how: _How,
            best: tuple[tuple[float, float], Found] | None) -> Found | None:
    """On hosts that the relaxation uses, and some more each time.

    :param best: known already, with what its preferences and it cost
    """
    told, deadline = how.objective.outlay() is not None, how.deadline
    if not told:
        merged.bound = None
    alike = not np.ptp(merged.columns.opening) > TINY
    # Where hosts cost alike, those that the relaxation uses are mostly best.
    for spare in _SPARE[0 if alike else 1:]:
        seats = seating(apart.kinds, apart.cells, outlay, merged, spare,
                        how.gap, deadline)
        if seats.taken is None and spare < _SPARE[-1]:
            continue
        try:
            search, found = _plan(apart, outlay, merged, how, seats)
        except OutOfTime:
            if best is None:
                raise
            break
        if found is not None and (best is None or search.worth < best[0]):
            best = search.worth, found
        if search.good_enough() or (
                deadline.elapsed() > _SHARE * deadline.limit):
            break
        if best is not None and (outlay.slopes or not told):
            # Other hosts would lead to the same seats.
            break
    return best[1] if best else None


def _patterned(apart: Apart, outlay: Outlay, merged: Merged,
               how: _How) -> tuple[Search | None, Found | None]:
    """By whole patterns of members on hosts: a better bound, better seats."""
    deadline = how.deadline
    if merged.impossible or merged.bound is None or (
            deadline.elapsed() > _SHARE * deadline.limit):
        return None, None
    generation = Generation(
        apart.kinds, apart.cells, outlay, merged, deadline, ways(
            apart.kinds, apart.cells, apart.families, merged.limit))
    told = how.objective.outlay() is not None
    whole = how.objective.integral and told
    taken = board(
        apart.kinds, apart.cells, generation, how.gap, whole,
        merged.limit) if generation.run(whole) else None
    merged.proved = generation.bound
    if taken is None:
        return None, None
    if not told:
        merged.bound = None
    return _plan(apart, outlay, merged, how, boarded(
        merged, *taken, bool(outlay.slopes)))


def _size(kinds: Kinds) -> int:
    ruled = sum(bool(scope.group.rules) for scope in kinds.group.scopes())
    return int((kinds.room > 0).sum()) + ruled * int(
        (kinds.room > 0).any(axis=0).sum())


def _scattered(kinds: Kinds) -> bool:
    """Whether it is large for its many groups alone, of which each could use
    few hosts; what the whole knows of these is lost to a choice of hosts."""
    open_to = (kinds.room > 0).sum(axis=1)
    kind_of = {m.path: k for k, kind in enumerate(kinds.kinds)
               for m in kind.members}
    under: dict[str, list[int]] = {path: [] for path in kind_of}
    for number, scope in enumerate(kinds.group.scopes()):
        for member in scope.members if scope.group.rules else ():
            if member.path in under:
                under[member.path].append(number)
    classes = {(kind_of[path], *numbers) for path, numbers in under.items()}
    hosts = len(kinds.table)
    places = sum(int(open_to[kind]) for kind, *_ in classes)
    return hosts <= FEW and places <= min(WRITTEN, len(classes) * hosts / 2)


def _plan(apart: Apart, outlay: Outlay, merged: Merged, how: _How,
          seats: Seating) -> tuple[Search, Found | None]:
    kinds, deadline = apart.kinds, how.deadline
    hosts = np.union1d(seats.hosts, np.array(
        [*kinds.placed.values()], dtype=np.int64))
    case = Case.of(kinds.group, how.snapshot, how.placed, deadline.check,
                   kinds.table.part(hosts))
    search = Search(case, how.objective, how.backend, deadline, how.gap)
    start = None
    if seats.taken is not None:
        start = _seated(case, apart.cells, outlay, seats, hosts,
                        merged.limit, deadline)
    verdict = search.improve(start, merged.least, merged.within)
    if verdict is Verdict.NOTHING or search.best is None:
        return search, None
    return search, Found(case, search.best, search.bound, search.solving)


def _seated(case: Case, rules: Cells, outlay: Outlay, seats: Seating,
            hosts: np.ndarray, limit: float,
            deadline: Deadline) -> Counts | None:
    """The seats as counts for the classes.

    Where rules tell members of one kind apart, dealing one seat after another
    mostly fails: then all of them are given away at once.
    """
    local = {int(h): n for n, h in enumerate(hosts)}
    taken = [{local[h]: n for h, n in here.items()} for here in seats.taken]
    parts = [rules.parts.of[c.members[0].path] for c in case.classes]
    kinds = [int(rules.parts.kind[part]) for part in parts]
    several = bool(rules.parts.slots)
    if several and not outlay.slopes:
        found = assigned(case, kinds, taken, _ASSIGNING * deadline.left())
        if found is not None:
            return found
    dealt = deal(case, kinds, taken, rules.of[hosts], fullest, deadline,
                 None, seats.shares, parts)
    # Where there are many hosts with few seats each, it mostly does not fail.
    if several and outlay.slopes and not _keeps(case, dealt, limit):
        return assigned(case, kinds, taken, _ASSIGNING * deadline.left()
                        ) or dealt
    return dealt


def _keeps(case: Case, counts: Counts | None, limit: float) -> bool:
    """Whether preferences cost no more than that."""
    return counts is not None and (
        case.preference_cost(case.placement(counts)) <= limit + TINY)

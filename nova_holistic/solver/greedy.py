# SPDX-License-Identifier: Apache-2.0
"""A first plan in milliseconds: one member after another, rules kept.

It may fail where a plan exists, and what it finds is not the best; it is a
start for the solver, and the answer where time runs out.
"""

from collections.abc import Callable, Mapping

import numpy as np

from nova_holistic.model.objective import Objective
from nova_holistic.solver.case import Case, Counts
from nova_holistic.solver.deadline import Deadline, OutOfTime
from nova_holistic.solver.tally import Tally

TRIES = 8
"""Restarts of one ordering of hosts, each with what failed put first."""


class Attempt:
    """One pass over all members."""

    def __init__(self, case: Case, score: Callable[['Attempt'], np.ndarray],
                 tally: Tally):
        self.case = case
        self._score = score
        self._names = sorted({n for c in case.classes for n, _ in c.demands})
        columns = [case.table.amounts(n) for n in self._names]
        shape = (len(self._names), len(case.table))
        self.free = np.array([a.free for a in columns],
                             dtype=np.int64).reshape(shape)
        self.capacity = np.maximum(np.array(
            [a.capacity for a in columns], dtype=np.int64).reshape(shape), 1)
        self.mine = np.zeros(len(case.table), dtype=bool)
        self.mine[list(case.placed.values())] = True
        self.tally = tally
        self.counts: Counts = tuple({} for _ in case.classes)

    def fullness(self) -> np.ndarray:
        """Mean utilisation of each host, of what the group asks for."""
        if not self._names:
            return np.zeros(len(self.mine))
        return 1 - np.mean(np.clip(self.free / self.capacity, 0, 1), axis=0)

    def run(self, order: list[int], avoid: Mapping[int, np.ndarray],
            in_time: Callable[[], None]) -> int | None:
        """Place everyone; the class that found no host, or None."""
        nobody = np.zeros(len(self.case.table))
        for c in order:
            for _ in self.case.classes[c].members:
                in_time()
                host = self.choose(c, avoid.get(c, nobody))
                if host is None:
                    return c
                self.put(c, host)
        return None

    def undo(self) -> None:
        """Take everyone out of the tally, which the next attempt uses."""
        for c, here in enumerate(self.counts):
            for host, number in here.items():
                for _ in range(number):
                    self.tally.remove(c, host)

    def _needs(self, c: int) -> np.ndarray:
        asked = dict(self.case.classes[c].demands)
        return np.array([asked.get(n, 0) for n in self._names],
                        dtype=np.int64)[:, None]

    def choose(self, c: int, avoid: np.ndarray) -> int | None:
        """The host that one more of the class may go to and is best at, by
        what is to be avoided, by cost, then by score."""
        needs = self._needs(c)
        allowed, cost = self.tally.verdict(c)
        allowed &= self.case.room[c] > 0
        # A class not asked for may be over-committed: that is no obstacle.
        allowed &= np.all((self.free >= needs) | (needs == 0), axis=0)
        hosts = np.flatnonzero(allowed)
        for worth in (avoid, cost, self._score(self)):
            if len(hosts) < 2:
                break
            here = worth[hosts]
            hosts = hosts[here <= here.min() + 1e-12]
        return int(hosts[0]) if len(hosts) else None

    def put(self, c: int, host: int) -> None:
        """One more of the class is on the host."""
        self.free[:, [host]] -= self._needs(c)
        self.mine[host] = True
        self.counts[c][host] = self.counts[c].get(host, 0) + 1
        self.tally.add(c, host)

    def take(self, c: int, host: int) -> None:
        """One less of the class is on the host."""
        self.free[:, [host]] += self._needs(c)
        self.counts[c][host] -= 1
        if not self.counts[c][host]:
            del self.counts[c][host]
        self.tally.remove(c, host)


def _emptiest(attempt: Attempt) -> np.ndarray:
    return attempt.fullness()


def fullest(attempt: Attempt) -> np.ndarray:
    """Hosts that the group uses first, then by what they have left."""
    return np.where(attempt.mine, -2.0, 0.0) - attempt.fullness()


def _largest(attempt: Attempt) -> np.ndarray:
    room = attempt.free / np.maximum(
        attempt.capacity.max(axis=1, keepdims=True), 1)
    if not len(room):
        return np.where(attempt.mine, -2.0, 0.0)
    return np.where(attempt.mine, -2.0, 0.0) - room.min(axis=0)


ORDERINGS = (_emptiest, fullest, _largest)


def greedy(case: Case, objective: Objective,
           deadline: Deadline) -> Counts | None:
    """The best of the plans that simple orderings of the hosts lead to.

    :raises OutOfTime: before there was one
    """
    best: tuple[tuple[float, float], Counts] | None = None
    placed = {m: case.table.hosts[h].name for m, h in case.placed.items()}
    tally = Tally(case, deadline.check)
    for ordering in ORDERINGS:
        if best is not None and deadline.left() == 0:
            break
        try:
            counts = _with_restarts(case, ordering, tally, deadline)
        except OutOfTime:
            if best is None:
                raise
            break
        if counts is None:
            continue
        placement = case.placement(counts)
        worth = (case.preference_cost(placement), objective.value(
            case.members, placement, placed, case.snapshot))
        if best is None or worth < best[0]:
            best = (worth, counts)
    return best[1] if best else None


def any_plan(case: Case, deadline: Deadline) -> Counts | None:
    """The first plan that one of the orderings leads to.

    :raises OutOfTime: before there was one
    """
    tally = Tally(case, deadline.check)
    for ordering in ORDERINGS:
        counts = _with_restarts(case, ordering, tally, deadline)
        if counts is not None:
            return counts
    return None


def _with_restarts(case: Case, ordering, tally: Tally,
                   deadline: Deadline) -> Counts | None:
    order = _hardest_first(case)
    avoid: dict[int, np.ndarray] = {}
    for _ in range(TRIES):
        if deadline.left() == 0:
            return None
        attempt = Attempt(case, ordering, tally)
        failed = attempt.run(order, avoid, deadline.check)
        reached = [] if failed is None else list(tally.reached(failed))
        attempt.undo()
        if failed is None:
            good = case.fits(attempt.counts) and not case.breaks_policy(
                case.placement(attempt.counts))
            return attempt.counts if good else None
        order.remove(failed)
        order.insert(0, failed)
        # What confined the class that failed is worth avoiding next time.
        near = [c for c, each in enumerate(case.classes)
                if each.scopes & case.classes[failed].scopes]
        far = sum(reached, np.zeros(len(case.table)))
        for c in near if far.any() else ():
            # Classes together share one array, as long as they have no other.
            avoid[c] = avoid[c] + far if c in avoid else far
    return None


def _hardest_first(case: Case) -> list[int]:
    """Classes by few hosts to choose from, then by size."""
    def size(c: int) -> float:
        return sum(
            amount / max(1, int(case.table.amounts(name).capacity.max()))
            for name, amount in case.classes[c].demands)

    return sorted(range(len(case.classes)), key=lambda c: (
        int((case.room[c] > 0).sum()) > len(case.table) // 2, -size(c), c))

# SPDX-License-Identifier: Apache-2.0
"""A first plan in milliseconds: one member after another, rules kept.

It may fail where a plan exists, and what it finds is not the best; it is a
start for the solver, and the answer where time runs out.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from nova_holistic.model.objective import Objective
from nova_holistic.solver.problem.case import Case, Counts
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.tally import Tally

TRIES = 48
"""Restarts of the first ordering of hosts, each with what failed put first.
In a nearly full cloud a dozen of them are needed for a plan of 200 members."""

_MORE = 6
"""Restarts of each further ordering, which go on with what was learned."""

_SHARE = 0.25
"""Share of the time left for the restarts of one ordering."""

_HOPELESS = 4
"""Failures of those placed first, after which no restart will help them."""


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

    def run(self, order: Sequence[int], avoid: Mapping[int, np.ndarray],
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

    def put_all(self, counts: Mapping[int, Mapping[int, int]]) -> None:
        """Members of some classes are where they are said to be."""
        for c, here in counts.items():
            for host, number in here.items():
                for _ in range(number):
                    self.put(c, host)

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


def greedy(case: Case, objective: Objective, deadline: Deadline,
           restarts: 'Restarts | None' = None) -> Counts | None:
    """The best of the plans that simple orderings of the hosts lead to.

    :param restarts: that learn from it what comes first another time
    :raises OutOfTime: before there was one
    """
    best: tuple[tuple[float, float], Counts] | None = None
    placed = {m: case.table.hosts[h].name for m, h in case.placed.items()}
    restarts = restarts or Restarts(case, deadline)
    for ordering in ORDERINGS:
        if best is not None and deadline.left() == 0:
            break
        try:
            counts = restarts.run(ordering)
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
    restarts = Restarts(case, deadline)
    for ordering in ORDERINGS:
        counts = restarts.run(ordering)
        if counts is not None:
            return counts
    return None


class Restarts:
    """Attempts, of which each learns from those before: who found no host is
    placed first, and those near it avoid what kept it out.

    :ivar firm: hosts of classes that have theirs before all others
    :ivar broken: where an attempt put everyone, and broke rules that cannot
        be kept member by member
    :ivar failures: how often each class found no host, in the latest run
    """

    def __init__(self, case: Case, deadline: Deadline):
        self.firm: dict[int, dict[int, int]] = {}
        self.broken: Counts | None = None
        self.failures: Counter[int] = Counter()
        self._case, self._deadline = case, deadline
        self._tally = Tally(case, deadline.check)
        self._order = _hardest_first(case)
        self._avoid: dict[int, np.ndarray] = {}
        self._tries = TRIES

    def run(self, ordering: Callable[[Attempt], np.ndarray],
            tries: int | None = None) -> Counts | None:
        """The first plan that attempts with the ordering end in.

        :param tries: None for many at first, and few later
        """
        tries, self._tries = tries or self._tries, _MORE
        self.failures.clear()
        first: Counter[int] = Counter()
        reserve = (1 - _SHARE) * self._deadline.left()
        for _ in range(tries):
            if self._deadline.left() <= reserve:
                return None
            order = [c for c in self._order if c not in self.firm]
            attempt = Attempt(self._case, ordering, self._tally)
            attempt.put_all(self.firm)
            failed = attempt.run(order, self._avoid, self._deadline.check)
            reached = [] if failed is None else list(
                self._tally.reached(failed))
            attempt.undo()
            if failed is None:
                return self._judged(attempt.counts)
            first[failed] += failed == order[0]
            if first[failed] >= _HOPELESS:
                return None
            self._learn(failed, reached)
        return None

    def _judged(self, counts: Counts) -> Counts | None:
        if self._case.fits(counts) and not self._case.breaks_policy(
                self._case.placement(counts)):
            return counts
        # Another ordering would most likely break the same.
        self.broken, self._tries = counts, 1
        return None

    def _learn(self, failed: int, reached: list[np.ndarray]) -> None:
        """
        :param reached: hosts near what the scopes of who failed used
        """
        case, avoid = self._case, self._avoid
        self.failures[failed] += 1
        self._order.remove(failed)
        self._order.insert(0, failed)
        # What confined the class that failed is worth avoiding next time.
        near = [c for c, each in enumerate(case.classes)
                if each.scopes & case.classes[failed].scopes]
        far = sum(reached, np.zeros(len(case.table)))
        for c in near if far.any() else ():
            # Classes together share one array, as long as they have no other.
            avoid[c] = avoid[c] + far if c in avoid else far


def _hardest_first(case: Case) -> list[int]:
    """Classes by few hosts to choose from, then by size."""
    def size(c: int) -> float:
        return sum(
            amount / max(1, int(case.table.amounts(name).capacity.max()))
            for name, amount in case.classes[c].demands)

    return sorted(range(len(case.classes)), key=lambda c: (
        int((case.room[c] > 0).sum()) > len(case.table) // 2, -size(c), c))

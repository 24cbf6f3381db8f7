# SPDX-License-Identifier: Apache-2.0
"""Places for kinds of members become places of members, under all rules.

Places are given in turn to the class with the most members left, so that
members of one class are far apart. Members without a place go wherever there
is room.
"""

from collections.abc import Callable, Mapping, Sequence
from collections import Counter

import numpy as np

from nova_holistic.solver.construct.attempt import Attempt
from nova_holistic.solver.construct.ejection_chain import eject
from nova_holistic.solver.evaluation.tally import Tally
from nova_holistic.solver.limits.current import construct as limits
from nova_holistic.solver.problem.case import Case, Counts
from nova_holistic.solver.problem.deadline import Deadline

KindCounts = Sequence[Mapping[int, int]]
"""For each kind: host index to number of its members."""


def disaggregate(case: Case, kind_of: Sequence[int], places: KindCounts,
                 cell: np.ndarray, score: Callable[[Attempt], np.ndarray],
                 deadline: Deadline, attempt: Attempt | None = None,
                 shares: np.ndarray | None = None,
                 part_of: Sequence[int] = ()) -> Counts | None:
    """Counts for the classes, or None where some member finds no place.

    :param kind_of: kind of each class
    :param cell: of each host; cells are filled at an even pace
    :param score: of hosts for who finds no place: the least is best
    :param attempt: with members who have their places already, where any
        others are as good for the rest as their places
    :param shares: [part, cell]: places in the cell for members of the part
    :param part_of: part of each class
    """
    anywhere = attempt is not None
    attempt = attempt or Attempt(case, score, Tally(case, deadline.check))
    left = [len(each.members) - sum(here.values())
            for each, here in zip(case.classes, attempt.counts)]
    of_kind: dict[int, list[int]] = {}
    for c, kind in enumerate(kind_of):
        of_kind.setdefault(kind, []).append(c)
    kept = _CellShares(shares, part_of, cell)
    free = _in_turn(places, cell, attempt.counts)
    for _ in range(limits().passes):
        before, free = len(free), _pass(
            attempt, of_kind, left, free, kept, deadline)
        if not free or len(free) == before:
            break
    for kind, host in free if not anywhere else ():
        deadline.check()
        if not _exchange_places(attempt, of_kind.get(kind, ()), left, host,
                                kept):
            _eject(attempt, of_kind, kind, left, host, kept)
    placed = _place_rest(attempt, left, kept, deadline)
    return attempt.counts if placed else None


class _CellShares:
    """How many more of each part are to have places in each cell."""

    def __init__(self, shares: np.ndarray | None, part_of: Sequence[int],
                 cell: np.ndarray):
        self._left = None if shares is None else shares.copy()
        self._part_of, self._cell = part_of, cell

    def allow(self, c: int, host: int) -> bool:
        return self._left is None or (
            self._left[self._part_of[c], self._cell[host]] > 0)

    def same_cell(self, host: int, other: int) -> bool:
        """Whether it makes no difference to any part."""
        return self._left is None or self._cell[host] == self._cell[other]

    def take(self, c: int, host: int) -> None:
        if self._left is not None:
            self._left[self._part_of[c], self._cell[host]] -= 1

    def elsewhere(self, c: int) -> np.ndarray:
        """1 for hosts in cells where the class has had its share."""
        if self._left is None:
            return np.zeros(len(self._cell))
        return (self._left[self._part_of[c]] <= 0)[self._cell] * 1.0


def _place_rest(attempt: Attempt, left: Sequence[int], kept: '_CellShares',
                deadline: Deadline) -> bool:
    """Put those without a place where they are best; whether that is possible.
    """
    for c, number in enumerate(left):
        for _ in range(number):
            deadline.check()
            host = attempt.choose(c, kept.elsewhere(c))
            if host is None:
                return False
            attempt.put(c, host)
            kept.take(c, host)
    return True


def _pass(attempt: Attempt, of_kind: Mapping[int, Sequence[int]],
          left: list[int], free: Sequence[tuple[int, int]],
          kept: '_CellShares', deadline: Deadline) -> list[tuple[int, int]]:
    """Offer each free place once; those that nobody could take."""
    rest: list[tuple[int, int]] = []
    elsewhere: list[float] = []
    for number, (kind, host) in enumerate(free):
        if number % limits().places_per_update == 0:
            deadline.check()
            elsewhere = [_mean_cost(attempt.tally, c, bool(left[c]))
                         for c in range(len(left))]
        c = _assign(attempt, [c for c in of_kind.get(kind, ()) if kept.allow(
            c, host)], left, host, elsewhere)
        if c is None:
            rest.append((kind, host))
        else:
            kept.take(c, host)
    return rest


def _exchange_places(attempt: Attempt, classes: Sequence[int], left: list[int],
                     host: int, kept: '_CellShares') -> bool:
    """Give the place to one who leaves another to a class that may not have
    this one; whether that is possible."""
    for c in classes:
        if not left[c] or not kept.allow(c, host):
            continue
        for other in classes:
            for there in [*attempt.counts[other]] if other != c else ():
                if kept.same_cell(there, host) and _exchange(
                        attempt, other, there, host, c):
                    left[c] -= 1
                    kept.take(c, host)
                    return True
    return False


def _eject(attempt: Attempt, of_kind: Mapping[int, Sequence[int]],
           kind: int, left: list[int], host: int,
           kept: '_CellShares') -> None:
    """Give the place to one whom others of the host keep out, if they can."""
    for c in of_kind.get(kind, ()):
        if not left[c] or not kept.allow(c, host) or (
                attempt.counts[c].get(host, 0) >= attempt.case.room[c, host]):
            continue
        if eject(attempt, of_kind, c, host, kept.same_cell):
            left[c] -= 1
            kept.take(c, host)
            return


def _exchange(attempt: Attempt, other: int, there: int, host: int,
              c: int) -> bool:
    """Move one of the other class from ``there`` to the host, and put one of
    the class in its place; back again where a rule does not let them."""
    room = attempt.case.room
    if attempt.counts[c].get(there, 0) >= room[c, there] or (
            attempt.counts[other].get(host, 0) >= room[other, host]):
        return False
    attempt.take(other, there)
    if attempt.tally.at(other, host)[0]:
        attempt.put(other, host)
        if attempt.tally.at(c, there)[0]:
            attempt.put(c, there)
            return True
        attempt.take(other, host)
    attempt.put(other, there)
    return False


def _mean_cost(tally: Tally, c: int, waiting: bool) -> float:
    """What one more of the class costs on an average host; a host that it
    may not go to counts as dear."""
    if not waiting:
        return 0.0
    allowed, cost = tally.verdict(c)
    return float(cost.mean()) + int(4 * (1 - allowed.mean())) / 4


def _assign(attempt: Attempt, classes: Sequence[int], left: list[int],
            host: int, elsewhere: Sequence[float]) -> int | None:
    """Give the place to a class that may have it; to which."""
    best = None
    for c in classes:
        if not left[c] or attempt.counts[c].get(host, 0) >= (
                attempt.case.room[c, host]):
            continue
        allowed, cost = attempt.tally.at(c, host)
        if not allowed:
            continue
        # Who would be worse off elsewhere; else who has most members left,
        # but who keeps others out stays together.
        rest = left[c] / len(attempt.case.classes[c].members)
        worth = (round(cost - elsewhere[c], 6),
                 limits().exclusion_weight * attempt.tally.excludes(c, host)
                 - rest)
        if best is None or worth < best[0]:
            best = worth, c
    if best is None:
        return None
    left[best[1]] -= 1
    attempt.put(best[1], host)
    return best[1]


def _in_turn(places: KindCounts, cell: np.ndarray,
             counts: Counts) -> list[tuple[int, int]]:
    """(kind, host) of each place, all cells from first to last at one pace,
    those who have their places counted in."""
    by_cell: dict[int, list[tuple[int, int]]] = {}
    total: dict[int, int] = {}
    for here in places:
        for host, number in here.items():
            total[host] = total.get(host, 0) + number
    # Hosts with most places come first, while every class may use them.
    hosts = sorted(total, key=lambda host: (-total[host], host))
    for host in hosts:
        for kind, here in enumerate(places):
            by_cell.setdefault(int(cell[host]), []).extend(
                [(kind, host)] * here.get(host, 0))
    there: Counter[int] = Counter()
    for here in counts:
        for host, number in here.items():
            there[int(cell[host])] += number
    order = [((there[c] + number + 0.5) / (there[c] + len(mine)), c, number)
             for c, mine in by_cell.items() for number in range(len(mine))]
    return [by_cell[c][number] for _, c, number in sorted(order)]

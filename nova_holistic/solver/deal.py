# SPDX-License-Identifier: Apache-2.0
"""Places for kinds of members become places of members, under all rules.

Seats are dealt in turn to the class that has most members left, so that
members of one class come to sit far apart; who finds no seat goes wherever
there is room.
"""

from collections.abc import Callable, Mapping, Sequence
from collections import Counter

import numpy as np

from nova_holistic.solver.case import Case, Counts
from nova_holistic.solver.deadline import Deadline
from nova_holistic.solver.greedy import Attempt
from nova_holistic.solver.tally import Tally

_PASSES = 4
_TOGETHER = 0.3
_LOOK_AROUND = 40
"""Seats between two looks at all hosts."""

Seats = Sequence[Mapping[int, int]]
"""For each kind: host index to number of its members."""


def deal(case: Case, kind_of: Sequence[int], seats: Seats, cell: np.ndarray,
         score: Callable[[Attempt], np.ndarray], deadline: Deadline,
         attempt: Attempt | None = None) -> Counts | None:
    """Counts for the classes, or None where some member finds no place.

    :param kind_of: kind of each class
    :param cell: of each host; cells are filled at an even pace
    :param score: of hosts for who finds no seat: the least is best
    :param attempt: with members who have their places already, where any
        others are as good for the rest as their seats
    """
    anywhere = attempt is not None
    attempt = attempt or Attempt(case, score, Tally(case, deadline.check))
    left = [len(each.members) - sum(here.values())
            for each, here in zip(case.classes, attempt.counts)]
    of_kind: dict[int, list[int]] = {}
    for c, kind in enumerate(kind_of):
        of_kind.setdefault(kind, []).append(c)
    free = _in_turn(seats, cell, attempt.counts)
    for _ in range(_PASSES):
        before, free = len(free), _pass(attempt, of_kind, left, free, deadline)
        if not free or len(free) == before:
            break
    for kind, host in free if not anywhere else ():
        _make_room(attempt, of_kind.get(kind, ()), left, host)
    nobody = np.zeros(len(case.table))
    for c, number in enumerate(left):
        for _ in range(number):
            deadline.check()
            host = attempt.choose(c, nobody)
            if host is None:
                return None
            attempt.put(c, host)
    return attempt.counts


def _pass(attempt: Attempt, of_kind: Mapping[int, Sequence[int]],
          left: list[int], free: Sequence[tuple[int, int]],
          deadline: Deadline) -> list[tuple[int, int]]:
    """Offer each free seat once; those that nobody could take."""
    rest: list[tuple[int, int]] = []
    elsewhere: list[float] = []
    for number, (kind, host) in enumerate(free):
        if number % _LOOK_AROUND == 0:
            deadline.check()
            elsewhere = [_elsewhere(attempt.tally, c, bool(left[c]))
                         for c in range(len(left))]
        if not _sit(attempt, of_kind.get(kind, ()), left, host, elsewhere):
            rest.append((kind, host))
    return rest


def _make_room(attempt: Attempt, classes: Sequence[int], left: list[int],
               host: int) -> bool:
    """Give the seat to one who leaves another to a class that may not have
    this one; whether that is possible."""
    for c in classes:
        if not left[c]:
            continue
        for other in classes:
            for there in [*attempt.counts[other]] if other != c else ():
                if _exchange(attempt, other, there, host, c):
                    left[c] -= 1
                    return True
    return False


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


def _elsewhere(tally: Tally, c: int, waiting: bool) -> float:
    """What one more of the class costs on an average host; a host that it
    may not go to counts as dear."""
    if not waiting:
        return 0.0
    allowed, cost = tally.verdict(c)
    return float(cost.mean()) + int(4 * (1 - allowed.mean())) / 4


def _sit(attempt: Attempt, classes: Sequence[int], left: list[int],
         host: int, elsewhere: Sequence[float]) -> bool:
    """Give the seat to a class that may have it; whether one does."""
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
                 _TOGETHER * attempt.tally.settles(c, host) - rest)
        if best is None or worth < best[0]:
            best = worth, c
    if best is None:
        return False
    left[best[1]] -= 1
    attempt.put(best[1], host)
    return True


def _in_turn(seats: Seats, cell: np.ndarray,
             counts: Counts) -> list[tuple[int, int]]:
    """(kind, host) of each seat, all cells from first to last at one pace,
    those who have their places counted in."""
    by_cell: dict[int, list[tuple[int, int]]] = {}
    hosts = sorted({host for here in seats for host in here})
    for host in hosts:
        for kind, here in enumerate(seats):
            by_cell.setdefault(int(cell[host]), []).extend(
                [(kind, host)] * here.get(host, 0))
    there: Counter[int] = Counter()
    for here in counts:
        for host, number in here.items():
            there[int(cell[host])] += number
    order = [((there[c] + number + 0.5) / (there[c] + len(mine)), c, number)
             for c, mine in by_cell.items() for number in range(len(mine))]
    return [by_cell[c][number] for _, c, number in sorted(order)]

# SPDX-License-Identifier: Apache-2.0
"""Disaggregation: the assignment of the places of kinds of members to member
classes, under all rules.

Of equally good classes, the class with the largest share of remaining members
gets a place, so that the members of each class are spread over the hosts.
Members without a place are placed on any host with room.
"""

from collections.abc import Mapping, Sequence
from collections import Counter
import contextlib
from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.construct.attempt import Attempt, fullest
from nova_holistic.solver.evaluation.rule_counts import RuleCounts
from nova_holistic.solver.limits.current import construct as limits, phases
from nova_holistic.solver.problem.case import Case, Counts
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime

KindCounts = Sequence[Mapping[int, int]]
"""For each kind: host index to the number of its members."""


@dataclass(frozen=True, slots=True, eq=False)
class KindPlaces:
    """Places for members of each kind, which classes of the kind can use.

    :ivar kind_of: kind of each class
    :ivar counts: number of places of each kind on each host
    :ivar cell: cell of each host; cells are filled at an even pace
    :ivar shares: [part, cell]: places in the cell for members of the part;
        None if every member of a kind can use them
    :ivar part_of: part of each class
    """

    kind_of: Sequence[int]
    counts: KindCounts
    cell: np.ndarray
    shares: np.ndarray | None = None
    part_of: Sequence[int] = ()


def disaggregate(case: Case, places: KindPlaces, deadline: Deadline,
                 attempt: Attempt | None = None) -> Counts | None:
    """Counts for the classes; None if some member has no possible host.

    Members without a place get the fullest possible hosts.

    :param attempt: an attempt in which some members are already placed; the
        remaining members may then use other hosts than the places
    """
    anywhere = attempt is not None
    attempt = attempt or Attempt(case, fullest,
                                 RuleCounts(case, deadline.check))
    left = [len(each.members) - sum(host_counts.values())
            for each, host_counts in zip(case.classes, attempt.counts)]
    of_kind: dict[int, list[int]] = {}
    for c, kind in enumerate(places.kind_of):
        of_kind.setdefault(kind, []).append(c)
    kept = _CellShares(places)
    free = _interleaved_places(places, attempt.counts)
    for _ in range(limits().passes):
        before, free = len(free), _pass(
            attempt, of_kind, left, free, kept, deadline)
        if not free or len(free) == before:
            break
    if not anywhere:
        with contextlib.suppress(OutOfTime):
            _Exchanges(attempt, of_kind, left, kept, deadline.part(
                phases().attempt_share)).run(free)
    placed = _place_rest(attempt, left, kept, deadline)
    return attempt.counts if placed else None


class _CellShares:
    """The number of further members of each part in each cell."""

    def __init__(self, places: KindPlaces):
        self._left = None if places.shares is None else places.shares.copy()
        self._part_of, self._cell = places.part_of, places.cell

    def allow(self, c: int, host: int) -> bool:
        """Whether the part of the class has a share left in the host's cell.
        """
        return self._left is None or (
            self._left[self._part_of[c], self._cell[host]] > 0)

    def same_cell(self, host: int, other: int) -> bool:
        """Whether the hosts are in one cell, or no shares are given."""
        return self._left is None or self._cell[host] == self._cell[other]

    def take(self, c: int, host: int) -> None:
        """Reduce the share of the class's part in the host's cell by one."""
        if self._left is not None:
            self._left[self._part_of[c], self._cell[host]] -= 1

    def exhausted_cells(self, c: int) -> np.ndarray:
        """[host]: 1 in cells where the part of the class has used its share,
        else 0."""
        if self._left is None:
            return np.zeros(len(self._cell))
        return (self._left[self._part_of[c]] <= 0)[self._cell] * 1.0


def _place_rest(attempt: Attempt, left: Sequence[int], kept: '_CellShares',
                deadline: Deadline) -> bool:
    """Place the remaining members on their best hosts; return whether this is
    possible."""
    waiting = Counter({c: number for c, number in enumerate(left) if number})
    while waiting:
        deadline.check()
        found = attempt.first_possible(waiting, kept.exhausted_cells)
        if found is None:
            return False
        attempt.put(*found)
        kept.take(*found)
        waiting[found[0]] -= 1
        waiting += Counter()
    return True


def _pass(attempt: Attempt, of_kind: Mapping[int, Sequence[int]],
          left: list[int], free: Sequence[tuple[int, int]],
          kept: '_CellShares', deadline: Deadline) -> list[tuple[int, int]]:
    """Offer each free place once; return the places that no class took."""
    rest: list[tuple[int, int]] = []
    mean_costs = [_mean_cost(attempt.rule_counts, c, bool(number))
                  for c, number in enumerate(left)]
    for kind, host in free:
        deadline.check()
        c = _assign(attempt, [c for c in of_kind.get(kind, ()) if kept.allow(
            c, host)], left, host, mean_costs)
        if c is None:
            rest.append((kind, host))
        else:
            kept.take(c, host)
    return rest


@dataclass(frozen=True, slots=True, eq=False)
class _Exchanges:
    """Exchanges of places, so that members without a place get free places
    that the rules permit only to other members.

    :ivar of_kind: classes of each kind
    :ivar left: members of each class without a place
    """

    attempt: Attempt
    of_kind: Mapping[int, Sequence[int]]
    left: list[int]
    kept: _CellShares
    deadline: Deadline

    def run(self, free: Sequence[tuple[int, int]]) -> None:
        """Exchange members for each free place.

        :raises OutOfTime: if the time ends before; the exchanges that were
            made remain
        """
        failed: set[tuple[int, int]] = set()
        for place in free:
            # Without an exchange in between, an equal place fails again.
            if place in failed:
                continue
            if self._succeeds(*place):
                failed.clear()
            else:
                failed.add(place)

    def _succeeds(self, kind: int, host: int) -> bool:
        """Move a member of another class to the host, and put a member of a
        class of the kind in its previous place, if this is possible."""
        classes = self.of_kind.get(kind, ())
        for c in classes:
            if not self.left[c] or not self.kept.allow(c, host):
                continue
            for other in classes:
                self.deadline.check()
                if other != c and self._takes_place(other, host, c):
                    self.left[c] -= 1
                    self.kept.take(c, host)
                    return True
        return False

    def _takes_place(self, other: int, host: int, c: int) -> bool:
        """Whether a member of the class has taken the place of one of the
        other class, which is on the host now."""
        return any(
            self.kept.same_cell(there, host)
            and _exchange(self.attempt, other, there, host, c)
            for there in [*self.attempt.counts[other]])


def _exchange(attempt: Attempt, other: int, there: int, host: int,
              c: int) -> bool:
    """Move a member of the other class from ``there`` to the host, and put a
    member of the class in its place; undo the move if a rule forbids it."""
    room = attempt.case.room
    if attempt.counts[c].get(there, 0) >= room[c, there] or (
            attempt.counts[other].get(host, 0) >= room[other, host]):
        return False
    attempt.take(other, there)
    if attempt.rule_counts.at(other, host)[0]:
        attempt.put(other, host)
        if attempt.rule_counts.at(c, there)[0]:
            attempt.put(c, there)
            return True
        attempt.take(other, host)
    attempt.put(other, there)
    return False


def _mean_cost(rule_counts: RuleCounts, c: int, waiting: bool) -> float:
    """The mean cost of one more member of the class, with a surcharge for the
    share of hosts that the rules forbid."""
    if not waiting:
        return 0.0
    allowed, cost = rule_counts.allowed_hosts(c)
    return float(cost.mean()) + int(4 * (1 - allowed.mean())) / 4


def _assign(attempt: Attempt, classes: Sequence[int], left: list[int],
            host: int, mean_costs: Sequence[float]) -> int | None:
    """Give the place to the best class that the rules allow, and return the
    class; None if they allow no class."""
    best = None
    for c in classes:
        if not left[c] or attempt.counts[c].get(host, 0) >= (
                attempt.case.room[c, host]):
            continue
        allowed, cost = attempt.rule_counts.at(c, host)
        if not allowed:
            continue
        # Prefer the class with the highest cost on other hosts, compared with
        # the cost here, then the class with the largest share of remaining
        # members.
        rest = left[c] / len(attempt.case.classes[c].members)
        order_key = round(cost - mean_costs[c], 6), -rest
        if best is None or order_key < best[0]:
            best = order_key, c
    if best is None:
        return None
    left[best[1]] -= 1
    attempt.put(best[1], host)
    return best[1]


def _interleaved_places(places: KindPlaces,
                        counts: Counts) -> list[tuple[int, int]]:
    """(kind, host) of each place. All cells are filled at the same pace, which
    includes the members that are already placed."""
    cell = places.cell
    by_cell: dict[int, list[tuple[int, int]]] = {}
    total: dict[int, int] = {}
    for host_counts in places.counts:
        for host, number in host_counts.items():
            total[host] = total.get(host, 0) + number
    # Hosts with many places come first, when every class may still use them.
    hosts = sorted(total, key=lambda host: (-total[host], host))
    for host in hosts:
        for kind, host_counts in enumerate(places.counts):
            by_cell.setdefault(int(cell[host]), []).extend(
                [(kind, host)] * host_counts.get(host, 0))
    placed: Counter[int] = Counter()
    for host_counts in counts:
        for host, number in host_counts.items():
            placed[int(cell[host])] += number
    order = [((placed[c] + n + 0.5) / (placed[c] + len(free)), c, n)
             for c, free in by_cell.items() for n in range(len(free))]
    return [by_cell[c][number] for _, c, number in sorted(order)]

# SPDX-License-Identifier: Apache-2.0
"""Whole hosts with patterns, from a program that shares them in fractions.

What the program settles for in whole numbers is fixed, and of the rest the
largest fraction; then patterns are sought for who is left, no larger than
what they need, and the program is solved again, until all is whole: a dive.
Where the result is not good enough, some of it is given up and dived for
again.
"""

from dataclasses import dataclass
import itertools
import math

import numpy as np

from nova_holistic.solver.column_generation.generation import ColumnGeneration
from nova_holistic.solver.limits.current import column_generation as limits
from nova_holistic.solver.problem.tolerances import INTEGRALITY


@dataclass(frozen=True, slots=True, eq=False)
class DiveResult:
    """Where a dive ended.

    :ivar unplaced: members who have no place
    :ivar value: with penalties of these
    :ivar hosts: number of them that carry each pattern, by its number
    """

    unplaced: int
    value: float
    hosts: dict[int, int]

    @property
    def worth(self) -> tuple[int, float]:
        """Least is best: who has no place now needs one later, at any cost.
        """
        return self.unplaced, self.value


class Dive:
    """Dives into a generation's master program.

    :param goal: a value that is good enough
    :param fallback_goal: one that is, where some tries did not lead to
        the other
    :param integral: whether values are whole numbers
    """

    def __init__(self, generation: ColumnGeneration, goal: float,
                 fallback_goal: float, integral: bool):
        self._master = generation.master
        self._pricing = generation.pricing
        self._generation = generation
        self._goal = goal * (1 + INTEGRALITY)
        self._fallback_goal = fallback_goal * (1 + INTEGRALITY)
        self._integral = integral
        # What a dive must lead to less than.
        self._cutoff = float('inf')
        self._numbers = generation.numbers
        self._integral_part: dict[int, int] = {}
        self._always_prices = False

    def run(self) -> DiveResult | None:
        """The best of some dives, or what can be had of the last program that
        there was time for; None where there was none."""
        prices = self._generation.prices
        self._master.penalise(np.full(len(prices), limits().dive_penalty
                                      * prices.max()))
        best = self._dive({})
        if best is None:
            return self._rounded()
        integral_part, self._always_prices = self._integral_part, True
        last = (limits().integral_goal_dives if self._integral
                else limits().goal_dives)
        for number in range(limits().dives):
            if best.worth <= (0, (
                    self._goal if number < last else self._fallback_goal)):
                break
            if not best.unplaced:
                self._cutoff = best.value + INTEGRALITY - self._integral
            # What was whole from the start, but for every so manieth.
            known = sorted(set(best.hosts) & set(integral_part))
            parts = max(2, limits().dive_parts - number // limits().dive_parts)
            found = self._dive({
                column: best.hosts[column]
                for place, column in enumerate(known)
                if place % parts != number % parts})
            if found is None:
                break
            if found.worth < best.worth:
                best = found
        return best

    def _dive(self, fixed: dict[int, int]) -> DiveResult | None:
        share, first = None, True
        while True:
            most = self._needed(fixed, share)
            if not self._price(fixed, most):
                return None
            if not first and self._master.value > self._cutoff:
                # Nothing better comes of it.
                return DiveResult(len(self._numbers), float('inf'), {})
            share = self._master.share
            whole = np.floor(self._master.used + INTEGRALITY).astype(np.int64)
            for column in np.flatnonzero(whole).tolist():
                fixed[column] = max(fixed.get(column, 0), int(whole[column]))
            if first:
                self._integral_part, first = dict(fixed), False
            rest = self._master.used - whole
            largest = int(np.argmax(rest))
            if rest[largest] < INTEGRALITY:
                return DiveResult(round(self._master.unplaced),
                                  self._master.value, fixed)
            fixed[largest] = int(whole[largest]) + 1

    def _rounded(self) -> DiveResult | None:
        """Hosts in use, wholly or in part, and others while they are needed.
        """
        master = self._master
        if not len(master.used):
            return None
        hosts: dict[int, int] = {}
        free = dict(enumerate(self._generation.host_types.numbers.tolist()))
        needed = np.ceil(master.share - INTEGRALITY).astype(np.int64)
        order = np.argsort(-master.used, kind='stable').tolist()
        for column, most in itertools.chain(
                ((c, math.ceil(master.used[c] - INTEGRALITY)) for c in order),
                ((c, free[master.types[c]]) for c in order)):
            type_, pattern = master.types[column], master.patterns[column]
            cell = self._generation.host_types.cell[type_]
            for _ in range(min(free[type_], most)):
                if not ((pattern > 0) & (needed[:, cell] > 0)).any():
                    break
                hosts[column] = hosts.get(column, 0) + 1
                free[type_] -= 1
                needed[:, cell] -= pattern
        return DiveResult(int(np.maximum(needed, 0).sum()), master.value,
                          hosts)

    def _needed(self, fixed: dict[int, int],
                share: np.ndarray | None) -> np.ndarray | None:
        """Members of each kind that what is fixed has no place for."""
        if not fixed:
            return None
        places = self._master.places(fixed)
        if share is None:
            share = places
        return np.ceil(np.maximum(
            self._numbers - np.minimum(places, share).sum(axis=1), 0)
            - INTEGRALITY).astype(np.int64)

    def _price(self, fixed: dict[int, int], most: np.ndarray | None) -> bool:
        """Settle, with new patterns; whether there was time for it."""
        master = self._master
        if most is not None:
            self._add_smaller(fixed, most)
        for number in range(limits().dive_all_rounds):
            master.fix(fixed, most)
            if self._generation.is_late() or not master.solve(
                    self._generation.deadline.left()):
                return False
            # Mostly what is known is enough for a first dive.
            if number + 1 == limits().dive_all_rounds or (
                    master.unplaced < INTEGRALITY and (
                        number >= limits().dive_rounds
                        or not self._always_prices
                        and master.value <= self._goal)):
                break
            prices, _ = master.prices(master.duals)
            gains = self._pricing(prices, most, limits().dive_types)
            rank = np.argsort(-gains.known,
                              kind='stable')[:limits().dive_columns]
            rank = rank[gains.known[rank] > 0]
            if not master.add(rank, gains.patterns[rank]):
                break
        return True

    def _add_smaller(self, fixed: dict[int, int], most: np.ndarray) -> None:
        """Of patterns that are too large and in use, what is needed."""
        master = self._master
        large = [column for column in np.flatnonzero(
            master.used > INTEGRALITY).tolist() if column not in fixed
            and (master.patterns[column] > most).any()]
        cut = np.array([np.minimum(master.patterns[column], most)
                        for column in large]).reshape(-1, len(most))
        some = cut.any(axis=1)
        if some.any():
            master.add(np.array(
                [master.types[column] for column in large])[some], cut[some])

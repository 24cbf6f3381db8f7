# SPDX-License-Identifier: Apache-2.0
"""Whole hosts with patterns, from a program with fractional hosts.

A dive fixes the integral variables of the solution and rounds up the largest
fraction. Then it prices patterns that contain at most the remaining members,
and solves the program again, until all variables are integral. If the result
is not good enough, a part of it is released, and the dive is repeated for this
part.
"""

from dataclasses import dataclass
import itertools
import math

import numpy as np

from nova_holistic.solver.column_generation.generation import ColumnGeneration
from nova_holistic.solver.limits.current import column_generation as limits
from nova_holistic.solver.numerics.tolerances import INTEGRALITY


@dataclass(frozen=True, slots=True, eq=False)
class DiveResult:
    """Result of a dive.

    :ivar unplaced: number of members without a place
    :ivar value: cost, including the penalties of unplaced members
    :ivar hosts: number of hosts that carry each pattern, by its number
    """

    unplaced: int
    value: float
    hosts: dict[int, int]

    @property
    def sort_key(self) -> tuple[int, float]:
        """Key to compare results: the smaller, the better. Unplaced members
        come first because they need a place later at any cost."""
        return self.unplaced, self.value


class Dive:
    """Dives on the master program of a column generation.

    :param goal: a value that is good enough
    :param fallback_goal: a value that is good enough if some dives did not
        reach the goal
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
        # A dive stops when its value exceeds this cutoff.
        self._cutoff = float('inf')
        self._numbers = generation.numbers
        self._integral_part: dict[int, int] = {}
        self._always_prices = False

    def run(self) -> DiveResult | None:
        """Return the best result of several dives. If the time limit
        interrupts the first dive, round the last solution; None if no solution
        exists."""
        prices = self._generation.prices
        self._master.penalise(np.full(len(prices), limits().dive_penalty
                                      * prices.max()))
        best = self._dive({})
        if best is None:
            return self._rounded()
        integral_part, self._always_prices = self._integral_part, True
        for number in range(limits().dives):
            if best.sort_key <= (0, (
                    self._goal if number < limits().goal_dives
                    else self._fallback_goal)):
                break
            if not best.unplaced:
                self._cutoff = best.value + INTEGRALITY - self._integral
            # Keep most columns that were integral from the start. Every
            # parts-th column is released.
            known = sorted(set(best.hosts) & set(integral_part))
            parts = max(2, limits().dive_parts - number // limits().dive_parts)
            found = self._dive({
                column: best.hosts[column]
                for place, column in enumerate(known)
                if place % parts != number % parts})
            if found is None:
                break
            if found.sort_key < best.sort_key:
                best = found
        return best

    def _dive(self, fixed: dict[int, int]) -> DiveResult | None:
        """The result of one dive; None if the time is not sufficient or no
        pattern is known.

        :param fixed: number of hosts with each pattern that stays; extended
        """
        share, first = None, True
        while True:
            most = self._needed(fixed, share)
            if not self._price(fixed, most) or not len(self._master.used):
                return None
            if not first and self._master.value > self._cutoff:
                # This dive cannot lead to a better result.
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
        """Hosts that carry a pattern wholly or in part, and further hosts
        while members need them."""
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
        """Number of members of each kind without a place on the fixed hosts.
        """
        if not fixed:
            return None
        places = self._master.places(fixed)
        if share is None:
            share = places
        return np.ceil(np.maximum(
            self._numbers - np.minimum(places, share).sum(axis=1), 0)
            - INTEGRALITY).astype(np.int64)

    def _price(self, fixed: dict[int, int], most: np.ndarray | None) -> bool:
        """Solve the program and add patterns. Return False if the time is not
        sufficient."""
        master = self._master
        if most is not None:
            self._add_smaller(fixed, most)
        rounds = 3 * limits().dive_rounds
        for number in range(rounds):
            master.fix(fixed, most)
            if self._generation.has_used_time_share() or not master.solve(
                    self._generation.deadline.left()):
                return False
            # The known patterns are usually sufficient for a first dive.
            if number + 1 == rounds or (
                    master.unplaced < INTEGRALITY and (
                        number >= limits().dive_rounds
                        or not self._always_prices
                        and master.value <= self._goal)):
                break
            prices, _ = master.prices(master.duals)
            gains = self._pricing(prices, most, limits().cell_types)
            rank = np.argsort(-gains.known,
                              kind='stable')[:limits().dive_columns]
            rank = rank[gains.known[rank] > 0]
            if not master.add(rank, gains.patterns[rank]):
                break
        return True

    def _add_smaller(self, fixed: dict[int, int], most: np.ndarray) -> None:
        """Add the needed part of patterns that are in use and too large."""
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

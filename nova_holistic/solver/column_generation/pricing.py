# SPDX-License-Identifier: Apache-2.0
"""The pattern of members that is worth most on each host, at given prices.

Patterns are built up kind by kind, on all hosts at once; those that cannot
become better than the best one known are left out. What is said to be the
most that a host can gain is never too little, whatever is left unfinished.
"""

from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.column_generation.completion_bounds import CellPrices
from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.limits.current import column_generation as limits
from nova_holistic.solver.problem.tolerances import EQUAL_PRICES, PRICE_DIGITS
from nova_holistic.solver.problem.utilisation_curve import curve


@dataclass(frozen=True, slots=True, eq=False)
class PricingResult:
    """What prices pay on one host of each type beyond its cost.

    :ivar most: nothing gains more; 0 where nothing gains
    :ivar known: what the best pattern found gains
    :ivar patterns: [type, kind]
    """

    most: np.ndarray
    known: np.ndarray
    patterns: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class _Partial:
    """Patterns of the first kinds: ``of`` is the host, by its place in what
    is looked at."""

    of: np.ndarray
    free: np.ndarray
    members: np.ndarray
    added: np.ndarray
    worth: np.ndarray

    def __getitem__(self, which: np.ndarray) -> '_Partial':
        return _Partial(self.of[which], self.free[which],
                        self.members[which], self.added[which],
                        self.worth[which])


class Pricing:
    """Asks again and again: patterns of one answer are where the next begins.

    :ivar looked_at: patterns so far
    """

    def __init__(self, host_types: HostTypes):
        self.looked_at = 0
        self._host_types = host_types
        self._known = np.zeros(host_types.room.shape, dtype=np.int64)
        self._curved = len(host_types.slopes) > 0
        self._base = np.zeros(len(host_types))
        if self._curved:
            self._base = curve(host_types.before, host_types.slopes)
        self._usable = np.minimum(
            host_types.free, host_types.room @ host_types.amounts)

    def __call__(self, prices: np.ndarray, most: np.ndarray | None = None,
                 few: int | None = None) -> PricingResult:
        """:param prices: [kind, cell], of one member
        :param most: of each kind, no more are of use
        :param few: look only at so many types of hosts of a cell that promise
            most; the answer is then no bound
        """
        host_types = self._host_types
        self._room, self._free = host_types.room, self._usable
        if most is not None:
            self._room = np.minimum(host_types.room, most)
            self._free = np.minimum(
                self._free, self._room @ host_types.amounts)
        self._beam = limits().beam if few is None else limits().heuristic_beam
        self._left = self.looked_at + limits().patterns
        self._slack = EQUAL_PRICES * float(np.max(prices, initial=0.0))
        gains = PricingResult(np.zeros(len(host_types)),
                              np.zeros(len(host_types)),
                              np.zeros_like(self._known))
        for cells in _equal(prices):
            # No price of the cells is above these, but for rounding.
            here = prices[:, cells].max(axis=1)
            types = np.flatnonzero(np.isin(host_types.cell, cells))
            if len(types) and (here > 0).any():
                self._cell(types, CellPrices.of(
                    here, host_types, self._room, types), few, gains)
        found = gains.known > 0
        self._known[found] = gains.patterns[found]
        return gains

    def _cell(self, types: np.ndarray, cell_prices: CellPrices,
              few: int | None, gains: PricingResult) -> None:
        host_types = self._host_types
        above = np.minimum(
            cell_prices.completion_bound(0, types, self._free[types],
                                         host_types.before[types],
                                         self._base[types]),
            self._room[types] @ np.maximum(cell_prices.prices, 0.0))
        above -= host_types.opening[types]
        gains.most[types] = np.maximum(above, 0.0)
        rank = np.argsort(-above, kind='stable')
        rank = rank[above[rank] > 0][:few]
        for first in range(0, len(rank), limits().priced_types):
            self._part(types[np.sort(rank[first:first
                                          + limits().priced_types])],
                       cell_prices, gains)

    def _part(self, types: np.ndarray, cell_prices: CellPrices,
              gains: PricingResult) -> None:
        """In halves, where there are too many patterns at once."""
        start = np.minimum(self._known[types], self._room[types])
        worth = start @ cell_prices.prices - (
            self._host_types.cost(types, start))
        start[worth <= 0] = 0
        gains.known[types] = np.maximum(worth, 0.0)
        gains.patterns[types] = start
        if self.looked_at > self._left:
            return
        lost = self._build(types, cell_prices, gains)
        if lost is not None:
            gains.most[types] = np.minimum(gains.most[types], np.maximum(
                gains.known[types] + self._slack, lost))
        elif len(types) > 1:
            half = len(types) // 2
            self._part(types[:half], cell_prices, gains)
            self._part(types[half:], cell_prices, gains)

    def _build(self, types: np.ndarray, cell_prices: CellPrices,
               gains: PricingResult) -> np.ndarray | None:
        """What patterns that were given up promised on each host, at most;
        None where there are too many at once."""
        number = len(types)
        lost = np.zeros(number)
        fine = self._room[types] >= _fitting(
            self._free[types], self._host_types.amounts) if (
                self._host_types.dominance.sets) else np.zeros(0)
        part = _Partial(
            np.arange(number), self._free[types],
            np.zeros((number, len(cell_prices.prices)), dtype=np.int64),
            np.zeros(number), np.zeros(number))
        for i, kind in enumerate(cell_prices.order.tolist()):
            last = i == len(cell_prices.order) - 1
            grown = self._grown(part, types, kind, cell_prices, last)
            if grown is None:
                return None
            self.looked_at += len(grown.of)
            here = types[grown.of]
            level = self._level(here, grown.added)
            gained = grown.worth - self._host_types.opening[here] - (
                level - self._base[here])
            self._keep(grown, np.where(
                grown.members.any(axis=1), gained, 0.0), types, gains)
            if last:
                break
            # A host that nobody is on may still have to be opened.
            upper = gained + cell_prices.completion_bound(
                i + 1, here, grown.free,
                self._host_types.before[here] + grown.added, level)
            some = self._undominated(grown, here, fine, np.flatnonzero(
                upper > gains.known[here] + self._slack), cell_prices, i + 1)
            part = grown[_beam(
                grown.of, upper, some, lost, self._beam)]
            if not len(part.of):
                break
        return lost

    def _undominated(self, part: _Partial, here: np.ndarray, fine: np.ndarray,
                     some: np.ndarray, cell_prices: CellPrices,
                     first: int) -> np.ndarray:
        """Those of some that others do not make up for.

        :param fine: [host, kind], as dominance asks for it
        """
        dominance = self._host_types.dominance
        if not dominance.sets:
            return some
        types = here[some]
        return some[~dominance.dominated(
            part.members[some], part.free[some], self._room[types],
            fine[part.of[some]], cell_prices.prices,
            cell_prices.order[first:].tolist())]

    def _grown(self, part: _Partial, types: np.ndarray, kind: int,
               cell_prices: CellPrices, last: bool) -> _Partial | None:
        """With each number of one kind more; None where that is too many."""
        asked = self._host_types.amounts[kind]
        some = asked > 0
        most = np.minimum(self._room[types[part.of], kind], (
            part.free[:, some] // asked[some]).min(axis=1))
        if last and not len(self._host_types.slopes):
            # Nothing else is wanted of the host: as many as there is room.
            which, number = slice(None), most
        else:
            if (most + 1).sum() > limits().partial_patterns:
                return None
            which = np.repeat(np.arange(len(most)), most + 1)
            number = np.arange(len(which)) - np.repeat(
                np.cumsum(most + 1) - (most + 1), most + 1)
        grown = part[which]
        members = grown.members.copy()
        members[:, kind] = number
        return _Partial(
            grown.of, grown.free - number[:, None] * asked, members,
            grown.added + number * self._host_types.steps[
                types[grown.of], kind] if len(self._host_types.slopes)
            else grown.added,
            grown.worth + number * cell_prices.prices[kind])

    @staticmethod
    def _keep(part: _Partial, gained: np.ndarray, types: np.ndarray,
              gains: PricingResult) -> None:
        """Take over what is better than the best one known of its host."""
        # Those of one host are side by side.
        first = np.flatnonzero(np.diff(part.of, prepend=-1))
        best = np.maximum.reduceat(gained, first)
        here = types[part.of[first]]
        better = best > gains.known[here]
        size = np.diff(first, append=len(gained))
        top = np.flatnonzero(gained == np.repeat(best, size))
        top = top[np.flatnonzero(np.diff(part.of[top], prepend=-1))]
        gains.known[here[better]] = best[better]
        gains.patterns[here[better]] = part.members[top[better]]

    def _level(self, types: np.ndarray, added: np.ndarray) -> np.ndarray:
        """Of the curve on which costs rise."""
        return curve(self._host_types.before[types] + added,
                     self._host_types.slopes
                     ) if self._curved else self._base[types]


def _fitting(free: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """[type, kind]: how many of a kind free amounts let in."""
    return np.array([
        (free[:, asked > 0] // asked[asked > 0]).min(axis=1)
        for asked in amounts]).T


def _beam(of: np.ndarray, upper: np.ndarray, some: np.ndarray,
          lost: np.ndarray, most: int) -> np.ndarray:
    """At most so many patterns of each host, those that promise most.

    :param lost: made to say what the others promise
    """
    numbers = np.bincount(of[some], minlength=len(lost))
    if numbers.max(initial=0) <= most:
        return some
    order = some[np.lexsort((-upper[some], of[some]))]
    rank = np.arange(len(order)) - np.repeat(
        np.cumsum(numbers) - numbers, numbers)
    gone = order[rank >= most]
    np.maximum.at(lost, of[gone], upper[gone])
    return np.sort(order[rank < most])


def _equal(prices: np.ndarray) -> list[np.ndarray]:
    """Cells whose prices are equal, together."""
    prices = np.maximum(prices, 0.0)
    largest = float(np.max(prices, initial=0.0)) or 1.0
    _, of = np.unique(np.round(prices / largest, PRICE_DIGITS), axis=1,
                      return_inverse=True)
    of = of.reshape(-1)
    return [np.flatnonzero(of == n) for n in range(int(of.max()) + 1)]

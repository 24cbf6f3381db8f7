# SPDX-License-Identifier: Apache-2.0
"""The pattern of members that is worth most on each host, at given prices.

Patterns are built up kind by kind, on all hosts at once; those that cannot
become better than the best one known are left out. What is said to be the
most that a host can gain is never too little, whatever is left unfinished.
"""

from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.column_generation.alike import Alike
from nova_holistic.solver.column_generation.market import Market
from nova_holistic.solver.problem.utilisation_curve import curve

_AT_ONCE = 2048
"""Sorts of hosts whose patterns are built up together."""

_WIDEST = 400_000
"""Unfinished patterns kept at a time."""

_BEAM = 300
"""Of one host: beyond that the least promising are given up, and what they
promise is not denied."""

_NARROW = 30
"""The same where no bound is asked for."""

_LONGEST = 1_000_000
"""Patterns that one question may look at."""

_DIGITS = 9
"""Of prices, beyond which they are equal."""

_EQUAL = 1e-11
"""Share of the largest price that makes no difference on a host."""


@dataclass(frozen=True, slots=True, eq=False)
class Gains:
    """What prices pay on one host of each sort beyond its cost.

    :ivar most: nothing gains more; 0 where nothing gains
    :ivar known: what the best pattern found gains
    :ivar patterns: [sort, kind]
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

    def __init__(self, alike: Alike):
        self.looked_at = 0
        self._alike = alike
        self._known = np.zeros(alike.room.shape, dtype=np.int64)
        self._curved = len(alike.slopes) > 0
        self._base = curve(alike.before, alike.slopes) if self._curved else (
            np.zeros(len(alike)))
        self._usable = np.minimum(alike.free, alike.room @ alike.amounts)

    def __call__(self, prices: np.ndarray, most: np.ndarray | None = None,
                 few: int | None = None) -> Gains:
        """:param prices: [kind, cell], of one member
        :param most: of each kind, no more are of use
        :param few: look only at so many sorts of hosts of a cell that promise
            most; the answer is then no bound
        """
        alike = self._alike
        self._room, self._free = alike.room, self._usable
        if most is not None:
            self._room = np.minimum(alike.room, most)
            self._free = np.minimum(self._free, self._room @ alike.amounts)
        self._beam = _BEAM if few is None else _NARROW
        self._left = self.looked_at + _LONGEST
        self._slack = _EQUAL * float(np.max(prices, initial=0.0))
        gains = Gains(np.zeros(len(alike)), np.zeros(len(alike)),
                      np.zeros_like(self._known))
        for cells in _equal(prices):
            # No price of the cells is above these, but for rounding.
            here = prices[:, cells].max(axis=1)
            sorts = np.flatnonzero(np.isin(alike.cell, cells))
            if len(sorts) and (here > 0).any():
                self._cell(sorts, Market.of(
                    here, alike, self._room, sorts), few, gains)
        found = gains.known > 0
        self._known[found] = gains.patterns[found]
        return gains

    def _cell(self, sorts: np.ndarray, market: Market, few: int | None,
              gains: Gains) -> None:
        alike = self._alike
        above = np.minimum(
            market.rest(0, sorts, self._free[sorts], alike.before[sorts],
                        self._base[sorts]),
            self._room[sorts] @ np.maximum(market.prices, 0.0))
        above -= alike.opening[sorts]
        gains.most[sorts] = np.maximum(above, 0.0)
        rank = np.argsort(-above, kind='stable')
        rank = rank[above[rank] > 0][:few]
        for first in range(0, len(rank), _AT_ONCE):
            self._part(sorts[np.sort(rank[first:first + _AT_ONCE])], market,
                       gains)

    def _part(self, sorts: np.ndarray, market: Market,
              gains: Gains) -> None:
        """In halves, where there are too many patterns at once."""
        start = np.minimum(self._known[sorts], self._room[sorts])
        worth = start @ market.prices - self._alike.cost(sorts, start)
        start[worth <= 0] = 0
        gains.known[sorts] = np.maximum(worth, 0.0)
        gains.patterns[sorts] = start
        if self.looked_at > self._left:
            return
        lost = self._build(sorts, market, gains)
        if lost is not None:
            gains.most[sorts] = np.minimum(gains.most[sorts], np.maximum(
                gains.known[sorts] + self._slack, lost))
        elif len(sorts) > 1:
            half = len(sorts) // 2
            self._part(sorts[:half], market, gains)
            self._part(sorts[half:], market, gains)

    def _build(self, sorts: np.ndarray, market: Market,
               gains: Gains) -> np.ndarray | None:
        """What patterns that were given up promised on each host, at most;
        None where there are too many at once."""
        number = len(sorts)
        lost = np.zeros(number)
        fine = self._room[sorts] >= _fitting(
            self._free[sorts], self._alike.amounts) if (
                self._alike.twins.sets) else np.zeros(0)
        part = _Partial(
            np.arange(number), self._free[sorts],
            np.zeros((number, len(market.prices)), dtype=np.int64),
            np.zeros(number), np.zeros(number))
        for i, kind in enumerate(market.order.tolist()):
            last = i == len(market.order) - 1
            grown = self._grown(part, sorts, kind, market, last)
            if grown is None:
                return None
            self.looked_at += len(grown.of)
            here = sorts[grown.of]
            level = self._level(here, grown.added)
            gained = grown.worth - self._alike.opening[here] - (
                level - self._base[here])
            self._keep(grown, np.where(
                grown.members.any(axis=1), gained, 0.0), sorts, gains)
            if last:
                break
            # A host that nobody is on may still have to be opened.
            upper = gained + market.rest(
                i + 1, here, grown.free,
                self._alike.before[here] + grown.added, level)
            some = self._wanted(grown, here, fine, np.flatnonzero(
                upper > gains.known[here] + self._slack), market, i + 1)
            part = grown[_beam(
                grown.of, upper, some, lost, self._beam)]
            if not len(part.of):
                break
        return lost

    def _wanted(self, part: _Partial, here: np.ndarray, fine: np.ndarray,
                some: np.ndarray, market: Market, first: int) -> np.ndarray:
        """Those of some that others do not make up for.

        :param fine: [host, kind], as twins ask for it
        """
        twins = self._alike.twins
        if not twins.sets:
            return some
        sorts = here[some]
        return some[~twins.spare(
            part.members[some], part.free[some], self._room[sorts],
            fine[part.of[some]], market.prices, market.order[first:].tolist())]

    def _grown(self, part: _Partial, sorts: np.ndarray, kind: int,
               market: Market, last: bool) -> _Partial | None:
        """With each number of one kind more; None where that is too many."""
        asked = self._alike.amounts[kind]
        some = asked > 0
        most = np.minimum(self._room[sorts[part.of], kind], (
            part.free[:, some] // asked[some]).min(axis=1))
        if last and not len(self._alike.slopes):
            # Nothing else is wanted of the host: as many as there is room.
            which, number = slice(None), most
        else:
            if (most + 1).sum() > _WIDEST:
                return None
            which = np.repeat(np.arange(len(most)), most + 1)
            number = np.arange(len(which)) - np.repeat(
                np.cumsum(most + 1) - (most + 1), most + 1)
        grown = part[which]
        members = grown.members.copy()
        members[:, kind] = number
        return _Partial(
            grown.of, grown.free - number[:, None] * asked, members,
            grown.added + number * self._alike.steps[
                sorts[grown.of], kind] if len(self._alike.slopes)
            else grown.added,
            grown.worth + number * market.prices[kind])

    @staticmethod
    def _keep(part: _Partial, gained: np.ndarray, sorts: np.ndarray,
              gains: Gains) -> None:
        """Take over what is better than the best one known of its host."""
        # Those of one host are side by side.
        first = np.flatnonzero(np.diff(part.of, prepend=-1))
        best = np.maximum.reduceat(gained, first)
        here = sorts[part.of[first]]
        better = best > gains.known[here]
        size = np.diff(first, append=len(gained))
        top = np.flatnonzero(gained == np.repeat(best, size))
        top = top[np.flatnonzero(np.diff(part.of[top], prepend=-1))]
        gains.known[here[better]] = best[better]
        gains.patterns[here[better]] = part.members[top[better]]

    def _level(self, sorts: np.ndarray, added: np.ndarray) -> np.ndarray:
        """Of the curve on which costs rise."""
        return curve(self._alike.before[sorts] + added, self._alike.slopes
                     ) if self._curved else self._base[sorts]


def _fitting(free: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """[sort, kind]: how many of a kind free amounts let in."""
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
    _, of = np.unique(np.round(prices / largest, _DIGITS), axis=1,
                      return_inverse=True)
    of = of.reshape(-1)
    return [np.flatnonzero(of == n) for n in range(int(of.max()) + 1)]

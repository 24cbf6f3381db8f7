# SPDX-License-Identifier: Apache-2.0
"""The pattern of members that is worth most on each host, at given prices.

Patterns are built up kind by kind, on all hosts at once; those that cannot
become better than the best one known are left out. What is said to be the
most that a host can gain is never too little, whatever is left unfinished.
"""

from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.alike import Alike
from nova_holistic.solver.columns import curve
from nova_holistic.solver.worth import Worth

_AT_ONCE = 2048
"""Sorts of hosts whose patterns are built up together."""

_WIDEST = 400_000
"""Unfinished patterns kept at a time."""

_LONGEST = 3_000_000
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


@dataclass(frozen=True, slots=True, eq=False)
class _Market:
    """One cell's prices and kinds, dearest first, and what the kinds from
    each on are worth at most."""

    prices: np.ndarray
    order: np.ndarray
    worth: tuple[Worth, ...]
    climbs: tuple['_Climb', ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Climb:
    """How much use of a host pays, where the kind that pays most for its use
    could be had in fractions.

    :ivar ratio: [sort]: price of a unit of use
    :ivar until: [sort]: utilisation from which on use costs more than that
    :ivar top: [sort]: the curve there
    """

    ratio: np.ndarray
    until: np.ndarray
    top: np.ndarray

    @classmethod
    def of(cls, prices: np.ndarray, alike: Alike, kinds: np.ndarray,
           sorts: np.ndarray) -> '_Climb':
        """Of some sorts alone."""
        steps = alike.steps[np.ix_(sorts, kinds)]
        ratio, until, top = np.zeros((3, len(alike)))
        ratio[sorts] = np.where(steps > 0, prices[kinds] / np.where(
            steps > 0, steps, 1.0), np.inf).max(axis=1)
        until[sorts] = np.searchsorted(
            alike.slopes, ratio[sorts]) / len(alike.slopes)
        top[sorts] = curve(until[sorts], alike.slopes)
        return cls(ratio, until, top)

    def __call__(self, sorts: np.ndarray, share: np.ndarray,
                 level: np.ndarray) -> np.ndarray:
        """From each utilisation on, where the curve has this level."""
        way = np.maximum(self.until[sorts] - share, 0.0)
        ratio = self.ratio[sorts]
        pays = np.where(np.isinf(ratio), np.inf, 0.0)
        some = (way > 0) & np.isfinite(ratio)
        pays[some] = ratio[some] * way[some] - (
            self.top[sorts][some] - level[some])
        return pays


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

    def __call__(self, prices: np.ndarray, most: np.ndarray | None = None,
                 few: int | None = None) -> Gains:
        """:param prices: [kind, cell], of one member
        :param most: of each kind, no more are of use
        :param few: look only at so many sorts of hosts of a cell that promise
            most; the answer is then no bound
        """
        alike = self._alike
        self._room = alike.room if most is None else np.minimum(
            alike.room, most)
        self._free = np.minimum(alike.free, self._room @ alike.amounts)
        self._left = self.looked_at + _LONGEST
        self._slack = _EQUAL * float(np.max(prices, initial=0.0))
        gains = Gains(np.zeros(len(alike)), np.zeros(len(alike)),
                      np.zeros_like(self._known))
        for cells in _equal(prices):
            # No price of the cells is above these, but for rounding.
            here = prices[:, cells].max(axis=1)
            order = np.argsort(-here, kind='stable')
            order = order[here[order] > 0]
            sorts = np.flatnonzero(np.isin(alike.cell, cells))
            if len(order) and len(sorts):
                self._cell(sorts, here, order, few, gains)
        found = gains.known > 0
        self._known[found] = gains.patterns[found]
        return gains

    def _cell(self, sorts: np.ndarray, prices: np.ndarray, order: np.ndarray,
              few: int | None, gains: Gains) -> None:
        widest = self._room[sorts].max(axis=0, initial=0)
        alike = self._alike
        rests = [order[i:] for i in range(len(order))]
        market = _Market(prices, order, tuple(
            Worth.of(prices[rest], alike.amounts[rest], widest[rest])
            for rest in rests), tuple(
            _Climb.of(prices, alike, rest, sorts)
            for rest in rests if self._curved))
        above = np.minimum(self._rest(
            market, 0, sorts, self._free[sorts], np.zeros(len(sorts)),
            self._base[sorts]), self._room[sorts] @ np.maximum(prices, 0.0))
        above -= alike.opening[sorts]
        gains.most[sorts] = np.maximum(above, 0.0)
        rank = np.argsort(-above, kind='stable')
        rank = rank[above[rank] > 0][:few]
        for first in range(0, len(rank), _AT_ONCE):
            self._part(sorts[np.sort(rank[first:first + _AT_ONCE])], market,
                       gains)

    def _part(self, sorts: np.ndarray, market: _Market,
              gains: Gains) -> None:
        """In halves, where there are too many patterns at once."""
        start = np.minimum(self._known[sorts], self._room[sorts])
        worth = start @ market.prices - self._alike.cost(sorts, start)
        start[worth <= 0] = 0
        gains.known[sorts] = np.maximum(worth, 0.0)
        gains.patterns[sorts] = start
        if self.looked_at > self._left:
            return
        if self._build(sorts, market, gains):
            gains.most[sorts] = np.minimum(
                gains.most[sorts], gains.known[sorts] + self._slack)
        elif len(sorts) > 1:
            half = len(sorts) // 2
            self._part(sorts[:half], market, gains)
            self._part(sorts[half:], market, gains)

    def _build(self, sorts: np.ndarray, market: _Market,
               gains: Gains) -> bool:
        """Whether all patterns that matter were looked at."""
        number = len(sorts)
        part = _Partial(
            np.arange(number), self._free[sorts],
            np.zeros((number, len(market.prices)), dtype=np.int64),
            np.zeros(number), np.zeros(number))
        for i, kind in enumerate(market.order.tolist()):
            last = i == len(market.order) - 1
            grown = self._grown(part, sorts, kind, market, last)
            if grown is None:
                return False
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
            part = grown[gained + self._rest(
                market, i + 1, here, grown.free, grown.added, level)
                > gains.known[here] + self._slack]
            if not len(part.of):
                break
        return True

    def _grown(self, part: _Partial, sorts: np.ndarray, kind: int,
               market: _Market, last: bool) -> _Partial | None:
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

    def _rest(self, market: _Market, first: int, sorts: np.ndarray,
              free: np.ndarray, added: np.ndarray,
              level: np.ndarray) -> np.ndarray:
        """What kinds from the first on may be worth beyond what they add to
        the cost, at most."""
        rest = market.worth[first](free)
        return rest if not self._curved else np.minimum(
            rest, market.climbs[first](
                sorts, self._alike.before[sorts] + added, level))

    def _level(self, sorts: np.ndarray, added: np.ndarray) -> np.ndarray:
        """Of the curve on which costs rise."""
        return curve(self._alike.before[sorts] + added, self._alike.slopes
                     ) if self._curved else self._base[sorts]


def _equal(prices: np.ndarray) -> list[np.ndarray]:
    """Cells whose prices are equal, together."""
    prices = np.maximum(prices, 0.0)
    largest = float(np.max(prices, initial=0.0)) or 1.0
    _, of = np.unique(np.round(prices / largest, _DIGITS), axis=1,
                      return_inverse=True)
    of = of.reshape(-1)
    return [np.flatnonzero(of == n) for n in range(int(of.max()) + 1)]

# SPDX-License-Identifier: Apache-2.0
"""Pricing: the pattern with the highest gain on each host at given prices.

Patterns are extended kind by kind, on many hosts in parallel. Patterns that
cannot exceed the best known gain are pruned. The upper bound of a host's gain
remains valid even if the search is incomplete.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.column_generation.completion_bounds import CellPrices
from nova_holistic.solver.column_generation.enumeration import (
    numbers_to_add)
from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.limits.current import column_generation as limits
from nova_holistic.solver.numerics.tolerances import (
    EQUAL_COSTS, EQUAL_PRICES, PRICE_DIGITS)
from nova_holistic.solver.problem.hosts import ranks
from nova_holistic.solver.problem.utilisation_curve import curve


@dataclass(frozen=True, slots=True, eq=False)
class PricingResult:
    """Gain of one host of each type: the prices of its members, less the cost
    of the host.

    :ivar most: [type]: upper bound of the gain; at least 0
    :ivar known: [type]: gain of the best known pattern
    :ivar patterns: [type, kind]: the best known pattern
    """

    most: np.ndarray
    known: np.ndarray
    patterns: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class _Partial:
    """Patterns of the first kinds. ``of`` is the position of the host among
    the hosts of the call."""

    of: np.ndarray
    free: np.ndarray
    members: np.ndarray
    added: np.ndarray
    value: np.ndarray

    def __getitem__(self, which: np.ndarray) -> '_Partial':
        return _Partial(self.of[which], self.free[which],
                        self.members[which], self.added[which],
                        self.value[which])


class Pricing:
    """Prices the host types. Each call starts from the best patterns of
    earlier calls.

    :ivar evaluated_patterns: number of patterns that all calls have evaluated
    """

    def __init__(self, host_types: HostTypes,
                 has_time: Callable[[], bool] = lambda: True):
        """
        :param has_time: whether a call may evaluate further patterns. If not,
            the bounds of the remaining host types are weak
        """
        self.evaluated_patterns = 0
        self._has_time = has_time
        self._host_types = host_types
        self._known = np.zeros(host_types.room.shape, dtype=np.int64)
        self._curved = len(host_types.slopes) > 0
        self._base = np.zeros(len(host_types))
        if self._curved:
            self._base = curve(host_types.before, host_types.slopes)
        self._usable = np.minimum(
            host_types.free, host_types.room @ host_types.amounts)

    def __call__(self, prices: np.ndarray, most: np.ndarray | None = None,
                 max_types: int | None = None,
                 by_cost: bool = False) -> PricingResult:
        """Return the gains at these prices.

        :param prices: [kind, cell], of one member
        :param most: maximum number of members of each kind in a pattern; the
            upper bounds hold only for such patterns
        :param max_types: maximum number of host types of cells with equal
            prices to price, in descending order of their first upper bounds;
            the bounds of the other types remain weak
        :param by_cost: whether this order is that of the bounds divided by the
            costs of using the hosts
        """
        host_types = self._host_types
        self._room, self._free = host_types.room, self._usable
        if most is not None:
            self._room = np.minimum(host_types.room, most)
            self._free = np.minimum(
                self._free, self._room @ host_types.amounts)
        self._beam = (limits().beam if max_types is None
                      else limits().heuristic_beam)
        self._by_cost = by_cost
        self._left = self.evaluated_patterns + limits().patterns
        self._slack = EQUAL_PRICES * float(np.max(prices, initial=0.0))
        gains = PricingResult(np.zeros(len(host_types)),
                              np.zeros(len(host_types)),
                              np.zeros_like(self._known))
        for cells in equal_prices(prices):
            # Up to rounding, no price of these cells is higher.
            best_prices = prices[:, cells].max(axis=1)
            types = np.flatnonzero(np.isin(host_types.cell, cells))
            if len(types) and (best_prices > 0).any():
                cell_prices = CellPrices.of(best_prices, host_types,
                                            self._room, types)
                self._cell(types, cell_prices, max_types, gains)
        found = gains.known > 0
        self._known[found] = gains.patterns[found]
        return gains

    def _cell(self, types: np.ndarray, cell_prices: CellPrices,
              max_types: int | None, gains: PricingResult) -> None:
        host_types = self._host_types
        above = np.minimum(
            cell_prices.completion_bound(0, types, self._free[types],
                                         host_types.before[types],
                                         self._base[types]),
            self._room[types] @ np.maximum(cell_prices.prices, 0.0))
        above -= host_types.opening[types]
        gains.most[types] = np.maximum(above, 0.0)
        rank = np.argsort(-above / np.maximum(
            host_types.opening[types], EQUAL_COSTS) if self._by_cost
            else -above, kind='stable')
        rank = rank[above[rank] > 0][:max_types]
        for first in range(0, len(rank), limits().priced_types):
            self._part(types[np.sort(rank[first:first
                                          + limits().priced_types])],
                       cell_prices, gains)

    def _part(self, types: np.ndarray, cell_prices: CellPrices,
              gains: PricingResult) -> None:
        """Price host types; split them in halves if the patterns are too many.
        """
        start = np.minimum(self._known[types], self._room[types])
        value = start @ cell_prices.prices - (
            self._host_types.cost(types, start))
        start[value <= 0] = 0
        gains.known[types] = np.maximum(value, 0.0)
        gains.patterns[types] = start
        if not self._may_continue():
            return
        lost = self._build(types, cell_prices, gains)
        if lost is not None:
            gains.most[types] = np.minimum(gains.most[types], np.maximum(
                gains.known[types] + self._slack, lost))
        elif len(types) > 1:
            half = len(types) // 2
            self._part(types[:half], cell_prices, gains)
            self._part(types[half:], cell_prices, gains)

    def _may_continue(self) -> bool:
        """Whether the number of patterns and the time permit further patterns.
        """
        if self.evaluated_patterns <= self._left and not self._has_time():
            self._left = -1
        return self.evaluated_patterns <= self._left

    def _build(self, types: np.ndarray, cell_prices: CellPrices,
               gains: PricingResult) -> np.ndarray | None:
        """Return the largest upper bound among the pruned patterns of each
        host; None if the patterns are too many, or the time ends."""
        number = len(types)
        lost = np.zeros(number)
        part = _Partial(
            np.arange(number), self._free[types],
            np.zeros((number, len(cell_prices.prices)), dtype=np.int64),
            np.zeros(number), np.zeros(number))
        for i, kind in enumerate(cell_prices.order.tolist()):
            last = i == len(cell_prices.order) - 1
            grown = self._grown(part, types, kind, cell_prices, last)
            if grown is None or not self._may_continue():
                return None
            self.evaluated_patterns += len(grown.of)
            types_of = types[grown.of]
            level = self._level(types_of, grown.added)
            gained = grown.value - self._host_types.opening[types_of] - (
                level - self._base[types_of])
            self._keep(grown, np.where(
                grown.members.any(axis=1), gained, 0.0), types, gains)
            if last:
                break
            # A host without members may still have to be opened.
            upper = gained + cell_prices.completion_bound(
                i + 1, types_of, grown.free,
                self._host_types.before[types_of] + grown.added, level)
            some = np.flatnonzero(
                upper > gains.known[types_of] + self._slack)
            part = grown[_beam(
                grown.of, upper, some, lost, self._beam)]
            if not len(part.of):
                break
        return lost

    def _grown(self, part: _Partial, types: np.ndarray, kind: int,
               cell_prices: CellPrices, last: bool) -> _Partial | None:
        """Extend patterns by each number of one kind; None if they are too
        many."""
        amounts = self._host_types.amounts[kind]
        some = amounts > 0
        most = np.minimum(self._room[types[part.of], kind], (
            part.free[:, some] // amounts[some]).min(axis=1))
        if last and not len(self._host_types.slopes):
            # This is the last kind: use as many members as fit.
            which, number = slice(None), most
        else:
            if (most + 1).sum() > limits().partial_patterns:
                return None
            which, number = numbers_to_add(most)
        grown = part[which]
        members = grown.members.copy()
        members[:, kind] = number
        return _Partial(
            grown.of, grown.free - number[:, None] * amounts, members,
            grown.added + number * self._host_types.steps[
                types[grown.of], kind] if len(self._host_types.slopes)
            else grown.added,
            grown.value + number * cell_prices.prices[kind])

    @staticmethod
    def _keep(part: _Partial, gained: np.ndarray, types: np.ndarray,
              gains: PricingResult) -> None:
        """Keep patterns that are better than the best known pattern of the
        host."""
        # Patterns of one host are adjacent.
        first = np.flatnonzero(np.diff(part.of, prepend=-1))
        best = np.maximum.reduceat(gained, first)
        types_of = types[part.of[first]]
        better = best > gains.known[types_of]
        size = np.diff(first, append=len(gained))
        top = np.flatnonzero(gained == np.repeat(best, size))
        top = top[np.flatnonzero(np.diff(part.of[top], prepend=-1))]
        gains.known[types_of[better]] = best[better]
        gains.patterns[types_of[better]] = part.members[top[better]]

    def _level(self, types: np.ndarray, added: np.ndarray) -> np.ndarray:
        """Value of the cost curve after these increases of the utilisation."""
        return curve(self._host_types.before[types] + added,
                     self._host_types.slopes
                     ) if self._curved else self._base[types]


def _beam(of: np.ndarray, upper: np.ndarray, some: np.ndarray,
          lost: np.ndarray, most: int) -> np.ndarray:
    """At most this number of patterns of each host, by their upper bounds.

    :param of: host of each pattern
    :param some: the patterns to choose from
    :param lost: [host]: largest upper bound of the pruned patterns, which is
        updated
    """
    numbers = np.bincount(of[some], minlength=len(lost))
    if numbers.max(initial=0) <= most:
        return some
    order = some[np.lexsort((-upper[some], of[some]))]
    rank = ranks(of[order])
    gone = order[rank >= most]
    np.maximum.at(lost, of[gone], upper[gone])
    return np.sort(order[rank < most])


def equal_prices(prices: np.ndarray) -> list[np.ndarray]:
    """Groups of cells with equal prices, up to rounding.

    :param prices: [kind, cell]
    """
    prices = np.maximum(prices, 0.0)
    largest = float(np.max(prices, initial=0.0)) or 1.0
    _, of = np.unique(np.round(prices / largest, PRICE_DIGITS), axis=1,
                      return_inverse=True)
    of = of.reshape(-1)
    return [np.flatnonzero(of == n) for n in range(int(of.max()) + 1)]

# SPDX-License-Identifier: Apache-2.0
"""What members are worth in some cells, and what use of hosts pays there."""

from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.column_generation.alike import Alike
from nova_holistic.solver.column_generation.worth import Worth
from nova_holistic.solver.problem.utilisation_curve import curve

_ROUNDING = 1e-13
"""What a utilisation can be off by: one member of 1e9 adds 1e-9."""


@dataclass(frozen=True, slots=True, eq=False)
class Climb:
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
           sorts: np.ndarray) -> 'Climb':
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
        pays = ratio * _ROUNDING
        some = (way > 0) & np.isfinite(ratio)
        pays[some] += ratio[some] * way[some] - (
            self.top[sorts][some] - level[some])
        return pays


@dataclass(frozen=True, slots=True, eq=False)
class Market:
    """One cell's prices and kinds, dearest first, and what the kinds from
    each on are worth at most."""

    prices: np.ndarray
    order: np.ndarray
    worth: tuple[Worth, ...]
    climbs: tuple['Climb', ...]

    @classmethod
    def of(cls, prices: np.ndarray, alike: Alike, room: np.ndarray,
           sorts: np.ndarray) -> 'Market':
        """For some sorts of hosts.

        :param room: [sort, kind]
        """
        order = np.argsort(-prices, kind='stable')
        order = order[prices[order] > 0]
        widest = room[sorts].max(axis=0, initial=0)
        rests = [order[i:] for i in range(len(order))]
        return cls(prices, order, alike.corners(prices, order, widest), tuple(
            Climb.of(prices, alike, rest, sorts)
            for rest in rests if len(alike.slopes)))

    def rest(self, first: int, sorts: np.ndarray, free: np.ndarray,
             share: np.ndarray, level: np.ndarray) -> np.ndarray:
        """What kinds from the first on may be worth beyond what they add to
        the cost, at most.

        :param share: utilisation
        :param level: of the curve there
        """
        worth = self.worth[first](free)
        return np.minimum(worth, self.climbs[first](sorts, share, level)
                          ) if self.climbs else worth

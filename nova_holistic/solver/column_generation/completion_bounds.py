# SPDX-License-Identifier: Apache-2.0
"""Upper bounds of the value that further members can add to a pattern, from
the free amounts and from the cost of the utilisation."""

from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.column_generation.dual_vertices import ValueBound
from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.numerics.tolerances import UTILISATION_ROUNDING
from nova_holistic.solver.problem.utilisation_curve import curve


@dataclass(frozen=True, slots=True, eq=False)
class UtilisationBound:
    """Maximum gain from more utilisation of a host, if fractions of the kind
    with the highest price per unit of utilisation were available.

    :ivar ratio: [type]: price of a unit of utilisation
    :ivar until: [type]: utilisation above which the slope exceeds this price
    :ivar top: [type]: value of the curve at that utilisation
    """

    ratio: np.ndarray
    until: np.ndarray
    top: np.ndarray

    @classmethod
    def of(cls, prices: np.ndarray, host_types: HostTypes, kinds: np.ndarray,
           types: np.ndarray) -> 'UtilisationBound':
        """Return the bound for some host types; the others get 0."""
        steps = host_types.steps[np.ix_(types, kinds)]
        ratio, until, top = np.zeros((3, len(host_types)))
        ratio[types] = np.where(steps > 0, prices[kinds] / np.where(
            steps > 0, steps, 1.0), np.inf).max(axis=1)
        until[types] = np.searchsorted(
            host_types.slopes, ratio[types]) / len(host_types.slopes)
        top[types] = curve(until[types], host_types.slopes)
        return cls(ratio, until, top)

    def __call__(self, types: np.ndarray, share: np.ndarray,
                 level: np.ndarray) -> np.ndarray:
        """Return the maximum gain if the utilisation increases from ``share``.

        :param types: host type of each element
        :param share: utilisation
        :param level: value of the curve at the utilisation
        """
        way = np.maximum(self.until[types] - share, 0.0)
        ratio = self.ratio[types]
        gain = ratio * UTILISATION_ROUNDING
        some = (way > 0) & np.isfinite(ratio)
        gain[some] += ratio[some] * way[some] - (
            self.top[types][some] - level[some])
        return gain


@dataclass(frozen=True, slots=True, eq=False)
class CellPrices:
    """Prices of the kinds in one cell, and upper bounds at these prices.

    :ivar prices: [kind]
    :ivar order: kinds with a positive price, in descending order of prices
    :ivar values: for each position in the order, the bound by free amounts
        for the kinds from this position on
    :ivar curve_bounds: for each position in the order, the bound by
        utilisation; empty if the cost does not depend on the utilisation
    """

    prices: np.ndarray
    order: np.ndarray
    values: tuple[ValueBound, ...]
    curve_bounds: tuple['UtilisationBound', ...]

    @classmethod
    def of(cls, prices: np.ndarray, host_types: HostTypes, room: np.ndarray,
           types: np.ndarray) -> 'CellPrices':
        """Return the prices for some types of hosts.

        :param room: [type, kind]
        """
        order = np.argsort(-prices, kind='stable')
        order = order[prices[order] > 0]
        widest = room[types].max(axis=0, initial=0)
        rests = [order[i:] for i in range(len(order))]
        values = host_types.dual_vertices(prices, order, widest)
        return cls(prices, order, values, tuple(
            UtilisationBound.of(prices, host_types, rest, types)
            for rest in rests if len(host_types.slopes)))

    def completion_bound(self, first: int, types: np.ndarray, free: np.ndarray,
                         share: np.ndarray, level: np.ndarray) -> np.ndarray:
        """Upper bound of the value of the kinds from position ``first`` of the
        order on, less the cost of the utilisation that they add.

        :param types: host type of each pattern
        :param free: [pattern, resource]: free amounts
        :param share: utilisation
        :param level: value of the curve at the utilisation
        """
        values = self.values[first](free)
        return np.minimum(values, self.curve_bounds[first](types, share, level)
                          ) if self.curve_bounds else values

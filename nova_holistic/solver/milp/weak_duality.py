# SPDX-License-Identifier: Apache-2.0
"""Safe dual bounds of linear programs, whatever a solver's tolerances are.

By weak duality any multipliers of the rows prove a bound: for minimise c x,
rows a <= A x <= b and l <= x <= u, and multipliers y, no solution costs less
than the sum of y times a (where y > 0) or b (where y < 0), and of the least of
(c - A' y) x between l and u. As in Neumaier and Shcherbina, Safe bounds in
linear and mixed-integer linear programming (Mathematical Programming 99,
2004), what floating-point sums can be off by is taken off.
"""

from dataclasses import dataclass

import numpy as np

_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True, eq=False)
class DualProgram:
    """The numbers of a linear program.

    :ivar cost: [variable]
    :ivar rows: of each entry, with columns and values
    :ivar least: [row]: lower limits; minus infinity where there is none
    :ivar most: [row]: upper limits
    """

    cost: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    least: np.ndarray
    most: np.ndarray

    def bound(self, duals: np.ndarray, lower: np.ndarray,
              upper: np.ndarray) -> float | None:
        """No solution costs less; None where the multipliers prove nothing.

        :param duals: [row]: any multipliers
        :param lower: [variable]: limits, which may be infinite, as ``upper``
        """
        limits = np.where(duals > 0, self.least, self.most)
        # A multiplier of a limit that there is not is taken for 0.
        duals = np.where(np.isfinite(limits), duals, 0.0)
        proved = duals * np.where(duals != 0, limits, 0.0)
        products = self.values * duals[self.rows]
        size = len(self.cost)
        reduced = self.cost - np.bincount(self.columns, products, size)
        doubt = (_EPSILON * (2 + np.bincount(self.columns, minlength=size))
                 * (np.abs(self.cost) + np.bincount(
                     self.columns, np.abs(products), size)))
        low, high = reduced - doubt, reduced + doubt
        # The least of all (reduced cost x variable) in these ranges.
        least = np.minimum.reduce([
            _product(low, lower), _product(high, lower),
            _product(low, upper), _product(high, upper)])
        total = least_sum(np.concatenate((proved, least)))
        return total if np.isfinite(total) else None


def least_sum(terms: np.ndarray) -> float:
    """The sum without what it can be too large by."""
    return float(terms.sum() - _EPSILON * (2 + len(terms)) * np.abs(
        terms).sum())


def _product(costs: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Products, of which 0 times infinity is 0."""
    some = (costs != 0) & (ends != 0)
    return np.multiply(costs, ends, where=some, out=np.zeros(len(costs)))

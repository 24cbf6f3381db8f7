# SPDX-License-Identifier: Apache-2.0
"""Safe dual bounds of linear programs, independent of a solver's tolerances.

By weak duality, any multipliers of the rows prove a bound: for minimise c x,
rows a <= A x <= b and l <= x <= u, and multipliers y, no solution costs less
than the sum of y times a (where y > 0) or b (where y < 0), and of the minimum
of (c - A' y) x between l and u. As in Neumaier and Shcherbina, Safe bounds in
linear and mixed-integer linear programming (Mathematical Programming 99,
2004), the maximum error of the floating-point sums is subtracted.
"""

from dataclasses import dataclass, replace

import numpy as np

from nova_holistic.solver.numerics.tolerances import ARITHMETIC

MACHINE_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True, eq=False)
class DualProgram:
    """The numbers of a linear program without the limits of its variables.

    :ivar cost: [variable]
    :ivar rows: [entry]: row of the matrix
    :ivar columns: [entry]: variable
    :ivar values: [entry]: coefficient
    :ivar least: [row]: lower limits; minus infinity if a row has no lower
        limit
    :ivar most: [row]: upper limits; infinity if a row has no upper limit
    """

    cost: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    least: np.ndarray
    most: np.ndarray

    def bound(self, duals: np.ndarray, lower: np.ndarray,
              upper: np.ndarray) -> float | None:
        """Lower bound of the cost of all solutions; None if nothing is proved.

        :param duals: [row]: any multipliers
        :param lower: [variable]: lower limits; may be infinite, like ``upper``
        """
        limits = np.where(duals > 0, self.least, self.most)
        # A multiplier of a missing limit is replaced by 0.
        duals = np.where(np.isfinite(limits), duals, 0.0)
        proved = duals * np.where(duals != 0, limits, 0.0)
        reduced, rounding_error = self.reduced(duals)
        low, high = reduced - rounding_error, reduced + rounding_error
        # The smallest product of reduced cost and variable in these ranges.
        least = np.minimum.reduce([
            _product(low, lower), _product(high, lower),
            _product(low, upper), _product(high, upper)])
        total = least_sum(np.concatenate((proved, least)))
        return total if np.isfinite(total) else None

    def is_impossible(self, ray: np.ndarray, lower: np.ndarray,
                      upper: np.ndarray) -> bool:
        """Whether these multipliers prove that no solution exists. The proof
        has a margin for coefficients that are rounded.

        :param ray: [row]: any multipliers
        :param lower: [variable]: lower limits; may be infinite, like ``upper``
        """
        constant = replace(self, cost=np.zeros(len(self.cost)))
        least = constant.bound(ray, lower, upper)
        largest = np.maximum(np.abs(lower), np.abs(upper))
        sizes = _product(np.abs(self.values * ray[self.rows]),
                         largest[self.columns])
        return least is not None and bool(least > ARITHMETIC * sizes.sum())

    def reduced(self, duals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """[variable]: reduced costs, and their maximum rounding errors."""
        products = self.values * duals[self.rows]
        size = len(self.cost)
        reduced = self.cost - np.bincount(self.columns, products, size)
        entries = np.bincount(self.columns, minlength=size)
        return reduced, MACHINE_EPSILON * (2 + entries) * (
            np.abs(self.cost) + np.bincount(
                self.columns, np.abs(products), size))


def least_sum(terms: np.ndarray) -> float:
    """The sum of the terms minus its maximum rounding error."""
    return float(terms.sum() - MACHINE_EPSILON * (2 + len(terms)) * np.abs(
        terms).sum())


def _product(costs: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Products, with 0 times infinity defined as 0."""
    some = (costs != 0) & (ends != 0)
    return np.multiply(costs, ends, where=some, out=np.zeros(len(costs)))

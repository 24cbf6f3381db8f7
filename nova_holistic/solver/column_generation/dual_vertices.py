# SPDX-License-Identifier: Apache-2.0
"""Upper bounds of the value of the members that fit into free amounts, by
linear programming duality."""

from collections.abc import Sequence
from dataclasses import dataclass
import itertools

import numpy as np

from nova_holistic.solver.limits.current import column_generation as limits
from nova_holistic.solver.numerics.tolerances import ARITHMETIC


@dataclass(frozen=True, slots=True, eq=False)
class ValueBound:
    """Vertices of dual values, each of which bounds the value of all members
    that fit into free amounts.

    By linear programming duality, members whose prices do not exceed the
    values of their resources have at most the value of the free amounts.
    For a kind with a higher price, the difference is added for all members
    that fit.

    :ivar values: [vertex, resource]
    :ivar beyond: [vertex]: the sum of these differences
    """

    values: np.ndarray
    beyond: np.ndarray

    def __call__(self, free: np.ndarray) -> np.ndarray:
        """Return the bound for each row of free amounts."""
        return (free @ self.values.T + self.beyond).min(axis=1)


class DualVertices:
    """Dual values of resources, for each small set of kinds and each set of
    the same number of resources.

    At these values, the resources of each kind in the set cost exactly the
    price of the kind. The values are linear in the prices.
    """

    def __init__(self, amounts: np.ndarray):
        """Compute the factors of all vertices.

        :param amounts: [kind, resource]
        """
        scale = np.maximum(amounts.max(axis=0, initial=0), 1).astype(float)
        scaled = amounts / scale
        self._amounts = amounts.T.astype(float)
        most = limits().tight_resources
        kinds = [np.zeros((0, most), dtype=np.int64)]
        factors = [np.zeros((0, len(scale), most))]
        for size in range(1, 1 + min(most, *amounts.shape)):
            inverse = _inverses(scaled, size)
            if inverse is None:
                break
            # Smaller sets are filled up with a kind whose price is 0.
            kinds.append(np.pad(inverse[0], ((0, 0), (0, most - size)),
                                constant_values=len(amounts)))
            factors.append(np.pad(
                inverse[1], ((0, 0), (0, 0), (0, most - size))))
        self._kinds = np.concatenate(kinds)
        self._factors = np.concatenate(factors) / scale[:, None]

    def __call__(self, prices: np.ndarray, order: np.ndarray,
                 room: np.ndarray) -> tuple[ValueBound, ...]:
        """Return the bound for the kinds from each position of the order on.

        :param prices: [kind]; positive for the kinds in the order
        :param order: some kinds
        :param room: maximum number of members of each kind on any host
        """
        number = len(order)
        rank = np.full(len(prices) + 1, number)
        rank[:-1] = -1
        rank[order] = np.arange(number)
        # Use vertices whose kinds are all in the order and whose values are
        # not negative.
        until = rank[self._kinds].min(axis=1)
        valid = np.flatnonzero(until >= 0)
        values = np.einsum('nrs,ns->nr', self._factors[valid], np.append(
            prices, 0.0)[self._kinds[valid]])
        fine = (values >= -ARITHMETIC * np.abs(values).max(
            initial=0)).all(axis=1)
        values, until = np.maximum(values[fine], 0.0), until[valid][fine]
        covered = (values @ self._amounts)[:, order]
        missing = np.maximum(prices[order] - covered, 0.0)
        # The values are used only for positions after the last kind whose
        # price exceeds the value of its resources.
        short = missing > ARITHMETIC * prices[order]
        first = np.where(short, np.arange(1, number + 1), 0).max(
            axis=1, initial=0)
        beyond = (missing * room[order])[:, ::-1].cumsum(axis=1)[:, ::-1]
        total = (prices * room)[order][::-1].cumsum()[::-1]
        return tuple(_value_bound(values, beyond[:, n], total[n], (
            first <= n) & (until >= n)) for n in range(number))


def _value_bound(values: np.ndarray, beyond: np.ndarray, total: float,
                 which: np.ndarray) -> ValueBound:
    """The bound by these vertices, and by the vertex at which no resource has
    a value.

    :param total: value of all members, which is the bound at that vertex
    """
    return ValueBound(np.append(values[which], np.zeros((
        1, values.shape[1])), axis=0), np.append(beyond[which], total))


def _inverses(amounts: np.ndarray, size: int) -> tuple[
        np.ndarray, np.ndarray] | None:
    """Return [vertex, number]: the kinds of each vertex, and [vertex,
    resource, number]: the factors of their prices in the values. None if there
    are too many combinations.

    :param size: number of kinds, and of resources, of one vertex
    """
    number, resources = amounts.shape
    kinds = _combinations(number, size)
    those = _combinations(resources, size)
    if len(kinds) * len(those) > limits().vertices:
        return None
    matrix = amounts[kinds[:, None, :, None], those[None, :, None, :]]
    matrix = matrix.reshape(-1, size, size)
    where = np.tile(those, (len(kinds), 1))
    regular = np.abs(np.linalg.det(matrix)) > ARITHMETIC
    found = np.zeros((int(regular.sum()), resources, size))
    np.put_along_axis(found, where[regular][:, :, None],
                      np.linalg.inv(matrix[regular]), axis=1)
    return np.repeat(kinds, len(those), axis=0)[regular], found


def _combinations(number: int, size: int) -> np.ndarray:
    chosen: Sequence[tuple[int, ...]] = [
        *itertools.combinations(range(number), size)]
    return np.array(chosen).reshape(-1, size)

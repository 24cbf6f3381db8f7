# SPDX-License-Identifier: Apache-2.0
"""What free amounts are worth at most, where members have prices."""

from collections.abc import Sequence
from dataclasses import dataclass
import itertools

import numpy as np

from nova_holistic.solver.limits.current import column_generation as limits
from nova_holistic.solver.problem.tolerances import ARITHMETIC


@dataclass(frozen=True, slots=True, eq=False)
class ValueBound:
    """Values of resources, each of which bounds what any members are worth.

    By duality of linear programs: members that cost no more than the values
    of what they take are worth no more than the values of what is free. What
    a kind is worth beyond that is added for all of its room.

    :ivar values: [number, resource]
    :ivar beyond: what is added to each
    """

    values: np.ndarray
    beyond: np.ndarray

    def __call__(self, free: np.ndarray) -> np.ndarray:
        """Of each row of free amounts, at most."""
        return (free @ self.values.T + self.beyond).min(axis=1)


class DualVertices:
    """Values at which a few kinds cost exactly their price, for each few
    kinds and resources: they are the same sums of any prices."""

    def __init__(self, amounts: np.ndarray):
        """:param amounts: [kind, resource]"""
        scale = np.maximum(amounts.max(axis=0, initial=0), 1).astype(float)
        scaled = amounts / scale
        self._amounts = amounts.T.astype(float)
        found = []
        for size in range(1, 1 + min(limits().tight_resources,
                                     *amounts.shape)):
            inverse = _inverses(scaled, size)
            if inverse is None:
                break
            found.append(inverse)
        width = amounts.shape[0]
        self._kinds = np.concatenate([
            np.zeros((0, limits().tight_resources), dtype=np.int64),
            *(np.pad(kinds,
                     ((0, 0), (0, limits().tight_resources - kinds.shape[1])),
                     constant_values=width) for kinds, _ in found)])
        self._factors = np.concatenate([
            np.zeros((0, len(scale), limits().tight_resources)),
            *(np.pad(each, ((0, 0), (0, 0), (0, limits().tight_resources
                                             - each.shape[2])))
              for _, each in found)]) / scale[:, None]

    def __call__(self, prices: np.ndarray, order: np.ndarray,
                 room: np.ndarray) -> tuple[ValueBound, ...]:
        """What the kinds from each of the order on are worth.

        :param prices: of all kinds; of those in the order, above 0
        :param room: of each kind, on any host, at most
        """
        number = len(order)
        rank = np.full(len(prices) + 1, number)
        rank[:-1] = -1
        rank[order] = np.arange(number)
        # Those of kinds that are asked for, and of what is not negative.
        until = rank[self._kinds].min(axis=1)
        asked = np.flatnonzero(until >= 0)
        values = np.einsum('nrs,ns->nr', self._factors[asked], np.append(
            prices, 0.0)[self._kinds[asked]])
        fine = (values >= -ARITHMETIC * np.abs(values).max(
            initial=0)).all(axis=1)
        values, until = np.maximum(values[fine], 0.0), until[asked][fine]
        paid = (values @ self._amounts)[:, order]
        missing = np.maximum(prices[order] - paid, 0.0)
        # From the last kind on that is worth more than what it takes.
        short = missing > ARITHMETIC * prices[order]
        first = np.where(short, np.arange(1, number + 1), 0).max(
            axis=1, initial=0)
        beyond = (missing * room[order])[:, ::-1].cumsum(axis=1)[:, ::-1]
        total = (prices * room)[order][::-1].cumsum()[::-1]
        return tuple(_value_bound(values, beyond[:, n], total[n], (
            first <= n) & (until >= n)) for n in range(number))


def _value_bound(values: np.ndarray, beyond: np.ndarray, total: float,
                 which: np.ndarray) -> ValueBound:
    """:param total: what all would be worth where nothing has a value"""
    return ValueBound(np.append(values[which], np.zeros((
        1, values.shape[1])), axis=0), np.append(beyond[which], total))


def _inverses(amounts: np.ndarray, size: int) -> tuple[
        np.ndarray, np.ndarray] | None:
    """Each so many kinds, and [resource, kind]: by what their prices make up
    the values; None where there are too many to look at."""
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

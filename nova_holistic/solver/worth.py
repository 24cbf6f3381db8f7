# SPDX-License-Identifier: Apache-2.0
"""What free amounts are worth at most, where members have prices."""

from dataclasses import dataclass
import itertools

import numpy as np

_TIGHT = 3
"""Resources that are worth something at the same time, at most."""

_MOST = 3000
"""Combinations of kinds and resources to be looked at."""

_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Worth:
    """Values of resources, each of which bounds what any members are worth.

    By duality of linear programs: members that cost no more than the values
    of what they take are worth no more than the values of what is free. What
    a kind is worth beyond that is added for all of its room.

    :ivar values: [number, resource]
    :ivar beyond: what is added to each
    """

    values: np.ndarray
    beyond: np.ndarray

    @classmethod
    def of(cls, prices: np.ndarray, amounts: np.ndarray,
           room: np.ndarray) -> 'Worth':
        """:param room: of each kind, on any host, at most"""
        prices = np.maximum(prices, 0.0)
        found = [np.zeros((1, amounts.shape[1]))]
        scale = np.maximum(amounts.max(axis=0, initial=0), 1).astype(float)
        scaled = amounts / scale
        for size in range(1, 1 + min(_TIGHT, *amounts.shape)):
            corners = _corners(prices, scaled, size)
            if corners is None:
                break
            found.append(corners / scale)
        values = np.concatenate(found)
        beyond = np.maximum(prices - values @ amounts.T, 0.0) @ room
        order = np.argsort(beyond, kind='stable')
        return cls(values[order], beyond[order])

    def __call__(self, free: np.ndarray) -> np.ndarray:
        """Of each row of free amounts, at most."""
        return (free @ self.values.T + self.beyond).min(axis=1)


def _corners(prices: np.ndarray, amounts: np.ndarray,
             size: int) -> np.ndarray | None:
    """Values at which so many kinds cost exactly their price, and the others
    no less; None where there are too many to look at."""
    number, resources = amounts.shape
    kinds = np.array([*itertools.combinations(range(number), size)])
    those = np.array([*itertools.combinations(range(resources), size)])
    if len(kinds) * len(those) > _MOST:
        return None
    matrix = amounts[kinds[:, None, :, None], those[None, :, None, :]]
    matrix = matrix.reshape(-1, size, size)
    right = np.repeat(prices[kinds], len(those), axis=0)
    where = np.tile(those, (len(kinds), 1))
    regular = np.abs(np.linalg.det(matrix)) > _TOLERANCE
    solved = np.linalg.solve(
        matrix[regular], right[regular][..., None])[..., 0]
    values = np.zeros((len(solved), resources))
    np.put_along_axis(values, where[regular], solved, axis=1)
    fine = (values >= -_TOLERANCE).all(axis=1) & (
        values @ amounts.T >= prices * (1 - _TOLERANCE)).all(axis=1)
    return np.maximum(values[fine], 0.0)

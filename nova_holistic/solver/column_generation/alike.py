# SPDX-License-Identifier: Apache-2.0
"""Hosts that are alike in all that a relaxation sees of them, as one."""

from dataclasses import dataclass

import numpy as np

from nova_holistic.model.objective import Outlay
from nova_holistic.solver.column_generation.twins import Twins
from nova_holistic.solver.column_generation.worth import Corners
from nova_holistic.solver.decomposition.columns import Columns
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.utilisation_curve import curve


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """What one host of each sort is like, and how many of them there are.

    A pattern is how many members of each kind are on one host.

    :ivar numbers: of hosts of each sort
    :ivar amounts: [kind, resource]; places for members are one of these, and
        resources of which all kinds take amounts in one proportion are one
    :ivar free: [sort, resource]
    :ivar room: [sort, kind]
    :ivar before: utilisation
    :ivar steps: [sort, kind]: what one member adds to the utilisation
    :ivar slopes: of the curve on which costs rise with utilisation
    :ivar twins: kinds that differ only in who is kept together
    :ivar corners: values of resources, for any prices
    """

    numbers: np.ndarray
    cell: np.ndarray
    amounts: np.ndarray
    free: np.ndarray
    room: np.ndarray
    opening: np.ndarray
    before: np.ndarray
    steps: np.ndarray
    slopes: np.ndarray
    twins: Twins
    corners: Corners
    _order: np.ndarray
    _first: np.ndarray

    @classmethod
    def of(cls, kinds: Kinds, columns: Columns, outlay: Outlay) -> 'Alike':
        """Sorts in the order of what they look like, which is always one."""
        amounts, free = _together(
            np.column_stack((kinds.amounts, np.ones_like(kinds.numbers))),
            np.column_stack((columns.free, np.full(
                len(columns.hosts), kinds.crowd))))
        table = np.column_stack((
            columns.cell, free, columns.room, columns.opening,
            columns.before, columns.steps)).astype(float) + 0.0
        looks = np.ascontiguousarray(table).view(
            np.dtype((np.void, table.dtype.itemsize * table.shape[1])))
        _, some, of, numbers = np.unique(
            looks.ravel(), return_index=True, return_inverse=True,
            return_counts=True)
        return cls(
            numbers, columns.cell[some],
            amounts, free[some],
            np.minimum(columns.room[some], kinds.numbers),
            columns.opening[some], columns.before[some], columns.steps[some],
            np.array(outlay.slopes), Twins.of(kinds, amounts),
            Corners(amounts), np.argsort(of, kind='stable'),
            np.cumsum(numbers) - numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    def hosts(self, sort: int) -> np.ndarray:
        """Numbers of its hosts in the relaxation's columns."""
        first = self._first[sort]
        return self._order[first:first + self.numbers[sort]]

    def rise(self, sorts: np.ndarray, added: np.ndarray) -> np.ndarray:
        """Cost of adding that to the hosts' utilisation."""
        if not len(self.slopes):
            return np.zeros(len(sorts))
        before = self.before[sorts]
        return curve(before + added, self.slopes) - curve(before, self.slopes)

    def cost(self, sorts: np.ndarray, patterns: np.ndarray) -> np.ndarray:
        """Of one host of each sort with the pattern on it."""
        added = (self.steps[sorts] * patterns).sum(axis=1) if len(
            self.slopes) else np.zeros(len(sorts))
        return np.where(patterns.any(axis=1), self.opening[sorts], 0.0) + (
            self.rise(sorts, added))


def _together(amounts: np.ndarray,
              free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of resources that are taken in one proportion, the scarcest on each
    host, in units of what can be taken.

    :param amounts: [kind, resource]
    :param free: [host, resource]
    """
    some = amounts.any(axis=0)
    units = np.gcd.reduce(amounts[:, some], axis=0)
    amounts, free = amounts[:, some] // units, free[:, some] // units
    _, first, of = np.unique(amounts, axis=1, return_index=True,
                             return_inverse=True)
    return amounts[:, np.sort(first)], np.array([
        free[:, of.reshape(-1) == of.reshape(-1)[n]].min(axis=1)
        for n in np.sort(first)]).T

# SPDX-License-Identifier: Apache-2.0
"""Hosts that are alike in all that a relaxation sees of them, as one."""

from dataclasses import dataclass

import numpy as np

from nova_holistic.model.objective import Outlay
from nova_holistic.solver.column_generation.dominance import Dominance
from nova_holistic.solver.column_generation.dual_vertices import DualVertices
from nova_holistic.solver.decomposition.columns import Columns
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.utilisation_curve import curve


@dataclass(frozen=True, slots=True, eq=False)
class HostTypes:
    """What one host of each type is like, and how many of them there are.

    A pattern is how many members of each kind are on one host.

    :ivar numbers: of hosts of each type
    :ivar amounts: [kind, resource]; places for members are one of these, and
        resources of which all kinds take amounts in one proportion are one
    :ivar free: [type, resource]
    :ivar room: [type, kind]
    :ivar before: utilisation
    :ivar steps: [type, kind]: what one member adds to the utilisation
    :ivar slopes: of the curve on which costs rise with utilisation
    :ivar dominance: kinds that differ only in who is kept together
    :ivar dual_vertices: values of resources, for any prices
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
    dominance: Dominance
    dual_vertices: DualVertices
    _order: np.ndarray
    _first: np.ndarray

    @classmethod
    def of(cls, kinds: Kinds, columns: Columns, outlay: Outlay) -> 'HostTypes':
        """Types in the order of what they look like, which is always one."""
        amounts, free = _merged_resources(
            np.column_stack((kinds.amounts, np.ones_like(kinds.numbers))),
            np.column_stack((columns.free, np.full(
                len(columns.hosts), kinds.most_on_a_host))))
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
            np.array(outlay.slopes), Dominance.of(kinds, amounts),
            DualVertices(amounts), np.argsort(of, kind='stable'),
            np.cumsum(numbers) - numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    def hosts(self, host_type: int) -> np.ndarray:
        """Numbers of its hosts in the relaxation's columns."""
        first = self._first[host_type]
        return self._order[first:first + self.numbers[host_type]]

    def cost_increase(self, types: np.ndarray,
                      added: np.ndarray) -> np.ndarray:
        """Cost of adding that to the hosts' utilisation."""
        if not len(self.slopes):
            return np.zeros(len(types))
        before = self.before[types]
        return curve(before + added, self.slopes) - curve(before, self.slopes)

    def cost(self, types: np.ndarray, patterns: np.ndarray) -> np.ndarray:
        """Of one host of each type with the pattern on it."""
        added = (self.steps[types] * patterns).sum(axis=1) if len(
            self.slopes) else np.zeros(len(types))
        return np.where(patterns.any(axis=1), self.opening[types], 0.0) + (
            self.cost_increase(types, added))


def _merged_resources(amounts: np.ndarray,
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

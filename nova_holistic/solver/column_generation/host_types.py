# SPDX-License-Identifier: Apache-2.0
"""Host types: hosts that are identical for a relaxation, merged into one."""

from dataclasses import dataclass

import numpy as np

from nova_holistic.model.objective import HostCost
from nova_holistic.solver.column_generation.dual_vertices import DualVertices
from nova_holistic.solver.decomposition.columns import Columns
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.utilisation_curve import curve


@dataclass(frozen=True, slots=True, eq=False)
class HostTypes:
    """Properties of one host of each type, and the number of such hosts.

    A pattern is the number of members of each kind on one host.

    :ivar numbers: [type]: number of hosts
    :ivar cell: [type]: cell of the hosts
    :ivar amounts: [kind, resource]. The number of members counts as a
        resource. Resources with proportional amounts for all kinds are merged.
    :ivar free: [type, resource]
    :ivar room: [type, kind]: maximum number of members
    :ivar opening: [type]: cost of using a host
    :ivar before: [type]: utilisation before any member is added
    :ivar steps: [type, kind]: increase of the utilisation by one member
    :ivar slopes: slopes of the cost curve over the utilisation; empty if the
        cost does not depend on it
    :ivar dual_vertices: dual values of the resources, for any prices
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
    dual_vertices: DualVertices
    _order: np.ndarray
    _first: np.ndarray

    @classmethod
    def of(cls, kinds: Kinds, columns: Columns,
           host_cost: HostCost) -> 'HostTypes':
        """Return the types in a deterministic order: sorted by their
        properties."""
        amounts, free = _merged_resources(
            np.column_stack((kinds.amounts, np.ones_like(kinds.numbers))),
            np.column_stack((columns.free, np.full(
                len(columns.hosts), kinds.most_on_a_host))))
        table = np.column_stack((
            columns.cell, free, columns.room, columns.opening,
            columns.before, columns.steps)).astype(float) + 0.0
        records = np.ascontiguousarray(table).view(
            np.dtype((np.void, table.dtype.itemsize * table.shape[1])))
        _, some, of, numbers = np.unique(
            records.ravel(), return_index=True, return_inverse=True,
            return_counts=True)
        return cls(
            numbers, columns.cell[some],
            amounts, free[some],
            np.minimum(columns.room[some], kinds.numbers),
            columns.opening[some], columns.before[some], columns.steps[some],
            np.array(host_cost.slopes), DualVertices(amounts),
            np.argsort(of, kind='stable'), np.cumsum(numbers) - numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    def hosts(self, host_type: int) -> np.ndarray:
        """Numbers of the type's hosts in the columns of the relaxation."""
        first = self._first[host_type]
        return self._order[first:first + self.numbers[host_type]]

    @property
    def of_host(self) -> np.ndarray:
        """[host of the columns]: its type."""
        found = np.zeros_like(self._order)
        found[self._order] = np.repeat(np.arange(len(self)), self.numbers)
        return found

    def cost_increase(self, types: np.ndarray,
                      added: np.ndarray) -> np.ndarray:
        """Cost of the increase of the utilisation of one host of each of these
        types by ``added``."""
        if not len(self.slopes):
            return np.zeros(len(types))
        before = self.before[types]
        return curve(before + added, self.slopes) - curve(before, self.slopes)

    def cost(self, types: np.ndarray, patterns: np.ndarray) -> np.ndarray:
        """Cost of one host of each of these types with its pattern.

        :param patterns: [number, kind], in the order of ``types``
        """
        added = (self.steps[types] * patterns).sum(axis=1) if len(
            self.slopes) else np.zeros(len(types))
        return np.where(patterns.any(axis=1), self.opening[types], 0.0) + (
            self.cost_increase(types, added))


def _merged_resources(amounts: np.ndarray,
                      free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Merge resources with proportional amounts. For each host, keep the
    scarcest of them, in units of the common divisor of the amounts.

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

# SPDX-License-Identifier: Apache-2.0
"""A lower bound for members that all differ, from the prices of coarse kinds.

The bound of the linear program of coarse kinds is weak, because a kind
requests the minimum amounts of its members. Its prices are also a dual
solution of the program with one variable for each member and bin, except for
the price of a member, which is the smallest reduced cost over all bins with
room for it. By weak duality, any prices prove a bound, so the large program is
never built. Kinds that request the mean amounts lead to the best prices.
"""

from dataclasses import dataclass, replace

import numpy as np

from nova_holistic.model.objective import HostCost
from nova_holistic.solver.decomposition.aggregated_program import (
    AggregatedProgram)
from nova_holistic.solver.decomposition.columns import Columns, utilisation
from nova_holistic.solver.milp.weak_duality import least_sum, MACHINE_EPSILON
from nova_holistic.solver.problem.eligibility import demands
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.utilisation_curve import curve


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The members of coarse kinds, in the order of the kinds.

    :ivar kind: [member]: number of its kind
    :ivar amounts: [member, resource class]: requested amounts
    """

    kind: np.ndarray
    amounts: np.ndarray

    @classmethod
    def of(cls, kinds: Kinds) -> 'Members':
        """Return the members of all kinds with their exact amounts."""
        column = {name: number for number, name in enumerate(kinds.names)}
        kind = np.repeat(np.arange(len(kinds.kinds)), kinds.numbers)
        amounts = np.zeros((len(kind), len(column)), dtype=np.int64)
        every = (m for each in kinds.kinds for m in each.members)
        for row, member in zip(amounts, every):
            for name, amount in demands(member.requirements):
                row[column[name]] = amount
        return cls(kind, amounts)

    def means(self, kinds: Kinds) -> np.ndarray:
        """[kind, resource class]: the mean amounts, rounded up."""
        total = np.zeros_like(kinds.amounts)
        np.add.at(total, self.kind, self.amounts)
        return -(-total // kinds.numbers[:, None])


def typical_kinds(kinds: Kinds, columns: Columns,
                  members: Members) -> tuple[Kinds, Columns]:
    """Kinds that request mean amounts, and the same hosts as columns. Their
    program gives only prices."""
    typical = replace(kinds, amounts=members.means(kinds))
    steps = columns.steps
    if steps.shape[1]:
        units = utilisation(typical, columns.hosts)[1]
        steps = units @ typical.amounts.T
    return typical, replace(columns, steps=steps)


@dataclass(frozen=True, slots=True, eq=False)
class MemberBound:
    """The bound at the prices of a solved program.

    :ivar kinds: the coarse kinds
    :ivar program: the program, with the dual values of its rows
    :ivar columns: hosts of the coarse kinds
    :ivar bins: hosts of each bin, as numbers in the columns
    """

    members: Members
    kinds: Kinds
    program: AggregatedProgram
    columns: Columns
    bins: list[np.ndarray]
    host_cost: HostCost

    def least(self) -> float | None:
        """Lower bound of the cost of all these members; None if nothing is
        proved."""
        linear, rows = self.program.program, self.program.member_rows
        duals = linear.duals.copy()
        for own in (rows.placed, rows.room):
            duals[own] = 0.0
        of_x, dual = self.program.of_x, linear.dual()
        # Reduced costs without the rows that depend on the amounts.
        other = duals.copy()
        for own in (*rows.capacity, rows.pieces, rows.alone):
            other[own] = 0.0
        upper = linear.upper.astype(float)
        upper[of_x.ravel()] = 0.0
        rest = dual.bound(duals, linear.lower_limits(), upper)
        reduced, rounding_error = dual.reduced(other)
        if rest is None or not len(self.bins):
            return None
        costs, size = self._costs(duals)
        kind = self.members.kind
        costs = costs + reduced[of_x][kind] - (
            rounding_error[of_x][kind] + MACHINE_EPSILON * 8 * size)
        costs[~self._fits()] = np.inf
        each = costs.min(axis=1)
        if not np.isfinite(each).all():
            return None
        return least_sum(np.append(each, rest))

    def _costs(self, duals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """[member, bin]: the price of the amounts, and an upper bound of the
        sum of the absolute values of its terms."""
        rows, amounts = self.program.member_rows, self.members.amounts
        costs = np.zeros((len(amounts), len(self.bins)))
        for number, own in enumerate(rows.capacity):
            # Multipliers of upper limits are at most 0.
            costs += np.outer(amounts[:, number] / rows.scale[number],
                              -np.minimum(duals[own], 0.0))
        if self.host_cost.slopes:
            steps, before = self._steps()
            slopes = np.array(self.host_cost.slopes)
            alone = (curve(before + steps, slopes) - curve(before, slopes))
            costs += steps / rows.unit * np.maximum(duals[rows.pieces], 0.0)
            costs += alone * np.maximum(duals[rows.alone], 0.0)
        return costs, np.abs(costs) + 1.0

    def _steps(self) -> tuple[np.ndarray, np.ndarray]:
        """[member, bin]: minimum increase of the utilisation of a host by the
        member; and [bin]: minimum utilisation before it is added."""
        units = utilisation(self.kinds, self.columns.hosts)[1]
        least = np.array([units[hosts].min(axis=0) for hosts in self.bins])
        before = np.array([self.columns.before[hosts].min()
                           for hosts in self.bins])
        return self.members.amounts @ least.T, before

    def _fits(self) -> np.ndarray:
        """[member, bin]: whether some host of the bin may have room."""
        room = np.array([self.columns.room[hosts].max(axis=0)
                         for hosts in self.bins]) > 0
        found = room.T[self.members.kind]
        free = np.array([self.columns.free[hosts].max(axis=0)
                         for hosts in self.bins])
        for number, amounts in enumerate(self.members.amounts.T):
            found &= amounts[:, None] <= free[:, number]
        return found

# SPDX-License-Identifier: Apache-2.0
"""The program over bins of merged hosts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from nova_holistic.model.objective import HostCost
from nova_holistic.solver.decomposition.bins import Bins
from nova_holistic.solver.decomposition.cell_counts import CellCounts
from nova_holistic.solver.decomposition.cells import Cells
from nova_holistic.solver.decomposition.cohesive_sets import (
    BinVariables, CohesiveSetRows)
from nova_holistic.solver.decomposition.columns import Columns
from nova_holistic.solver.decomposition.host_numbers import (
    add_host_numbers, coarse_domains, used_coarse_domains)
from nova_holistic.solver.limits.current import decomposition as limits
from nova_holistic.solver.milp.backend import Outcome
from nova_holistic.solver.milp.branching import Branching
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.numerics.tolerances import EQUAL_COSTS, SUM_ROUNDING
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.utilisation_curve import curve


@dataclass(slots=True)
class MemberRows:
    """Rows whose coefficients depend on the amounts that a member requests.

    :ivar placed: a row of each kind
    :ivar capacity: rows of the bins, for each resource class
    :ivar scale: [resource class]: divisor of the amounts in these rows
    :ivar room: rows of the room for members of one kind
    :ivar pieces: rows of the bins for the pieces of the cost curve
    :ivar unit: divisor of the utilisation in these rows
    :ivar alone: rows of the bins for the cost of members alone on a host
    """

    placed: slice
    capacity: list[slice]
    scale: np.ndarray
    room: slice = field(default_factory=lambda: slice(0))
    pieces: slice = field(default_factory=lambda: slice(0))
    unit: float = 1.0
    alone: slice = field(default_factory=lambda: slice(0))


class AggregatedProgram:
    """Variables: x[kind, bin], y[bin] hosts in use, pieces of the cost curves,
    and the variables of the cells' rules.

    :ivar preferences: their cost, as factors of the variables
    :ivar of_x: [kind, bin]: numbers of the variables x
    :ivar member_rows: rows that depend on the amounts of members
    :ivar used: number of hosts in use of each bin, after the program is solved
    :ivar domains: mask of the cells' variables of domains in use, after the
        program is solved
    :ivar parts: [part, cell]: members of the cells' parts, after the program
        is solved
    :ivar penalty: cost of the preferences, after the program is solved
    """

    def __init__(self, kinds: Kinds, cells: Cells, host_cost: HostCost,
                 columns: Columns, bins: Sequence[np.ndarray]):
        self._kinds, self._count = len(kinds.kinds), len(bins)
        self._cells, self._slopes = cells, host_cost.slopes
        self._merged = merged = Bins.of(kinds, columns, bins)
        k, b = self._kinds, self._count
        # If costs rise with utilisation, enough hosts are in use without rows
        # of cohesive sets.
        cohesive_rows = CohesiveSetRows(
            () if host_cost.slopes else cells.cohesive_sets, b)
        pieces = 1 + len(host_cost.slopes) if host_cost.slopes else 0
        n_x, n_p = k * b, pieces * b
        self._first = n_x + b + n_p
        last = self._first + len(cells.free)
        self._size = last + cohesive_rows.size
        cost = np.zeros(self._size)
        cost[n_x:n_x + b] = merged.opening
        upper = np.concatenate((
            (merged.room * merged.size[:, None]).T.ravel(), merged.size,
            np.full(n_p, np.inf), cells.free,
            cohesive_rows.upper(cells.parts))).astype(float)
        self.program = Linear(cost, upper)
        of_x, of_y = np.arange(n_x).reshape(k, b), n_x + np.arange(b)
        self.of_x = of_x
        self._add_capacity(kinds, merged, of_x, of_y)
        self._limit(kinds, merged, of_x, of_y)
        if host_cost.slopes:
            self._add_cost_pieces(columns, bins, merged.size, n_x + b, of_x)
        self._cell = merged.cell
        before = self.program.count
        counts = CellCounts(cells, of_x, merged.cell, self._first)
        counts.add_rows(self.program)
        self._rules = slice(before, self.program.count)
        cohesive_rows.add_rows(
            self.program, cells.parts,
            BinVariables(of_x, of_y, counts.of_z, merged.cell,
                         merged.weight_ratio), last)
        self._use_hosts(cells.fewest, merged, of_y)
        self._of_y, self._of_n = of_y, of_y[:0]
        self._own = slice(self._first, last)
        self._is_integer = np.zeros(self._size, dtype=bool)
        self._is_integer[self._own] = cells.used
        self.preferences = counts.penalty(self._size)

    def _add_capacity(self, kinds: Kinds, bins: Bins, of_x: np.ndarray,
                      of_y: np.ndarray) -> None:
        # Every member is placed exactly once.
        self.program.add_rows([(of_x.T, 1.0)], kinds.numbers, kinds.numbers)
        # Members take at most the free amounts of the hosts in use of a bin.
        scale = np.maximum(kinds.amounts.max(axis=0, initial=1), 1)
        self.member_rows = MemberRows(
            slice(0, self._kinds), [], scale)
        for c in range(len(kinds.names)):
            first = self.program.count
            self.program.add_rows([
                (of_x, (kinds.amounts[:, c] / scale[c])[:, None]),
                (of_y, -bins.free[:, c] / scale[c])], -np.inf, 0.0)
            self.member_rows.capacity.append(
                slice(first, self.program.count))
        for c in range(len(kinds.names) if kinds.is_coarse else 0):
            # The hosts in use have room for the total demand of the members.
            self.program.add_row([(of_y, bins.free[:, c] / scale[c])],
                                 kinds.total[c] / scale[c], np.inf)

    def _use_hosts(self, fewest: int, bins: Bins, of_y: np.ndarray) -> None:
        """Require this number of hosts without members that stay."""
        new_hosts = np.flatnonzero(bins.has_new)
        if fewest > 0 and not self._slopes:
            self.program.add_row(
                [(of_y[new_hosts], bins.weight_ratio[new_hosts])],
                float(fewest), np.inf)

    def _limit(self, kinds: Kinds, bins: Bins, of_x: np.ndarray,
               of_y: np.ndarray) -> None:
        # No host in use holds more members of a kind than it has room for. The
        # row is omitted if the free amounts imply nearly the same limit.
        with np.errstate(divide='ignore', invalid='ignore'):
            limiting = np.nanmin(np.where(
                kinds.amounts > 0, bins.free[:, None, :] / kinds.amounts,
                np.inf), axis=2, initial=np.inf) > bins.room * (
                    1 + limits().room_slack)
        kind, bin_ = np.nonzero(limiting.T)
        first = self.program.count
        self.program.add_rows([
            (of_x[kind, bin_], 1.0),
            (of_y[bin_], -bins.room[bin_, kind])], -np.inf, 0.0)
        self.member_rows.room = slice(first, self.program.count)
        # If costs rise with utilisation, no host is near that limit.
        if not self._slopes and kinds.most_on_a_host < min(
                kinds.numbers.sum(), bins.room.sum(axis=1).max(initial=0)):
            # A host holds no more of all kinds than the policies allow.
            self.program.add_rows([
                (of_x, 1.0), (of_y, -kinds.most_on_a_host
                              * bins.weight_ratio)], -np.inf, 0.0)

    def _add_cost_pieces(self, columns: Columns, bins: Sequence[np.ndarray],
                         size: np.ndarray, first: int,
                         of_x: np.ndarray) -> None:
        """Add one cost variable per bin, with two lower bounds: the pieces of
        the curve, and the cost of each member alone on a host."""
        b, number = self._count, len(self._slopes)
        before = np.array([columns.before[e].min() for e in bins])
        steps = np.array([columns.steps[e].min(axis=0) for e in bins])
        edges = np.arange(number + 1) / number
        low = np.maximum(edges[:-1], before[:, None])
        width = np.maximum(edges[1:] - low, 0.0)
        # The last piece is slightly wider, because sums of utilisations are
        # rounded.
        width[:, -1] += SUM_ROUNDING
        of_p = first + b + np.arange(number * b).reshape(number, b)
        self.program.upper[of_p.ravel()] = (width * size[:, None]).T.ravel()
        self._cover_utilisation(steps, of_p, of_x)
        of_c = first + np.arange(b)
        slopes = np.array(self._slopes)
        alone = (curve(before[:, None] + steps, slopes)
                 - curve(before[:, None], slopes))
        self.program.cost[of_c] = 1.0
        # A bin costs at most all its pieces, or all members alone.
        self.program.upper[of_c] = np.maximum(np.maximum(
            (width * size[:, None]) @ slopes, 0.0),
            (alone.T * self.program.upper[of_x]).sum(axis=0))
        # Each bin costs at least the sum of its terms.
        self.program.add_rows([(of_c, 1.0), (of_p, -slopes[:, None])],
                              0.0, np.inf)
        self.member_rows.alone = slice(self.program.count,
                                       self.program.count + b)
        self.program.add_rows([(of_c, 1.0), (of_x, -alone.T)], 0.0, np.inf)

    def _cover_utilisation(self, steps: np.ndarray, of_p: np.ndarray,
                           of_x: np.ndarray) -> None:
        """The pieces cover all utilisation that is added.

        :param steps: [bin, kind]: utilisation that one member adds
        :param of_p: [piece, bin]: variables of the pieces
        """
        own, first = self.member_rows, self.program.count
        own.unit = max(float(steps.max(initial=0)), EQUAL_COSTS)
        own.pieces = slice(first, first + self._count)
        self.program.add_rows([
            (of_p, 1 / own.unit), (of_x, -(steps.T / own.unit))], 0.0, np.inf)

    def require_integers(self) -> None:
        """Require whole numbers of hosts in use and of members."""
        self.program.integer = np.arange(self._size) < (
            self._kinds + 1) * self._count
        self.program.integer[self._own] = self._cells.whole
        self.program.integer[self._own.stop:] = True

    def count_hosts(self) -> None:
        """Let ``solve_relaxed`` require integrality only for variables of
        coarse domains: their numbers of hosts in use, and whether they are
        used. The limits of hosts determine the fewest hosts as well."""
        self._use_hosts(self._cells.fewest_with_limits, self._merged,
                        self._of_y)
        own = np.zeros(len(self.program.cost), dtype=bool)
        own[self._own] = used_coarse_domains(self._cells)
        self._of_n = add_host_numbers(
            self.program, self._merged, self._of_y,
            coarse_domains(self._cells))
        self._is_integer = np.append(own, np.ones(len(self._of_n), dtype=bool))

    def minimise_penalty(self) -> None:
        """Minimise only the cost of preferences, in units of the largest
        factor."""
        self.program.cost = self.preferences.factors / self.preferences.unit

    @property
    def duals(self) -> np.ndarray:
        """Dual values of the linear program of the solution: the cost of a
        member of each kind, then the value of each row of the cells' rules."""
        return np.concatenate((self.program.duals[:self._kinds],
                               self.program.duals[self._rules]))

    def solve(self, seconds: float, gap: float = 0.0,
              nodes: int | None = None) -> tuple[Outcome, np.ndarray]:
        """Return the outcome, and [kind, bin]: members, which are 0 if the
        program was not solved."""
        outcome, values = self.program.solve(seconds, gap, nodes)
        return outcome, self._read(outcome, values)

    def solve_relaxed(self, gap: float,
                      left: Callable[[], float]) -> tuple[Outcome, np.ndarray]:
        """Solve with integrality only for the variables of domains in use.

        :param left: returns the seconds that are left
        """
        branching = Branching(self.program, self._is_integer)
        outcome = branching.solve(gap, left)
        return outcome, self._read(outcome, branching.solution)

    def _read(self, outcome: Outcome, values: np.ndarray) -> np.ndarray:
        n_x = self._kinds * self._count
        if not outcome.solved:
            values = np.zeros(len(self.program.cost))
        x = values[:n_x].reshape(self._kinds, self._count)
        self.used = values[n_x:n_x + self._count]
        self.parts = self._cells.in_cells(x, self._cell, values[self._own])
        self.domains = self._cells.used & (values[self._own] > 0.5)
        self.penalty = self.preferences.constant + float(
            self.preferences.factors @ values[:self._size])
        return x

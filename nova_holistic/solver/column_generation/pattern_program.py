# SPDX-License-Identifier: Apache-2.0
"""The integer program of a small group over all patterns that a better plan
can use.

Its variables are whole numbers of hosts with each pattern, and of members in
each cell. Its linear relaxation is that of column generation, so its bound is
at least as good. It contains the policies on cells and omits the others.
Therefore, its optimum is a bound for all plans below a cutoff, and in most
cases its solution leads to a plan of the same cost.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nova_holistic.solver.column_generation.cell_program import (
    cell_program, shares_and_parts)
from nova_holistic.solver.column_generation.dominated_patterns import (
    without_dominated)
from nova_holistic.solver.column_generation.generation import ColumnGeneration
from nova_holistic.solver.column_generation.pattern_placement import (
    places_of_hosts)
from nova_holistic.solver.column_generation.pattern_states import (
    cheapest_cover, suits_states)
from nova_holistic.solver.column_generation.patterns import Patterns
from nova_holistic.solver.column_generation.useful_patterns import (
    useful_patterns)
from nova_holistic.solver.decomposition.cells import Cells
from nova_holistic.solver.limits.current import small_groups as limits
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.numerics.tolerances import (
    BOUND_ERROR, SUM_ROUNDING)
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.kinds import Kinds

Places = tuple[np.ndarray, np.ndarray]
"""Places as [kind, host of the columns], and members as [part, cell]."""


@dataclass(frozen=True, slots=True, eq=False)
class PatternProgram:
    """A relaxation whose column generation has ended, and the known plan.

    :ivar cost: cost of the preferences of the known plan
    :ivar value: value of the known plan, without the hosts of members that
        stay
    :ivar bound: known lower bound of the value, without these hosts
    :ivar gap: acceptable relative gap
    """

    kinds: Kinds
    cells: Cells
    generation: ColumnGeneration
    cost: Fraction | float
    value: float
    bound: float
    gap: float

    def solve(self, deadline: Deadline
              ) -> tuple[float, Places | None] | None:
        """Return a lower bound of the cost of all plans whose preferences cost
        at most that of the known plan, without the hosts of members that stay,
        and places of a better plan, if they are found. None if there are too
        many patterns or nothing is proved.

        :raises OutOfTime: if the time ends before the program is built
        """
        types = self.generation.host_types
        prices, gains, floor = self.generation.proved_prices()
        distance = self.value - floor
        for _ in range(limits().cutoffs):
            if floor + distance <= max(floor, self.bound):
                return None
            error = BOUND_ERROR * (distance + float(
                gains.most.max(initial=0)))
            hosts = self._most_hosts(floor + distance)
            patterns = useful_patterns(
                types, prices, gains.most - distance - error, hosts,
                deadline.check)
            if patterns is not None:
                return self._solved(
                    without_dominated(types, patterns, hosts, deadline.check),
                    hosts, floor + distance, deadline)
            distance /= 2
        return None

    def _most_hosts(self, cutoff: float) -> int:
        """The maximum number of hosts in a plan below the cutoff: even the
        cheapest hosts cost more together than the cutoff if they are more."""
        types, most = self.generation.host_types, len(self.kinds.members)
        some = types.room.any(axis=1)
        costs = np.sort(np.repeat(types.opening[some], np.minimum(
            types.numbers[some], most)))[:most].cumsum()
        return int(np.searchsorted(costs, cutoff * (1 + BOUND_ERROR), 'right'))

    @property
    def _fewest_hosts(self) -> int:
        """The number of hosts that the policies require."""
        return 0 if self.kinds.placed else self.cells.fewest_with_limits

    @property
    def _needs_further_hosts(self) -> bool:
        """Whether the policies require more hosts than the limit of members on
        one host does. Dynamic programming does not count the hosts."""
        kinds = self.kinds
        return self._fewest_hosts * kinds.most_on_a_host > (
            len(kinds.members) + kinds.most_on_a_host - 1)

    def _solved(self, patterns: Patterns, hosts: int, cutoff: float,
                deadline: Deadline) -> tuple[float, Places | None] | None:
        """The bound and the places of the program.

        :param patterns: all patterns that plans below the cutoff need
        :param hosts: maximum number of hosts in such a plan
        """
        types, numbers = self.generation.host_types, self.kinds.numbers
        if self.cells.count == 1 and not (
                self.cells.rows or self.cells.penalties
                or self._needs_further_hosts) and suits_states(
                    types, patterns, numbers, hosts):
            cost, used = cheapest_cover(types, patterns, numbers, hosts,
                                        deadline.check)
            return min(cost, cutoff) - SUM_ROUNDING * cutoff, (
                self._places(patterns, used, numbers[:, None],
                             self.cells.parts.numbers[:, None])
                if cost < cutoff else None)
        if len(patterns) > limits().program_patterns:
            return None
        program, unit = self._program(patterns, cutoff)
        outcome, values = program.solve(deadline.left(), self.gap)
        if outcome.bound is None:
            # The known plan is a solution if the cutoff is its value.
            # Therefore, nothing is derived from an infeasible program.
            return None
        bound = min(outcome.bound * unit, cutoff)
        if not outcome.solved:
            return bound, None
        hosts = np.rint(values[-len(patterns):]).astype(np.int64)
        return bound, self._places(patterns, hosts, *shares_and_parts(
            self.cells, values, (len(self.kinds.kinds), self.cells.count)))

    def _program(self, patterns: Patterns,
                 cutoff: float) -> tuple[Linear, float]:
        """The program, and the unit of its costs. Its variables are those of
        the cells, then the hosts with each pattern."""
        kinds, cells = self.kinds, self.cells
        types = self.generation.host_types
        program = cell_program(kinds, cells, float(self.cost))
        size = len(kinds.kinds) * cells.count
        places = np.arange(size)
        own, first = size + len(cells.free), len(program.upper)
        number = len(patterns)
        costs = types.cost(patterns.types, patterns.members)
        unit = max(cutoff, float(costs.max(initial=0))) or 1.0
        program.cost = np.concatenate((np.zeros(first), costs / unit))
        # All members have a place.
        program.upper[own:] = 0.0
        program.upper = np.concatenate((
            program.upper, types.numbers[patterns.types]))
        program.integer = np.concatenate((
            np.ones(size, dtype=bool), cells.whole,
            np.zeros(size, dtype=bool), np.ones(number, dtype=bool)))
        of, kind = np.nonzero(patterns.members)
        # Patterns cover the members of each cell.
        program.add(
            np.concatenate((kind * cells.count + types.cell[
                patterns.types[of]], places)),
            np.concatenate((first + of, places)), np.concatenate((
                patterns.members[of, kind], np.full(size, -1.0))),
            0.0, np.inf, size)
        columns = first + np.arange(number)
        used, rows = np.unique(patterns.types, return_inverse=True)
        # No more hosts of a type than exist carry a pattern.
        program.add(rows.reshape(-1), columns, np.ones(number), -np.inf,
                    types.numbers[used].astype(float), len(used))
        if self._fewest_hosts:
            program.add_row([(columns, 1.0)], self._fewest_hosts, np.inf)
        return program, unit

    def _places(self, patterns: Patterns, hosts: np.ndarray,
                shares: np.ndarray, parts: np.ndarray) -> Places:
        """The places of a solution.

        :param hosts: [pattern]: number of hosts with it
        :param shares: [kind, cell]: members
        :param parts: [part, cell]: members
        """
        used = np.flatnonzero(hosts)
        return places_of_hosts(self.generation.host_types, patterns.only(used),
                               hosts[used], shares), parts

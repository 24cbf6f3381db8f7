# SPDX-License-Identifier: Apache-2.0
"""A relaxation of the whole problem on merged hosts; its optimum is a bound.

A cell is a set of hosts that rules on all members do not distinguish. Similar
hosts of one cell form a bin, which is as good as the best of them in every
respect. Bins that the solution uses are split until they are as good as their
hosts. Of the rules, the program contains only those on few domains. The bound
remains valid without the others.
"""

from collections.abc import Sequence

import numpy as np

from nova_holistic.model.objective import HostCost
from nova_holistic.solver.decomposition.aggregated_program import (
    AggregatedProgram)
from nova_holistic.solver.decomposition.cells import Cells
from nova_holistic.solver.decomposition.columns import columns, constant
from nova_holistic.solver.decomposition.member_bound import (
    MemberBound, Members, typical_kinds)
from nova_holistic.solver.limits.current import decomposition as limits
from nova_holistic.solver.limits.current import phases
from nova_holistic.solver.milp.backend import Outcome, Status
from nova_holistic.solver.milp.weak_duality import least_sum
from nova_holistic.solver.numerics.cost_rounding import rounded_up
from nova_holistic.solver.numerics.dual_bounds import DualBounds
from nova_holistic.solver.numerics.host_duals import HostDuals
from nova_holistic.solver.numerics.tolerances import EQUAL_COSTS
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.kinds import Kinds


class HostAggregation:
    """The relaxation, which splits bins and solves its program again while
    this improves the bound.

    :ivar bound: lower bound of the cost of all placements whose preferences
        cost at most ``limit``, including members that stay; None if nothing is
        proved
    :ivar least: lower bound of the cost of preferences
    :ivar limit: upper bound of the cost of preferences in the solution
    :ivar impossible: whether it is proved that no placement exists
    :ivar solution: for each bin in use, the numbers of its hosts in the
        columns, and [kind]: its members
    :ivar considered: for each bin in use, how many of its hosts the selection
        of hosts takes
    :ivar proved: further bounds from other sources, with their limits
    :ivar domains: mask of the cells' variables of domains in use
    :ivar duals: cost of a member of each kind, and of each row of the cells'
        rules
    :ivar columns: the hosts that can be used
    :ivar pattern_columns: the hosts for which column generation generates
        patterns; by default all of them
    """

    def __init__(self, kinds: Kinds, cells: Cells, host_cost: HostCost,
                 deadline: Deadline):
        self.kinds = kinds
        self.cells = cells
        self.host_cost = host_cost
        self._deadline = deadline
        self._equality_tolerance = (
            limits().equal_hosts if host_cost.slopes else EQUAL_COSTS)
        self.columns = columns(kinds, cells.of, host_cost)
        self.pattern_columns = self.columns
        self.bound: float | None = None
        self.least = 0.0
        self.limit = float('inf')
        self.impossible = False
        self.solution: list[tuple[np.ndarray, np.ndarray]] = []
        self.considered: list[int] = []
        self.duals = np.zeros(0)
        self._solved: AggregatedProgram | None = None
        self.proved = DualBounds()
        self._next: list[np.ndarray] = []
        self._latest_bound = self._unlimited_bound = 0.0

    def run(self, rounds: int | None = None) -> None:
        """Run further rounds until no bin can be split, the bound hardly
        improves, or little time is left. Branching determines the domains in
        use in each round.

        :param rounds: maximum number of rounds; None means the limit
        """
        rounds = limits().rounds if rounds is None else rounds
        bins = self._next or _bins(
            self.columns.split_values(), self.columns.cell,
            limits().first_bins)
        if not self._next and not self._limit_preferences(bins):
            return
        for _ in range(rounds):
            before = self._latest_bound
            if not self._solve(bins):
                return
            more = None if abs(self._latest_bound - before) <= (
                limits().bound_progress
                * self._latest_bound) else self._split(bins)
            if more is None:
                return
            self._next = bins = more

    def is_impossible(self) -> bool:
        """Whether it is proved, independently of tolerances, that no placement
        exists, with any cost of preferences."""
        bins = _bins(self.columns.split_values(), self.columns.cell,
                     limits().first_bins)
        return self._program(bins, float('inf')).program.is_impossible(
            self._deadline.left())

    def bound_members(self) -> None:
        """Improve the bound of coarse kinds by the amounts of their members.
        """
        if not self.kinds.is_coarse or self.bound is None:
            return
        members = Members.of(self.kinds)
        kinds, its_columns = typical_kinds(self.kinds, self.columns, members)
        program = AggregatedProgram(kinds, self.cells, self.host_cost,
                                    its_columns, self._bins)
        program.preferences.limit(program.program, self.limit)
        outcome, _ = program.solve(self._deadline.left())
        if outcome.status is Status.OPTIMAL:
            least = MemberBound(members, self.kinds, program, self.columns,
                                self._bins, self.host_cost).least()
            if least is not None:
                self.proved.add(least + constant(
                    self.kinds, self.host_cost), self.limit)

    def count_hosts(self, deadline: Deadline) -> None:
        """Improve the bound by whole numbers of hosts: the cheapest
        necessary hosts, and those in coarse domains."""
        if self.bound is None or self.host_cost.slopes:
            return
        if not self.kinds.placed:
            self.proved.add(least_sum(np.sort(self.columns.opening)[
                :self.cells.fewest_with_limits]), float('inf'))
        program = self._program(self._bins, self.limit)
        program.count_hosts()
        outcome, _ = program.solve_relaxed(limits().domain_gap, deadline.left)
        if outcome.bound is not None:
            self.proved.add(self._cost(outcome), self.limit)

    def _split(self, bins: list[np.ndarray]) -> list[np.ndarray] | None:
        """Split the bins in use; None if splitting is not useful."""
        values = self.columns.split_values()
        used = zip(self._used_bins, self.solution)
        mixed = [number for number, (hosts, _) in used
                 if _is_heterogeneous(values[hosts], self._equality_tolerance)]
        if not mixed or self._deadline.left() < (
                limits().reserve_share * self._deadline.limit):
            return None
        parts = max(limits().bin_parts, limits().first_bins // len(mixed))
        split = [part for number in mixed
                 for part in _finely_split(values, bins[number], parts)]
        gone = set(mixed)
        return [b for n, b in enumerate(bins) if n not in gone] + split

    def host_duals(self) -> HostDuals | None:
        """The dual values of the hosts in the latest program; None if costs do
        not rise with utilisation, or if no program was solved."""
        if self._solved is None or not self.host_cost.slopes:
            return None
        rows, duals = self._solved.member_rows, self._solved.program.duals
        load = np.maximum(0.0, duals[rows.pieces]) / rows.unit
        shared = np.clip(duals[rows.pieces.stop:rows.alone.start], 0.0, 1.0)
        amounts = np.maximum(0.0, -np.stack(
            [duals[each] for each in rows.capacity], axis=1)) / rows.scale
        bin_of = np.repeat(np.arange(len(self._bins)),
                           [len(each) for each in self._bins])
        hosts = self.columns.hosts[np.concatenate(self._bins)]
        order = np.argsort(hosts)
        order = order[((load > 0) | amounts.any(axis=1))[bin_of[order]]]
        at = bin_of[order]
        return HostDuals(
            hosts[order], 1.0 - shared[at],
            (load / np.where(shared > 0, shared, 1.0))[at],
            self.kinds.names, amounts[at])

    def within(self, limit: float) -> float | None:
        """Return the bound for placements whose preferences cost at most the
        limit."""
        if self.bound is None:
            return None
        known = self.proved.at(limit)
        if limit <= self.limit:
            return max(self.bound, known)
        outcome, _ = self._program(self._bins, limit).solve_relaxed(
            limits().domain_gap, self._deadline.left)
        return max(self._unlimited_bound, self._cost(outcome), known)

    def _limit_preferences(self, bins: Sequence[np.ndarray]) -> bool:
        """Minimise the cost of preferences, and limit it in all later
        programs."""
        if not self.cells.penalties:
            return True
        program = self._program(bins, float('inf'))
        program.minimise_penalty()
        outcome, _ = program.solve_relaxed(0.0,
                                           self._deadline.part(
                                               phases().bound_share).left)
        if outcome.status is Status.INFEASIBLE:
            self.impossible = True
            return False
        weights = [weight for weight, _, _ in self.cells.penalties]
        if outcome.bound is not None:
            self.least = max(self.least, rounded_up(
                outcome.bound * program.preferences.unit
                + program.preferences.constant, weights))
        self.bound, self.limit = None, max(
            self.least, program.penalty) if outcome.solved else float('inf')
        # This bound holds for all plans, even if none is within that limit.
        outcome, _ = self._program(bins, float('inf')).solve_relaxed(
            limits().domain_gap, self._deadline.left)
        self._unlimited_bound = max(self._unlimited_bound, self._cost(outcome))
        return True

    def _cost(self, outcome: Outcome) -> float:
        """Return the proved cost of all members; 0 if nothing is proved."""
        return 0.0 if outcome.bound is None else (
            outcome.bound + constant(self.kinds, self.host_cost))

    def _program(self, bins: Sequence[np.ndarray],
                 limit: float) -> AggregatedProgram:
        program = AggregatedProgram(self.kinds, self.cells, self.host_cost,
                                    self.columns, bins)
        program.preferences.limit(program.program, limit)
        return program

    def _solve(self, bins: list[np.ndarray]) -> bool:
        program = self._program(bins, self.limit)
        outcome, x = program.solve_relaxed(limits().domain_gap,
                                           self._deadline.part(
                                               phases().program_share).left)
        if outcome.status is Status.INFEASIBLE and self.limit < float('inf'):
            # Preferences cost more if bins are split further.
            before = self.limit
            if not self._limit_preferences(bins):
                return False
            if self.limit <= before:
                self.limit = float('inf')
            return self._solve(bins)
        if outcome.status is Status.INFEASIBLE:
            self.impossible = True
            return False
        if not outcome.solved or outcome.bound is None:
            return False
        self._bins = bins
        self._latest_bound = self._cost(outcome)
        self.bound = self._latest_bound if self.bound is None else max(
            self.bound, self._latest_bound)
        self.domains = program.domains
        self.duals, self._solved = program.duals, program
        self._used_bins = np.flatnonzero(x.sum(axis=0) > 1e-6).tolist()
        self.solution = [(bins[b], x[:, b]) for b in self._used_bins]
        self.considered = [2 + int(np.ceil(2 * program.used[b]))
                           for b in self._used_bins]
        return True


def _bins(values: np.ndarray, cell: np.ndarray,
          number: int) -> list[np.ndarray]:
    found = []
    cells = np.unique(cell)
    for each in cells.tolist():
        found.extend(_split(values, np.flatnonzero(cell == each),
                            max(1, number // len(cells))))
    return found


def _split(values: np.ndarray, hosts: np.ndarray,
           number: int) -> list[np.ndarray]:
    """Split into about this number of parts of more similar hosts."""
    if number < 2 or len(hosts) < 2:
        return [hosts]
    here = values[hosts]
    low, high = here.min(axis=0), here.max(axis=0)
    widest = int(np.argmax(high - low))
    if high[widest] - low[widest] <= EQUAL_COSTS:
        return [hosts]
    # Cut in the middle of the range: few hosts may be far better than most.
    column = here[:, widest]
    cut = (low[widest] + high[widest]) / 2
    upper = column > cut
    if not upper.any() or upper.all():
        return [hosts]
    half = number // 2
    return (_split(values, hosts[~upper], number - half)
            + _split(values, hosts[upper], half))


def _finely_split(values: np.ndarray, hosts: np.ndarray,
                  parts: int) -> list[np.ndarray]:
    if len(hosts) <= parts:
        return [hosts[[n]] for n in range(len(hosts))]
    return _split(values, hosts, parts)


def _is_heterogeneous(values: np.ndarray, alike: float) -> bool:
    return len(values) > 1 and bool(
        (values.max(axis=0) - values.min(axis=0) > alike).any())

# SPDX-License-Identifier: Apache-2.0
"""Column generation: a lower bound of the cost from patterns of whole members
on hosts, and these patterns.

As in Dantzig and Wolfe, Decomposition Principle for Linear Programs
(Operations Research 8, 1960), with one subproblem per host type. The duals of
the master program price the members on all hosts, and the patterns with a
positive gain become new columns. In each iteration, the prices prove a
Lagrangian bound: the value of all members, less the gains of the hosts.
"""

from collections.abc import Sequence
import math

import numpy as np

from nova_holistic.model.objective import HostCost
from nova_holistic.solver.column_generation.branches import Branch
from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.column_generation.pricing import (
    Pricing, PricingResult)
from nova_holistic.solver.column_generation.restricted_master import (
    RestrictedMaster)
from nova_holistic.solver.column_generation.scaled_prices import (
    best_factor, scaled)
from nova_holistic.solver.decomposition.aggregation import HostAggregation
from nova_holistic.solver.decomposition.cells import Cells
from nova_holistic.solver.decomposition.columns import constant
from nova_holistic.solver.limits.current import column_generation as limits
from nova_holistic.solver.limits.current import decomposition
from nova_holistic.solver.limits.current import phases as phases_limits
from nova_holistic.solver.numerics.tolerances import SUM_ROUNDING
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.kinds import Kinds


class ColumnGeneration:
    """Patterns for the members of a relaxation.

    :ivar bound: lower bound of the cost of all placements whose preferences
        cost at most ``limit``, including the hosts of members that stay
    :ivar limit: limit of the relaxation if branches exist, else infinite
    :ivar floor: lower bound of the cost of the current branch, without the
        hosts of members that stay
    :ivar prices: [kind]: approximate price of a member
    :ivar numbers: number of members of each kind
    :ivar only_bounds: whether hosts only cost to be used and no plan follows:
        the program may then converge with few patterns
    :ivar time_share: share of the time limit that column generation and dives
        may use
    """

    def __init__(self, kinds: Kinds, cells: Cells, host_cost: HostCost,
                 aggregation: HostAggregation, deadline: Deadline,
                 branches: Sequence[Branch] = ()):
        """
        :param aggregation: a solved relaxation of the same kinds and cells
        :param branches: branches; every plan whose preferences cost at most
            the limit of the relaxation follows one of them
        """
        self.host_types = HostTypes.of(
            kinds, aggregation.pattern_columns, host_cost)
        # A later phase that uses the patterns has another deadline.
        self.deadline = deadline
        self.pricing = Pricing(self.host_types,
                               lambda: self.deadline.left() > 0)
        self.numbers = kinds.numbers
        self._constant = constant(kinds, host_cost)
        self.limit = aggregation.limit if branches else float('inf')
        known = max(0.0, aggregation.bound - self._constant)
        # Plans with a higher cost of preferences may have a lower cost.
        self.floor = self._known = known if branches or (
            aggregation.limit == float('inf')) else 0.0
        unit = known / len(kinds.members) or 1.0
        self.master = RestrictedMaster(kinds, cells, self.host_types, unit,
                                       self.limit)
        self.only_bounds = False
        self.time_share = phases_limits().relaxation_limit
        opening = self.host_types.opening
        self._equal_costs = not host_cost.slopes and bool(
            (opening == opening[:1]).all())
        self._branches = sorted(branches, key=lambda branch: -sum(
            aggregation.domains[number] == value
            for number, value in branch.fixed))
        for branch in self._branches[:1]:
            self.master.branch_on(branch)
        self._others = known if self._branches[1:] else float('inf')
        self._penalty = limits().penalty
        found = aggregation.duals[:len(kinds.kinds)]
        self._duals = np.zeros(self.master.rows)
        # Cells without hosts may have rows here that the bins omit. The cost
        # of preferences is in the last row.
        more = self.master.rows - len(aggregation.duals)
        duals = aggregation.duals if more in (0, 1) else found
        self._duals[:len(duals)] = duals
        self.prices = np.maximum(found, 0.1 * max(unit, found.max()))

    @property
    def bound(self) -> float:
        return min(self.floor, self._others) + self._constant

    @property
    def bound_prices(self) -> np.ndarray:
        """[kind]: the highest price of a member in any cell, in the best
        bound."""
        return self.master.prices(self._duals)[0].max(axis=1)

    def run(self, integral: bool) -> bool:
        """Generate patterns, and return whether they place all members on the
        most likely branch.

        :param integral: whether costs are whole numbers
        """
        self._warm_start()
        found = self._solve_branch(integral)
        if found and self._branches[1:]:
            self._solve_other_branches(integral)
        return found

    def proved_prices(self) -> tuple[np.ndarray, PricingResult, float]:
        """Prices as [kind, cell], the gains of hosts at these prices, and the
        bound that they prove together, without the hosts of members that
        stay."""
        duals = max((self._duals, self.master.duals), key=lambda each: (
            self._bound_of(*self._gains(each))))
        gains, proved = self._gains(duals)
        return self.master.prices(duals)[0], gains, self._bound_of(
            gains, proved)

    def _solve_other_branches(self, integral: bool) -> None:
        """Compute lower bounds for the other branches, and choose the best
        branch."""
        branches = [(self.master.value, self._branches[0], self.floor)]
        enough = (1 - limits().branch_gap) * self.floor
        if integral:
            # The bound has to exceed the next smaller whole number.
            base = self._constant
            enough = math.ceil(self.floor + base - 1e-6) - 1 + 1e-3 - base
        prices, _ = self.master.prices(self._duals)
        for branch in self._branches[1:]:
            self.master.branch_on(branch)
            self.floor = self._known
            # Patterns with a gain on the first branch probably have a gain on
            # this branch.
            mirrored = branch.mirrored_prices(self._branches[0], prices)
            self._add_columns(self.pricing((1 + limits().price_rise)
                                           * mirrored))
            found = self._solve_branch(integral, enough)
            if self.master.infeasible:
                self.floor = float('inf')
            branches.append((self.master.value if found else float('inf'),
                             branch, self.floor))
        _, branch, self.floor = min(branches, key=lambda each: each[0])
        self._others = min(floor for _, _, floor in branches)
        self.master.branch_on(branch)
        self.master.solve(self.deadline.left())

    def _solve_branch(self, integral: bool,
                      enough: float = float('inf')) -> bool:
        """Generate columns until the program has converged or the time ends.
        Return whether the patterns place all members.

        :param enough: a bound at which the branch can be abandoned
        """
        penalty = self._penalty
        self.master.penalise(penalty * self.prices)
        known, last = enough < float('inf'), float('inf')
        weight = 0.0 if known else limits().smoothing
        for _ in range(limits().rounds):
            if self.has_used_time_share() or not self.master.solve(
                    self.deadline.left()):
                return False
            if self.floor >= enough:
                return self.master.unplaced < 1e-6
            unplaced = self.master.unplaced > 1e-6
            converged = self._has_converged(integral)
            if converged and not unplaced:
                return True
            falls = self.master.value < last * (
                1 - decomposition().bound_progress)
            last = self.master.value
            useful = (falls or not self._equal_costs if unplaced
                      else falls and (known or self.only_bounds))
            if not converged and useful and self._add_columns(self.pricing(
                    self.master.prices(self.master.duals)[0],
                    max_types=self._heuristic_types(),
                    by_cost=self.only_bounds)):
                continue
            if unplaced and (converged or self._equal_costs):
                # If hosts have equal costs, the exact prices of a program
                # that leaves members unplaced prove weak bounds.
                if penalty > limits().largest_penalty:
                    return False
                self._penalty = penalty = penalty * limits().penalty_growth
                self.master.penalise(penalty * self.prices)
                last = float('inf')
                continue
            fresh, better = self._price(
                weight * self._duals + (1 - weight) * self.master.duals)
            if not (fresh or better or weight):
                break
            # Do not use smoothed prices that lead to neither columns nor a
            # better bound.
            useful = fresh or better and not self.only_bounds
            weight = limits().smoothing if useful else 0.0
        return self.master.unplaced < 1e-6

    def _heuristic_types(self) -> int:
        """Number of host types for heuristic pricing. If hosts have equal
        costs, the types in use come first, and have their best patterns
        already."""
        used = float(np.sum(self.master.used)) if self._equal_costs else 0.0
        return max(limits().cell_types, math.ceil(2 * used))

    def has_used_time_share(self) -> bool:
        """Whether column generation has used its share of the time limit."""
        return self.deadline.elapsed() > self.time_share * self.deadline.limit

    def _has_converged(self, integral: bool) -> bool:
        value = self.master.value
        if integral and self.master.unplaced < 1e-6:
            base = self._constant
            return math.ceil(self.floor + base - 1e-6) >= value + base
        return value - self.floor <= limits().converged_gap * value

    def _warm_start(self) -> None:
        """Start from the prices of the merged hosts, and raise them while the
        bound improves."""
        first = self._duals
        for number in range(limits().fixed_cost_rounds if self.only_bounds
                            else limits().warm_rounds):
            duals = first * (limits().fixed_cost_rise ** number
                             if self.only_bounds
                             else 1 + limits().price_rise * number)
            gains, proved = self._gains(duals)
            self._add_columns(gains)
            better = self._raises_bound(duals, gains, proved)
            some = np.flatnonzero(gains.known)
            supplied = self.host_types.numbers[some] @ (
                gains.known[some] + self.host_types.cost(
                    some, gains.patterns[some]))
            # If the patterns on the hosts have a higher value than all
            # members, the prices are too high.
            late = self._equal_costs and self.deadline.elapsed() > (
                phases_limits().program_share * self.deadline.limit)
            if supplied >= proved or (number and not better) or late:
                return

    def _price(self, duals: np.ndarray) -> tuple[int, bool]:
        """Return the number of new patterns, and whether the bound improved.
        """
        gains, proved = self._gains(duals)
        better = self._raises_bound(duals, gains, proved)
        return self._add_columns(gains), better

    def _gains(self, duals: np.ndarray) -> tuple[PricingResult, float]:
        prices, proved = self.master.prices(duals)
        return self.pricing(prices), proved

    def _add_columns(self, gains: PricingResult) -> int:
        some = np.flatnonzero(gains.known)
        if not len(self.host_types.slopes):
            # Hosts of the same cost have nearly equal gains. Only the best
            # patterns are added.
            some = some[np.sort(np.argsort(-gains.known[some], kind='stable')[
                :limits().new_columns])]
        return self.master.add(some, gains.patterns[some])

    def _raises_bound(self, duals: np.ndarray, gains: PricingResult,
                      proved: float) -> bool:
        """Store the bound and the duals if they improve the bound; return
        whether they do."""
        if self.only_bounds or self._equal_costs:
            factor = best_factor(self.host_types, gains, proved)
            duals, proved = factor * duals, factor * proved
            gains = scaled(gains, self.host_types, factor)
        found = self._bound_of(gains, proved)
        better = found > self.floor
        if better:
            self.floor = found
            self._duals = duals
        return better

    def _bound_of(self, gains: PricingResult, proved: float) -> float:
        """The bound that prices prove, after the gains of hosts are
        subtracted."""
        gained = float(self.host_types.numbers @ gains.most)
        return proved - gained - SUM_ROUNDING * (abs(proved) + gained)

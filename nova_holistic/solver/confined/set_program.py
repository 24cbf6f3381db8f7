# SPDX-License-Identifier: Apache-2.0
"""The program that divides sets of members among domains.

Variables: the number of domains of each class that have each choice of sets.
Rows: all sets are in domains, no class has more domains than exist, and limits
of several domains hold. Columns are generated as in ``column_generation``, but
all choices and their costs are known. For any prices of the sets, the value of
all sets less the largest gain of each domain is a lower bound. If no limit
contains several domains, dynamic programming over the domains then finds the
best division; otherwise, the program of whole numbers does.
"""

from dataclasses import dataclass, field

import numpy as np

from nova_holistic.solver.confined.domain_costs import cheapest_patterns
from nova_holistic.solver.confined.host_patterns import HostPatterns
from nova_holistic.solver.confined.set_costs import SetCosts
from nova_holistic.solver.confined.set_limits import SetLimits
from nova_holistic.solver.limits.current import (
    column_generation, confined as limits)
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.milp.weak_duality import least_sum
from nova_holistic.solver.numerics.tolerances import (
    ARITHMETIC, BOUND_ERROR, SUM_ROUNDING)
from nova_holistic.solver.problem.deadline import Deadline

Division = list[tuple[int, int, int]]
"""Classes, choices, and numbers of domains of the class with the choice."""


@dataclass(slots=True, eq=False)
class SetProgram:
    """The program of one level.

    :ivar value: cost of a known plan, without the hosts of members that stay
    :ivar bound: lower bound of the cost of all plans
    :ivar _priced: the bound of the duals with the reduced costs ``_reduced``
    """

    costs: SetCosts
    limits: SetLimits
    value: float
    deadline: Deadline
    bound: float = 0.0
    _priced: float = -np.inf
    _reduced: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    def relax(self) -> None:
        """Prove the bound of the linear relaxation, by column generation.

        :raises OutOfTime: if the time ends before the bound is proved
        """
        known = np.isfinite(self.costs.costs)
        known[:, 0] = False
        if known.sum() > limits().columns:
            # The first columns have sets of one type only.
            known[:, (self.costs.choices > 0).sum(axis=1) > 1] = False
        for _ in range(limits().rounds):
            self.deadline.check()
            chosen = np.argwhere(known)
            program = self._program(chosen, True)
            outcome, _ = program.solve(self.deadline.left())
            if outcome.bound is None:
                return
            reduced = self._price(program.duals * self._unit)
            best = reduced.argmin(axis=1)
            better = (reduced.min(axis=1) < -ARITHMETIC * self.value) & (
                ~known[np.arange(len(best)), best])
            if not better.any() or (
                    outcome.bound * self._unit - self.bound
                    <= column_generation().converged_gap * self.bound):
                return
            known[better, best[better]] = True

    def divide(self) -> Division | None:
        """Prove a bound with whole numbers of domains. Return the division of
        the sets with the lowest cost; None if nothing is found.

        :raises OutOfTime: if the time ends before
        """
        if not self._reduced.size:
            return None
        # A plan that costs less than the known plan uses no other column.
        possible = self._reduced <= (self.value - self._priced) * (
            1 + BOUND_ERROR) + ARITHMETIC * self.value
        possible[:, 0] = False
        columns = int(self._domains @ possible.sum(axis=1))
        states = int(np.prod(self._numbers + 1))
        if not self._shared.any() and columns * (
                states + limits().overhead) <= limits().work:
            return self._combined(possible)
        chosen = np.argwhere(possible)
        if not 0 < len(chosen) <= limits().whole_columns:
            return None
        program = self._program(chosen, False)
        outcome, found = program.solve(self.deadline.left(),
                                       nodes=limits().nodes)
        if outcome.bound is not None:
            self._raise(outcome.bound * self._unit * (1 - BOUND_ERROR))
        if not outcome.solved:
            return None
        return [(int(each), int(choice), number) for (each, choice), number
                in zip(chosen, np.rint(found).astype(int).tolist()) if number]

    def _combined(self, possible: np.ndarray) -> Division | None:
        """The division with the lowest cost, by dynamic programming over the
        domains. No limit contains several domains.

        :param possible: [class, choice]: the choices that can be used
        """
        possible[:, 0] = True
        choices = HostPatterns(self.costs.choices, np.where(
            possible, self.costs.costs, np.inf))
        classes = np.repeat(np.arange(len(self._domains)), self._domains)
        found = cheapest_patterns(choices, classes, self._numbers.tolist(),
                                  self.deadline.check)
        cost = float(choices.costs[classes, found].sum())
        if not np.isfinite(cost) or (choices.members[found].sum(axis=0)
                                     != self._numbers).any():
            return None
        self._raise(cost - SUM_ROUNDING * cost)
        return [(int(each), choice, 1)
                for each, choice in zip(classes, found) if choice]

    def _raise(self, bound: float) -> None:
        """Raise the bound to a bound of plans that cost less than the known
        plan."""
        self.bound = max(self.bound, min(self.value, bound))

    @property
    def _unit(self) -> float:
        """The average cost of a set: costs are in this unit, because solvers
        have absolute tolerances."""
        return self.value / float(self._numbers.sum())

    @property
    def _numbers(self) -> np.ndarray:
        return self.costs.sets.numbers

    @property
    def _domains(self) -> np.ndarray:
        """[class]: number of domains."""
        return np.array([len(each.hosts) for each in self.costs.classes])

    @property
    def _shared(self) -> np.ndarray:
        """[limit, class]: whether the limit contains several domains, and
        those of the class. Limits of single domains exclude choices."""
        found = np.zeros((len(self.limits.most), len(self.costs.classes)),
                         dtype=bool)
        for number, each in enumerate(self.costs.classes):
            found[list(each.shared), number] = True
        return found

    def _price(self, duals: np.ndarray) -> np.ndarray:
        """Raise the bound to the bound of these duals, and return [class,
        choice]: the reduced cost of each choice.

        :param duals: [row]: types, classes and limits
        """
        types, classes = len(self._numbers), len(self.costs.classes)
        prices = duals[:types]
        shared = np.minimum(duals[types + classes:], 0.0)
        reduced = self.costs.costs - self.costs.choices @ prices - (
            self._shared.T * shared) @ self.costs.amounts
        gains = np.maximum(0.0, -reduced.min(axis=1))
        terms = np.concatenate((
            prices * self._numbers, shared * np.where(
                shared < 0, self.limits.most, 0.0), -gains * self._domains))
        found = float(least_sum(terms) - SUM_ROUNDING * np.abs(terms).sum())
        if found > self._priced:
            self.bound, self._priced = max(self.bound, found), found
            self._reduced = reduced + gains[:, None]
        return reduced

    def _program(self, chosen: np.ndarray, relaxed: bool) -> Linear:
        """The program of these columns.

        :param chosen: [column]: class and choice
        :param relaxed: whether numbers need not be whole, and sets can be left
            out at the cost of the known plan
        """
        of, choice = chosen.T
        size, types = len(of), len(self._numbers)
        missing = types if relaxed else 0
        unit, columns = self._unit, np.arange(size)
        program = Linear(
            np.concatenate((self.costs.costs[of, choice] / unit, np.full(
                missing, self.value / unit))),
            np.concatenate((self._domains[of], self._numbers[:missing])),
            None if relaxed else np.ones(size, dtype=bool))
        program.add_rows(
            [(columns[:, None], self.costs.choices[choice]),
             (size + np.arange(missing), 1.0)], self._numbers, self._numbers)
        program.add(of, columns, np.ones(size), -np.inf, self._domains,
                    len(self.costs.classes))
        used = self._shared[:, of] * self.costs.amounts[:, choice]
        program.add_rows([(columns[:, None], used.T)], -np.inf,
                         self.limits.most)
        return program

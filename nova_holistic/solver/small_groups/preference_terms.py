# SPDX-License-Identifier: Apache-2.0
"""The costs of preferences, read from their rows, for states of domains.

A cost is a sum of counts and of variables of the policy. If a variable has to
be at least a sum of counts, this sum is a lower bound of the variable. It
belongs to the states of the domains that it contains. Terms of other forms are
omitted, so the costs remain lower bounds.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from pulp import LpConstraintGE, LpConstraintLE

from nova_holistic.solver.numerics.exact_weights import common_step, exact
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.problem.rows import Atom, Kind, Row, Terms
from nova_holistic.solver.small_groups.domain_rules import (
    DomainRules, EvenSpread)

_COUNTED = (Kind.COUNT, Kind.USED)


@dataclass(frozen=True, slots=True)
class _LowerBound:
    """A variable is at least the sum of these terms plus the constant, minus
    the other variable, if there is one.

    :ivar terms: atoms of counts with their coefficients
    """

    terms: Terms
    constant: float
    minus: Atom | None = None


@dataclass(slots=True, eq=False)
class PreferenceTerms:
    """Adds the costs of preferences to the rules of domains.

    :ivar bounds: variable to its lower bounds
    :ivar smallest: variable to the counts that it does not exceed
    """

    rules: DomainRules
    in_time: InTime
    bounds: dict[Atom, list[_LowerBound]] = field(
        default_factory=lambda: defaultdict(list))
    smallest: dict[Atom, set[Atom]] = field(
        default_factory=lambda: defaultdict(set))
    _costs: dict[tuple, np.ndarray] = field(default_factory=dict)

    def add(self, weights: Mapping[float, float]) -> None:
        """Add the costs of all preferences.

        :param weights: weight of a preference to its cost of one violation
        """
        for row in self.rules.case.rules.rows:
            if not row.carried.policy.hard:
                self._read(row)
        for carried, terms, constant in self.rules.case.rules.penalties:
            weight = weights[carried.policy.weight]
            if constant < 0 or any(factor < 0 for _, factor in terms):
                continue
            self.rules.constant += weight * constant
            for atom, factor in terms:
                self.in_time()
                self._add(atom, weight * factor)

    def _read(self, row: Row) -> None:
        """Read a row in which one variable is at least a sum of counts."""
        self.in_time()
        sign = 1.0 if row.sense == LpConstraintGE else -1.0
        counted = [(a, sign * w) for a, w in row.terms if a.kind in _COUNTED]
        free = [(a, sign * w) for a, w in row.terms if a.kind is Kind.FREE]
        if row.sense not in (LpConstraintGE, LpConstraintLE) or (
                len(counted) + len(free) < len(row.terms)):
            return
        negative = tuple((a, -w) for a, w in counted if w < 0)
        match free:
            case [(variable, 1.0)] if len(negative) == len(counted):
                self.bounds[variable].append(_LowerBound(
                    negative, sign * row.limit))
            case [(low, -1.0)] if len(counted) == 1 and not row.limit and (
                    counted[0][1] == 1.0):
                self.smallest[low].add(counted[0][0])
            case [(one, 1.0), (two, 1.0)] if len(negative) == len(
                    counted) == 1 and negative[0][1] == 1.0:
                for variable, low in ((one, two), (two, one)):
                    self.bounds[variable].append(_LowerBound(
                        negative, sign * row.limit, low))

    def _add(self, atom: Atom, weight: float) -> None:
        """Add the cost of one term.

        :param weight: cost of 1
        """
        if atom.kind in _COUNTED:
            self._add_terms(((atom, 1.0),), 0.0, weight)
        elif atom.kind is Kind.FREE:
            known = self.bounds[atom]
            alone = [each for each in known if each.minus is None]
            lows = {each.minus for each in known if each.minus is not None}
            if len(known) == 1 and alone:
                self._add_terms(alone[0].terms, alone[0].constant, weight)
            elif len(lows) == 1 and not alone:
                # Otherwise, the second variable may exceed the counts.
                if self.smallest[lows.pop()].issuperset(
                        each.terms[0][0] for each in known):
                    self._add_spread(known, True, weight)
            elif len(alone) == len(known) > 1:
                self._add_spread(known, False, weight)

    def _add_terms(self, terms: Sequence[tuple[Atom, float]],
                   constant: float, weight: float) -> None:
        """Add the cost of a variable that is at least a sum of counts."""
        places = [self._places(atom) for atom, _ in terms]
        if not all(len(numbers) for _, numbers in places):
            return
        if len({(a.level, a.domain) for a, _ in terms}) == 1:
            if len(places[0][1]) == 1:
                costs = weight * np.maximum(
                    0.0, self._value(terms) + constant)
                self.rules.penalise(*places[0], costs)
            elif constant >= 0 and all(a.kind is Kind.COUNT for a, _ in terms):
                self.rules.penalise(*places[0], weight * self._value(terms))
                self.rules.constant += weight * constant
        elif all(len(numbers) == 1 for _, numbers in places):
            for (atom, factor), place in zip(terms, places):
                self.rules.penalise(*place, weight * self._value(
                    ((atom, factor),)))
            self.rules.constant += weight * constant

    def _add_spread(self, bounds: Sequence[_LowerBound], has_lowest: bool,
                    weight: float) -> None:
        """Add an even spread whose excess has a cost.

        :param has_lowest: whether the smallest count may be above 0
        """
        atoms = {each.terms[0][0] for each in bounds}
        if len({(a.kind, a.scope, a.level) for a in atoms}) != 1 or any(
                len(each.terms) != 1 or each.terms[0][1] != 1.0
                for each in bounds):
            return
        first, skews = next(iter(atoms)), {-e.constant for e in bounds}
        if first.kind is not Kind.COUNT or len(skews) != 1 or (
                first.level not in self.rules.tree):
            return
        counts = self.rules.counts(first.scope)
        index = self.rules.case.table.division(first.level).index
        self.rules.spreads.append(EvenSpread(
            first.level, counts, np.array(sorted(
                index[atom.domain] for atom in atoms), dtype=np.int64),
            int(counts[-1]) // len(atoms) if has_lowest else 0,
            int(np.floor(skews.pop())), weight))

    def _places(self, atom: Atom) -> tuple[str, np.ndarray]:
        """A level of the tree, and the indexes of its domains: the domain of
        the atom; or the hosts of a domain outside of the tree."""
        index = self.rules.case.table.division(atom.level).index
        return self.rules.place(
            atom.level, np.array([index[atom.domain]]))[:2]

    def _value(self, terms: Sequence[tuple[Atom, float]]) -> np.ndarray:
        """[state]: the sum of the terms, all of them for the same domain."""
        key = tuple((a.kind, a.scope, w) for a, w in terms)
        if key not in self._costs:
            total = np.zeros(len(self.rules.states))
            for atom, factor in terms:
                counts = self.rules.counts(atom.scope)
                total += factor * (counts if atom.kind is Kind.COUNT
                                   else counts > 0)
            self._costs[key] = total
        return self._costs[key]


def units(weights: Iterable[float]) -> tuple[dict[float, float], Fraction]:
    """Each weight in whole units, and the weight of one unit.

    :param weights: costs of one violation; positive
    """
    fractions = {weight: exact(weight) for weight in weights}
    step = common_step(fractions.values())
    return {weight: float(fraction / step)
            for weight, fraction in fractions.items()}, step

# SPDX-License-Identifier: Apache-2.0
"""Domains with room for all members that must be, or should be, in one
domain."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from pulp import LpConstraintLE

from nova_holistic.solver.problem.case import Case, Counts
from nova_holistic.solver.problem.hosts import Division
from nova_holistic.solver.problem.rows import Kind, Row, ScopedPolicy


@dataclass(frozen=True, slots=True)
class _Confined:
    """Members that a policy keeps in one domain of a level.

    :ivar hard: whether no plan has them in several domains
    :ivar classes: the classes of these members
    :ivar numbers: the number of members of each class
    """

    hard: bool
    division: Division
    classes: Sequence[int]
    numbers: Sequence[int]


class Confinement:
    """Restrictions on the host of the first member that a policy confines.

    They compare sums over the hosts of a domain. They may allow a domain that
    is too small, but they always allow a domain that is large enough.
    """

    def __init__(self, case: Case, together: Collection[ScopedPolicy] = ()):
        """:param together: policies that hold if all members are in one
            domain of their levels, and usually do not hold otherwise
        """
        self._case = case
        self._of_class: dict[int, list[_Confined]] = {}
        self._most: dict[int, int] = {}
        numbers = {id(scope): number
                   for number, scope in enumerate(case.rules.scopes)}
        for each in case.policies:
            most = each.policy.most_on_a_host(each.scope)
            if most is not None and id(each.scope) in numbers:
                for c in case.classes_in(numbers[id(each.scope)]):
                    self._most[c] = min(most, self._most.get(c, most))
        for row in case.rules.rows:
            scope, level = _confined(row)
            if level is not None and self._names_all(row, scope, level):
                self._confine(True, level, case.classes_in(scope))
        for each in together:
            paths = {member.path for member in each.scope.members}
            classes = [c for c, members in enumerate(case.classes)
                       if all(m.path in paths for m in members.members)]
            for level in each.policy.levels[:1]:
                self._confine(False, level, classes)

    def _names_all(self, row: Row, scope: int, level: str) -> bool:
        """Whether the row contains each domain that the members can be in."""
        room = self._case.room[self._case.classes_in(scope)]
        division = self._case.table.division(level)
        possible = {*division.of_host[(room > 0).any(axis=0)].tolist()}
        return possible - {-1} <= {
            division.index.get(atom.domain) for atom, _ in row.terms}

    def _confine(self, hard: bool, level: str,
                 classes: Sequence[int]) -> None:
        case = self._case
        found = _Confined(hard, case.table.division(level), classes, [
            len(case.classes[c].members) for c in classes])
        for c in classes:
            self._of_class.setdefault(c, []).append(found)

    def allows(self, c: int, counts: Counts, names: Sequence[str],
               free: np.ndarray
               ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Masks of the possible hosts and of the preferred hosts of the next
        member of the class, according to the room for all members that a
        policy confines with it. None means no restriction.

        :param counts: counts of the members placed so far
        :param names: names of the resource classes
        :param free: [resource class, host]: current free amount
        """
        possible = better = None
        for each in self._of_class.get(c, ()):
            if any(counts[other] for other in each.classes):
                # The domain has already been chosen.
                continue
            mask = self._large_enough(each, names, free)
            if each.hard:
                possible = mask if possible is None else possible & mask
            else:
                better = mask if better is None else better & mask
        return possible, better

    def _large_enough(self, each: _Confined, names: Sequence[str],
                      free: np.ndarray) -> np.ndarray:
        fine = np.ones(len(each.division.domains) + 1, dtype=bool)
        # Hosts in no domain are subject to other rules.
        fine[-1] = each.hard
        total = np.zeros(len(names))
        for c, number in zip(each.classes, each.numbers):
            demand = dict(self._case.classes[c].demands)
            needs = np.array([demand.get(name, 0) for name in names])
            total += needs * number
            room = self._case.room[c].astype(np.int64)
            for amount, left in zip(needs, free):
                if amount:
                    room = np.minimum(room, np.maximum(left, 0) // amount)
            room = np.minimum(room, self._most.get(c, number))
            fine[:-1] &= each.division.sums(room)[:-1] >= number
        for amount, left in zip(total, free):
            if amount:
                fine[:-1] &= each.division.sums(
                    np.maximum(left, 0))[:-1] >= amount
        return fine[each.division.of_host]


def _confined(row: Row) -> tuple[int, str | None]:
    """The scope whose members the row keeps in one domain, and the level of
    the domain; -1 and None if the row has another meaning."""
    scopes = {atom.scope for atom, _ in row.terms}
    levels = {atom.level for atom, _ in row.terms}
    if (len(scopes) == len(levels) == 1 and len(row.terms) > 1
            and row.sense == LpConstraintLE and row.limit < 2
            and all(atom.kind is Kind.USED and coefficient >= 1
                    for atom, coefficient in row.terms)):
        return scopes.pop(), levels.pop()
    return -1, None

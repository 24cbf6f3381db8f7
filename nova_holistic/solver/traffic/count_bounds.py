# SPDX-License-Identifier: Apache-2.0
"""Upper bounds of the number of members in domains, from the rules.

The bounds come only from the rows and limits by which a rule is encoded.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
import math

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.policy import Policy
from nova_holistic.model.relationship import Relationship
from nova_holistic.solver.decomposition.fewest_hosts import within_domains
from nova_holistic.solver.numerics.tolerances import ARITHMETIC
from nova_holistic.solver.problem.case import reach
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.rows import Atom, Kind, Row, ScopedPolicy
from nova_holistic.solver.problem.rules import Rules


@dataclass(frozen=True, slots=True, eq=False)
class CountBounds:
    """Rows of hard rules, and of preferences as if they were hard.

    :ivar zero: atoms that are 0 if the preferences are satisfied
    :ivar most: for a scope's index and a level, the maximum number of members
        of the scope in each domain; inf if unlimited
    """

    table: HostTable
    rules: Rules
    zero: frozenset[Atom]
    most: dict[tuple[int, str], np.ndarray]

    @classmethod
    def of(cls, kinds: Kinds, treat_as_hard: Callable[[Policy], bool],
           in_time: Callable[[], None]) -> 'CountBounds':
        """Encode the rules that refer to levels with few domains.

        :param treat_as_hard: returns whether to treat a preference as a hard
            rule
        :raises OutOfTime: if ``in_time`` does
        """
        table = kinds.table.part(None)
        rules = Rules(
            table, ((kinds.room > 0).any(axis=0) | np.isin(np.arange(
                len(table)), [*kinds.placed.values()])),
            next(kinds.group.scopes()), reach(kinds.members, {
                m.path: kind.room > 0 for kind in kinds.kinds
                for m in kind.members}, kinds.placed, len(table)), in_time)
        rules.encode(within_domains([
            ScopedPolicy(policy, scope) for scope in kinds.group.scopes()
            for policy in scope.group.rules
            if (policy.hard or treat_as_hard(policy))
            and has_coarse_levels(policy)], table))
        zero = frozenset(
            atom for _, terms, constant in rules.penalties
            if constant >= 0 and all(weight > 0 for _, weight in terms)
            for atom, _ in terms)
        found = cls(table, rules, zero, {})
        for row in rules.rows:
            found._read(row)
        for limit in rules.limits:
            found._tighten(limit.scope, limit.level, limit.domains, limit.most)
        return found

    def upper(self, atom: Atom) -> float:
        """An upper bound of the atom that holds without the rows."""
        if atom in self.zero:
            return 0.0
        if atom.kind is Kind.FREE:
            return float(atom.upper)
        if atom.kind is Kind.USED:
            return 1.0
        return float(len(self.rules.scopes[atom.scope].members))

    def bounds_of(self, paths: Collection[str],
                  level: str) -> Iterator[tuple[int, np.ndarray]]:
        """Yield bounds of scopes that contain some of the members: the number
        of these members, and the bounds."""
        for (scope, of_level), most in self.most.items():
            if of_level == level:
                inside = sum(m.path in paths
                             for m in self.rules.scopes[scope].members)
                if inside:
                    yield inside, most

    def levels_with_relations(self) -> frozenset[str]:
        """Levels with rows other than upper bounds in single domains: rows
        that relate several domains, for example."""
        found: set[str] = set()
        for row in self.rules.rows:
            terms = [(atom, weight) for atom, weight in row.terms
                     if atom not in self.zero]
            sign, *opposite = row.upper_signs
            if opposite or any(
                    atom.kind is Kind.FREE or sign * weight < 0
                    for atom, weight in terms) or len(
                    {atom.domain for atom, _ in terms}) > 1:
                found.update(atom.level for atom, _ in terms if atom.level)
        return frozenset(found)

    def _read(self, row: Row) -> None:
        """Derive upper bounds of single counts from the row."""
        for sign in row.upper_signs:
            slack = sum(-sign * weight * self.upper(atom)
                        for atom, weight in row.terms if sign * weight < 0)
            for atom, weight in row.terms:
                if atom.kind is not Kind.COUNT or sign * weight <= 0:
                    continue
                most = math.floor(
                    (sign * row.limit + slack) / (sign * weight) + ARITHMETIC)
                if most < len(self.rules.scopes[atom.scope].members):
                    self._tighten(
                        atom.scope, atom.level, self.table.division(
                            atom.level).index[atom.domain], max(most, 0))

    def _tighten(self, scope: int, level: str, domains: int | np.ndarray,
                 most: int) -> None:
        known = self.most.setdefault((scope, level), np.full(
            len(self.table.division(level).domains), np.inf))
        known[domains] = np.minimum(known[domains], most)


def has_coarse_levels(policy: Policy) -> bool:
    """Whether the policy refers only to levels above hosts. Relationships with
    traffic are excluded, because their rows have a different form."""
    if isinstance(policy, Relationship) and policy.traffic_mbps:
        return False
    return bool(policy.levels) and HOST not in policy.levels

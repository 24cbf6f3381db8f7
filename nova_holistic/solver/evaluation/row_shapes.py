# SPDX-License-Identifier: Apache-2.0
"""The shapes of rows of hard policies, such as limits on counts.

A row is recognised only by its form, never by the type of the policy. Rows of
other forms are omitted, so the shapes are necessary conditions, but not
sufficient ones.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
import math

from pulp import LpConstraintEQ, LpConstraintGE, LpConstraintLE

from nova_holistic.solver.numerics.tolerances import ARITHMETIC
from nova_holistic.solver.problem.deadline import InTime, no_limit
from nova_holistic.solver.problem.rows import (
    Atom, CountLimit, Kind, Row, ScopedPolicy)
from nova_holistic.solver.problem.rules import Rules

_COUNTED = (Kind.COUNT, Kind.OUTSIDE, Kind.USED)


@dataclass(frozen=True, slots=True)
class Shape:
    """A condition of one policy on the members of one scope.

    Domains are indexes into the level's division; -1 means hosts in no
    domain.
    """

    carried: ScopedPolicy
    scope: int
    level: str


@dataclass(frozen=True, slots=True)
class CountCap(Shape):
    """Some domains have limits on their number of members.

    :ivar limits: domain to its limit; other domains of the level have no
        limit
    """

    limits: Mapping[int, int]

    def most(self, domain: int, unlimited: int) -> int:
        """The limit of the domain.

        :param unlimited: result for a domain without a limit
        """
        return self.limits.get(domain, unlimited)


@dataclass(frozen=True, slots=True)
class MaxDomains(Shape):
    """At most ``most`` of the domains are used."""

    domains: frozenset[int]
    most: int


@dataclass(frozen=True, slots=True)
class MinDomains(Shape):
    """At least ``least`` of the domains are used."""

    domains: frozenset[int]
    least: int


@dataclass(frozen=True, slots=True)
class MaxSkew(Shape):
    """The counts of the domains differ by at most ``skew``."""

    domains: frozenset[int]
    skew: int

    def most(self, domain: int, number: int) -> int:
        """The maximum number of members in the domain.

        :param number: number of all members of the scope
        """
        if domain not in self.domains:
            return number
        # The difference to each other domain is at most the skew.
        others = len(self.domains) - 1
        return (number + others * self.skew) // (others + 1)


@dataclass(frozen=True, slots=True)
class Disjoint(Shape):
    """None of the domains is used by both this scope and the other scope."""

    domains: frozenset[int]
    other: int


@dataclass(frozen=True, slots=True)
class Infeasible(Shape):
    """The policy cannot hold on any hosts."""


@dataclass(frozen=True, slots=True)
class Unrecognised(Shape):
    """The policy has rows of other forms."""


def shapes(rules: Rules, in_time: InTime = no_limit) -> list[Shape]:
    """The shapes of all hard policies, in the order of the policies."""
    rows: dict[int, list[Row]] = {id(each): [] for each in rules.encoded}
    limits: dict[int, list[CountLimit]] = {id(each): []
                                           for each in rules.encoded}
    for row in rules.rows:
        in_time()
        rows[id(row.carried)].append(row)
    for limit in rules.limits:
        limits[id(limit.carried)].append(limit)
    return [shape for each in rules.encoded
            if each.policy.hard and (rows[id(each)] or limits[id(each)])
            for shape in _of(rules, rows[id(each)], limits[id(each)],
                             each, in_time)]


def _of(rules: Rules, rows: Sequence[Row], limits: Sequence[CountLimit],
        carried: ScopedPolicy, in_time: InTime) -> Iterator[Shape]:
    caps: dict[tuple[int, str], dict[int, int]] = defaultdict(dict)
    for limit in limits:
        caps[limit.scope, limit.level] = dict.fromkeys(
            limit.domains.tolist(), limit.most)
    apart: dict[tuple[int, int, str], set[int]] = defaultdict(set)
    unread = []
    for row in rows:
        in_time()
        if not row.terms:
            if not _holds(row):
                yield Infeasible(carried, -1, '')
        elif all(a.kind in _COUNTED and w > 0 for a, w in row.terms):
            if row.sense != LpConstraintGE:
                _read_caps(rules, row, caps)
                yield from _max_domains(rules, row)
                _read_disjoint(rules, row, apart)
            if row.sense != LpConstraintLE:
                yield from _min_domains(rules, row)
        else:
            unread.append(row)
    for (scope, level), most in caps.items():
        yield CountCap(carried, scope, level, most)
    for (first, second, level), domains in apart.items():
        yield Disjoint(carried, first, level, frozenset(domains), second)
    yield from _max_skew(rules, carried, unread)
    if unread:
        yield Unrecognised(carried, -1, '')


def _holds(row: Row) -> bool:
    if row.sense == LpConstraintEQ:
        return abs(row.limit) < ARITHMETIC
    return row.limit * (1 if row.sense == LpConstraintLE else -1) > -ARITHMETIC


def _read_caps(rules: Rules, row: Row, caps: dict) -> None:
    is_limit = len(row.terms) == 1 and row.terms[0][0].kind is not Kind.USED
    for atom, weight in row.terms:
        share = row.limit / weight + ARITHMETIC
        # No single term can exceed the sum.
        if is_limit or share < 1:
            most = math.floor(share)
            limits = caps[atom.scope, atom.level]
            number = rules.table.domain_number(atom)
            limits[number] = min(limits.get(number, most), most)


def _counts_used_domains(row: Row) -> bool:
    """Whether the row counts the domains of one level that one scope uses."""
    first, weight = row.terms[0]
    return all(a.kind is Kind.USED and a.scope == first.scope
               and a.level == first.level and w == weight
               for a, w in row.terms)


def _used_domains(rules: Rules, row: Row) -> frozenset[int]:
    """The domains that such a row counts."""
    index = rules.table.division(row.terms[0][0].level).index
    return frozenset([index.get(a.domain) for a, _ in row.terms])


def _max_domains(rules: Rules, row: Row) -> Iterator[MaxDomains]:
    atom, weight = row.terms[0]
    if _counts_used_domains(row) and row.limit >= weight:
        yield MaxDomains(
            row.carried, atom.scope, atom.level, _used_domains(rules, row),
            math.floor(row.limit / weight + ARITHMETIC))


def _min_domains(rules: Rules, row: Row) -> Iterator[MinDomains]:
    atom, weight = row.terms[0]
    if _counts_used_domains(row):
        yield MinDomains(
            row.carried, atom.scope, atom.level, _used_domains(rules, row),
            math.ceil(row.limit / weight - ARITHMETIC))


def _read_disjoint(rules: Rules, row: Row, apart: dict) -> None:
    if len(row.terms) != 2 or any(
            a.kind is not Kind.USED for a, _ in row.terms):
        return
    (first, one), (second, two) = row.terms
    if first.scope != second.scope and first.level == second.level and (
            first.domain == second.domain and max(one, two) <= row.limit
            and row.limit < one + two):
        apart[first.scope, second.scope, first.level].add(
            rules.table.domain_number(first))


def _max_skew(rules: Rules, carried: ScopedPolicy,
              rows: Sequence[Row]) -> Iterator[MaxSkew]:
    """Counts that are at least a variable of the policy, and at most this
    variable plus the skew."""
    low: dict[Atom, set[tuple[int, str, int]]] = defaultdict(set)
    high: dict[Atom, set[tuple[int, str, int]]] = defaultdict(set)
    skew: dict[Atom, int] = {}
    for row in rows:
        free = [a for a, w in row.terms if a.kind is Kind.FREE and w == -1]
        count = [a for a, w in row.terms if a.kind is Kind.COUNT and w == 1]
        if len(row.terms) != 2 or not free or not count:
            continue
        atom = count[0]
        key = (atom.scope, atom.level, rules.table.domain_number(atom))
        if row.sense == LpConstraintGE and row.limit == 0:
            low[free[0]].add(key)
        elif row.sense == LpConstraintLE:
            high[free[0]].add(key)
            # The skews of a policy may differ by domain.
            skew[free[0]] = max(math.floor(row.limit + ARITHMETIC),
                                skew.get(free[0], 0))
    # The order does not depend on hashes: that of None differs by process.
    for variable, lowest in low.items():
        both = lowest & high.get(variable, set())
        if both and len({(scope, level) for scope, level, _ in both}) == 1:
            scope, level, _ = next(iter(both))
            yield MaxSkew(carried, scope, level,
                          frozenset(n for _, _, n in both), skew[variable])

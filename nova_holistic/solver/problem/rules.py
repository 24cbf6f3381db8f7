# SPDX-License-Identifier: Apache-2.0
"""The group's policies as rows over counts, before any host is chosen.

Each policy is encoded once. The integer program replaces the counts by its
variables, greedy construction updates the counts, and the diagnosis derives
reasons from them. Therefore, all three interpret every policy in the same way.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pulp
from pulp import LpConstraint, LpConstraintLE

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Group, Scope
from nova_holistic.model.policy import Expression, Policy
from nova_holistic.solver.problem.deadline import InTime, no_limit
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.rows import (
    Atom, CountLimit, Kind, Row, ScopedPolicy, Terms)


@dataclass(slots=True)
class Rules:
    """Implements model.policy.Encoder by recording the rows of the policies.

    :ivar possible: [host]: whether the host holds a member or can take one
    :ivar top: the scope of the top-level group
    :ivar reach: member path to [host]: whether the host holds the member or
        can take it
    :ivar scopes: scopes of the atoms; each has different members
    :ivar encoded: the policies, in their order
    :ivar rows: rows of the policies, without the rows that ``limits`` replace
    :ivar limits: a limit for each policy that limits the counts of all domains
        of a level; as rows, the limits of hosts would outnumber all others
    :ivar penalties: costs of soft policies: weight x (terms + constant)
    """

    table: HostTable
    possible: np.ndarray
    top: Scope
    reach: Mapping[str, np.ndarray]
    in_time: InTime = no_limit
    scopes: list[Scope] = field(default_factory=list)
    encoded: list[ScopedPolicy] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    limits: list[CountLimit] = field(default_factory=list)
    penalties: list[tuple[ScopedPolicy, Terms, float]] = field(
        default_factory=list)
    _symbols: dict[tuple, dict[Domain | None, '_Symbol']] = field(
        default_factory=lambda: defaultdict(dict))
    _scope_ids: dict[int, int] = field(default_factory=dict)
    _known: dict[frozenset[str], int] = field(default_factory=dict)
    _domains: dict[str, tuple[Domain, ...]] = field(default_factory=dict)
    _has_hosts_outside: dict[str, bool] = field(default_factory=dict)
    _carried: ScopedPolicy | None = None
    _kept: list[Scope] = field(default_factory=list)
    _others: dict[int, Scope] = field(default_factory=dict)

    def encode(self, policies: Sequence[ScopedPolicy]) -> None:
        """Record the rows of each policy."""
        for carried in policies:
            self._carried = carried
            self.encoded.append(carried)
            carried.policy.encode(carried.scope, self)

    def only(self, policies: Sequence[ScopedPolicy]) -> 'Rules':
        """A copy of these rules with only the rows and limits of the given
        policies, and without penalties."""
        chosen = {id(each) for each in policies}
        return replace(
            self, penalties=[],
            rows=[row for row in self.rows if id(row.carried) in chosen],
            limits=[each for each in self.limits
                    if id(each.carried) in chosen])

    def adopt(self, whole: 'Rules', policies: Sequence[ScopedPolicy],
              rows: Iterable[Row]) -> None:
        """Copy the rows of some policies from the rules of the same group for
        all hosts.

        :param whole: the rules for all hosts
        :param rows: rows of these policies
        """
        chosen = {each.key for each in policies}
        self.scopes.extend(whole.scopes)
        self._known.update(whole._known)
        self._scope_ids.update(whole._scope_ids)
        self._kept.extend(whole._kept)
        self.encoded.extend(policies)
        self.rows.extend(rows)
        self.limits.extend(each for each in whole.limits
                           if each.carried.key in chosen)
        self.penalties.extend(each for each in whole.penalties
                              if each[0].key in chosen)

    def every_row(self, levels: Collection[str] | None = None
                  ) -> Iterator[Row]:
        """The rows, and the limits as rows.

        :param levels: levels whose limits are included; None means all levels
        """
        yield from self.rows
        for each in self.limits:
            if levels is not None and each.level not in levels:
                continue
            division = self.table.division(each.level)
            for number in each.domains.tolist():
                self.in_time()
                count = self._quantity(Kind.COUNT, each.scope, each.level,
                                       division.domains[number])
                yield Row(each.carried, ((count.atom, 1.0),), LpConstraintLE,
                          float(each.most))

    # The interface for policies.

    def domains(self, level: str) -> Sequence[Domain]:
        if level not in self._domains:
            division = self.table.division(level)
            self._domains[level] = tuple(
                division.domains[n]
                for n in division.numbers(self.possible).tolist())
        return self._domains[level]

    def count(self, scope: Scope, domain: Domain) -> Expression:
        return self._quantity(Kind.COUNT, self.number(scope), domain.level,
                              domain)

    def used(self, scope: Scope, domain: Domain) -> Expression:
        # A preference may have a term for each host, and only one row.
        self.in_time()
        return self._quantity(Kind.USED, self.number(scope), domain.level,
                              domain)

    def outside(self, scope: Scope, level: str) -> Expression:
        if level not in self._has_hosts_outside:
            self._has_hosts_outside[level] = bool(np.any(
                (self.table.division(level).of_host < 0) & self.possible))
        if not self._has_hosts_outside[level]:
            # No member can be outside of all domains of the level.
            return pulp.LpAffineExpression()
        return self._quantity(Kind.OUTSIDE, self.number(scope), level, None)

    @property
    def snapshot(self) -> Snapshot:
        return self.table.snapshot

    def among(self, scope: Scope, hosts: Collection[Host]) -> Expression:
        # Hosts that were not chosen hold no member.
        index = self.table.index
        known = frozenset([index[host.name] for host in hosts
                           if host.name in index])
        if not known:
            return pulp.LpAffineExpression()
        return self.count(scope, self.table.subset(known))

    def candidates(self, scope: Scope) -> Sequence[Host]:
        self.in_time()
        hosts = self.table.hosts
        return [hosts[h]
                for h in np.flatnonzero(self.reached(scope)).tolist()]

    def others(self, scope: Scope) -> Scope:
        # All scopes of the same members share one object.
        number = self.number(scope)
        if number not in self._others:
            inside = {member.path for member in scope.members}
            self._others[number] = Scope('', self.top.group, tuple(
                m for m in self.top.members if m.path not in inside))
        return self._others[number]

    def integer(self, name: str, upper: int) -> Expression:
        return _Symbol(Atom(Kind.FREE, upper=upper))

    def continuous(self, name: str, lower: float, upper: float) -> Expression:
        return _Symbol(Atom(Kind.FREE, upper=upper, whole=False))

    def require(self, constraint: LpConstraint | bool) -> None:
        self.in_time()
        if isinstance(constraint, bool):
            # The policy compared two numbers, because no domain exists.
            constraint = pulp.LpAffineExpression() >= 1 - constraint
        terms = self._terms(constraint)
        if terms or not _holds(constraint.constant, constraint.sense):
            self.rows.append(Row(self._carried, terms, constraint.sense,
                                 -constraint.constant))

    def limit(self, scope: Scope, level: str, most: int) -> None:
        self.in_time()
        if most >= len(scope.members):
            return
        self.limits.append(CountLimit(
            self._carried, self.number(scope), level,
            self.table.division(level).numbers(
                self.reached(scope) & self.possible), most))

    def penalise(self, policy: Policy, scope: Scope,
                 violations: Expression) -> None:
        expression = pulp.LpAffineExpression(violations)
        self.penalties.append((
            ScopedPolicy(policy, scope), self._terms(expression),
            expression.constant))

    # The interface for cases.

    def number(self, scope: Scope) -> int:
        """Index into ``scopes`` of the scope with the same members. If it does
        not exist, the given scope is added."""
        number = self._scope_ids.get(id(scope))
        if number is None:
            # Scopes of the same members share one number. A reference keeps
            # the scope alive, so that no other object gets its id.
            paths = frozenset(member.path for member in scope.members)
            number = self._known.setdefault(paths, len(self._known))
            self._scope_ids[id(scope)] = number
            self._kept.append(scope)
            if number == len(self.scopes):
                self.scopes.append(scope)
        return number

    def reached(self, scope: Scope) -> np.ndarray:
        """[host]: whether a member of the scope is or may be on it."""
        return any_of((self.reach[m.path] for m in scope.members),
                      len(self.table))

    # The implementation.

    def _quantity(self, kind: Kind, scope: int, level: str,
                  domain: Domain | None) -> Expression:
        """The symbol of the quantity; 0 if the domain has no host."""
        known = self._symbols[kind, scope, level]
        symbol = known.get(domain)
        if symbol is None:
            if domain is not None and domain not in (
                    self.table.division(level).index):
                return pulp.LpAffineExpression()
            symbol = known[domain] = _Symbol(Atom(kind, scope, level, domain))
        return symbol

    def _terms(self, expression: Mapping) -> Terms:
        # A tuple of a list is built faster than that of a generator.
        return tuple([(symbol.atom, coefficient)
                      for symbol, coefficient in expression.items()
                      if coefficient])


class _Symbol(pulp.LpElement):
    """An atom in an expression of PuLP. Unlike a variable of PuLP, it is
    created without a name, and its hash is fast."""

    __hash__ = object.__hash__

    def __init__(self, atom: Atom):
        self.atom = atom

    def __add__(self, other: Expression) -> Expression:
        # That of ``LpElement`` makes two expressions.
        return pulp.LpAffineExpression(self).addInPlace(other)

    def __sub__(self, other: Expression) -> Expression:
        return pulp.LpAffineExpression(self).subInPlace(other)

    @property
    def name(self) -> str:
        return f'a{id(self)}'


def any_of(masks: Iterable[np.ndarray], hosts: int) -> np.ndarray:
    """[host]: whether it is in one of the masks. Similar members share one
    array."""
    found = np.zeros(hosts, dtype=bool)
    for mask in {id(mask): mask for mask in masks}.values():
        found |= mask
    return found


def _holds(constant: float, sense: int) -> bool:
    """Whether a row without terms is satisfied. Its terms may have cancelled
    out."""
    return LpConstraint(
        pulp.LpAffineExpression(constant=constant), sense).valid()


def scoped_policies(group: Group) -> Iterator[ScopedPolicy]:
    """Every policy and relationship with the scope of the group that carries
    it, in document order."""
    for scope in group.scopes():
        for policy in scope.group.rules:
            yield ScopedPolicy(policy, scope)

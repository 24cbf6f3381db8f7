# SPDX-License-Identifier: Apache-2.0
"""Presolve: hosts that at least one optimal plan does not use.

Host a dominates host b if all policies treat both hosts equally and a is at
least as good as b in every respect: room, free amounts, and cost. In a plan
that uses b and not a, the members of b can move to a: the plan remains valid,
and its cost does not increase. A plan for n members uses at most n hosts.
Therefore, a host with n or more dominating hosts is not needed: a plan that
uses it leaves one of the dominating hosts unused.
"""

from collections.abc import Iterator
from collections import defaultdict

import numpy as np

from nova_holistic.model.cloud.domain import Domain, HOST
from nova_holistic.model.objective import Objective
from nova_holistic.objectives.utilisation import requested_classes
from nova_holistic.solver.limits.current import milp as limits
from nova_holistic.solver.problem.case import Case, Counts
from nova_holistic.solver.problem.deadline import InTime, no_limit
from nova_holistic.solver.problem.rows import Atom, Kind, Terms


def needed_places(case: Case, objective: Objective,
                  in_time: InTime = no_limit) -> np.ndarray:
    """[class, host]: whether the program needs a variable for the class on the
    host: the host has room for it, and the host is not dominated. No host is
    removed if the group is large or the costs are unknown."""
    members = sum(len(each.members) for each in case.classes)
    host_cost, traffic = objective.host_cost(), objective.traffic()
    room = case.open_room(in_time)
    places = room > 0
    useful = places.any(axis=0)
    if 2 * members > limits().compared_hosts or (
            useful.sum() <= members) or (
                host_cost is None and traffic is None):
        return places
    signatures = _Signatures(case)
    levels = signatures.levels | (
        set(case.snapshot.levels) if traffic is not None else set())
    values = _values(case, room, objective)
    for hosts in _alike(case, signatures, levels - {HOST}, useful):
        most = _most_used(case, hosts, members)
        if len(hosts) > most:
            places[:, hosts[_dominated(values[hosts], most)]] = False
    return places


def with_plan(places: np.ndarray, plan: Counts | None) -> np.ndarray:
    """The given places, and the places of a plan."""
    places = places.copy()
    for c, host_counts in enumerate(plan or ()):
        places[c, [*host_counts]] = True
    return places


def _most_used(case: Case, hosts: np.ndarray, members: int) -> int:
    """Upper bound of the number of these hosts that a plan uses."""
    waiting = {m.path for each in case.classes for m in each.members}
    for limit in case.rules.limits:
        division = case.table.division(limit.level)
        domain = int(division.of_host[hosts[0]])
        if limit.level != HOST and domain >= 0 and waiting <= {
                m.path for m in case.rules.scopes[limit.scope].members} and (
                    division.of_host[hosts] == domain).all():
            members = min(members, int(case.left_of(limit)[domain]))
    return members


def _alike(case: Case, signatures: '_Signatures', levels: set[str],
           useful: np.ndarray) -> Iterator[np.ndarray]:
    """Sets of useful hosts that all policies treat equally. Hosts of members
    that stay are excluded."""
    free = useful.copy()
    free[[*case.placed.values()]] = False
    hosts = np.flatnonzero(free)
    keys = np.array([signatures.numbers(len(useful)), *(
        case.table.division(level).of_host for level in sorted(levels))])
    keys = keys[:, hosts]
    order = np.lexsort(keys)
    ends = np.flatnonzero((np.diff(keys[:, order], axis=1) != 0).any(axis=0))
    for equal in np.split(hosts[order], ends + 1):
        if len(equal):
            yield equal


def _values(case: Case, room: np.ndarray, objective: Objective) -> np.ndarray:
    """[host, property]: values of which a higher value is never worse.

    Utilisation and its increase are computed as in objectives.utilisation.
    """
    columns = [*room]
    requested = sorted({n for c in case.classes for n, _ in c.demands})
    for name, demand in zip(requested, case.requested(requested).T):
        # Members take at most the demand that fills all room, in multiples of
        # the divisor.
        free = np.minimum(case.table.amounts(name).free,
                          demand @ room.astype(np.int64))
        columns.append(free // max(1, np.gcd.reduce(demand)))
    host_cost = objective.host_cost()
    if host_cost is not None:
        names = requested_classes(case.members)
        share = np.zeros(len(case.table))
        for name in names:
            amounts = case.table.amounts(name)
            some = amounts.capacity > 0
            capacity = np.where(some, amounts.capacity, 1)
            share += np.where(some, np.minimum(
                1.0, 1 - amounts.free / capacity), 1.0) / len(names)
            if host_cost.slopes:
                columns.append(-np.where(
                    some & (amounts.free > 0), 1 / capacity, 0.0))
        columns.append(-np.asarray(
            host_cost.opening(1 - share), float) + 0 * share)
        if host_cost.slopes:
            columns.append(-share)
    return np.array(columns, dtype=float).T


def _dominated(values: np.ndarray, most: int) -> np.ndarray:
    """Indexes of rows with at least ``most`` dominating rows.

    Of two equal rows, the first dominates the second. Rows are compared only
    with the best rows. This is sufficient to prove domination.
    """
    if not most:
        return np.arange(len(values))
    spread = np.ptp(values, axis=0)
    score = (values / np.where(spread > 0, spread, 1.0)).sum(axis=1)
    best = np.argsort(-score, kind='stable')[:limits().compared_hosts]
    left = np.arange(len(values))
    # Most rows are dominated by the very best rows, and need not be compared
    # with the others.
    for few in (best[:2 * most], best):
        left = left[_dominating(values, left, few) < most]
    return np.delete(np.arange(len(values)), left)


def _dominating(values: np.ndarray, rows: np.ndarray,
                best: np.ndarray) -> np.ndarray:
    """[row]: number of the best rows that dominate the row."""
    no_worse = np.ones((len(rows), len(best)), dtype=bool)
    better = best[None, :] < rows[:, None]
    for column in values.T:
        here, there = column[rows][:, None], column[best][None, :]
        no_worse &= there >= here
        better |= there > here
    return (no_worse & better).sum(axis=1)


class _Signatures:
    """The part of the rows of policies that refers to each single host.

    Two hosts with equal signatures can be exchanged: this changes only the
    order of the rows. Variables of a policy that occur only in rows of one
    host are numbered within that host.

    :ivar levels: levels of the rows and limits
    """

    def __init__(self, case: Case):
        rules = case.rules
        rows = [(row.terms, (row.sense, row.limit, row.carried.key))
                for row in rules.rows]
        rows += [(terms, (constant, carried.key))
                 for carried, terms, constant in rules.penalties]
        self.levels = {each.level for each in rules.limits}
        self._division = case.table.division(HOST)
        self._hosts = np.zeros(len(self._division.domains), dtype=np.int64)
        self._hosts[self._division.of_host] = np.arange(len(case.table))
        self._of: dict[int, list] = defaultdict(list)
        self._owners: dict[Atom, int | None] = {}
        self._numbers: dict[int, dict[Atom, int]] = defaultdict(dict)
        owners = [self._owner(terms) for terms, _ in rows]
        for number, ((terms, what), owner) in enumerate(zip(rows, owners)):
            if owner is None:
                self._share(terms, number)
            else:
                self._of[owner].append((what, tuple(sorted(
                    (self._name(atom, owner), coefficient)
                    for atom, coefficient in terms))))

    def numbers(self, hosts: int) -> np.ndarray:
        """[host]: a number that is equal for hosts with equal signatures.
        Almost all hosts have no row."""
        found = np.zeros(hosts, dtype=np.int64)
        known: dict[tuple, int] = {(): 0}
        for host, rows in self._of.items():
            found[host] = known.setdefault(tuple(rows), len(known))
        return found

    def _host(self, domain: Domain) -> int:
        return int(self._hosts[self._division.index[domain]])

    def _owner(self, terms: Terms) -> int | None:
        """The only host of the row; None if it has no host or several hosts.
        """
        self.levels.update(atom.level for atom, _ in terms
                           if atom.kind is not Kind.FREE)
        hosts = {atom.domain for atom, _ in terms if _is_of_host(atom)}
        if len(hosts) != 1:
            return None
        owner = self._host(hosts.pop())
        for atom, _ in terms:
            # A variable of the policy belongs to at most one host.
            if atom.kind is Kind.FREE and (
                    self._owners.setdefault(atom, owner) != owner):
                self._owners[atom] = None
        return owner

    def _share(self, terms: Terms, number: int) -> None:
        """Add a row of several hosts, or of no host, to its hosts."""
        for atom, coefficient in terms:
            owner = (self._host(atom.domain) if _is_of_host(atom)
                     else self._owners.get(atom))
            if owner is not None:
                self._of[owner].append((number, (
                    self._name(atom, owner), coefficient)))

    def _name(self, atom: Atom, owner: int) -> tuple:
        """A key that is equal for corresponding atoms of two hosts."""
        if _is_of_host(atom):
            return 'host', atom.kind.name, atom.scope
        if atom.kind is not Kind.FREE:
            return ('level', atom.kind.name, atom.scope, atom.level,
                    atom.domain or ())
        if self._owners.get(atom) != owner:
            return 'free', id(atom)
        numbers = self._numbers[owner]
        return ('own', atom.upper, atom.whole,
                numbers.setdefault(atom, len(numbers)))


def _is_of_host(atom: Atom) -> bool:
    return atom.kind is not Kind.FREE and atom.level == HOST and (
        atom.domain is not None)

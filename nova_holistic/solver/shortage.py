# SPDX-License-Identifier: Apache-2.0
"""Conditions that every plan must meet, and that can be counted up front.

Each is necessary and none is sufficient: a shortage found here proves that no
plan exists, and says why in numbers; no shortage proves nothing.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from pulp import LpConstraintGE

from nova_holistic.model.plan import Reason
from nova_holistic.solver.case import Case, MemberClass
from nova_holistic.solver.eligibility import Eligibility
from nova_holistic.solver.rules import Carried, Kind, Row


def shortages(case: Case) -> tuple[Reason, ...]:
    """Why the group cannot be placed, where counting shows it."""
    if case.classes and not len(case.table):
        return (Reason('', 'there are no hosts'),)
    found = [reason for c in range(len(case.classes))
             for reason in _of_class(case, c)]
    if not found:
        found = [*_of_total(case), *_of_policies(case)]
    return tuple(dict.fromkeys(found))


def _of_class(case: Case, c: int) -> Iterator[Reason]:
    each = case.classes[c]
    at = each.members[0].description
    takes = int(case.room[c].sum())
    if takes >= len(each.members):
        return
    if takes:
        yield Reason(at, f'has {len(each.members)} members; the hosts that '
                         f'suit them have room for {takes}')
        return
    eligibility = Eligibility(case.table)
    suitable = eligibility.suitable(each.requirements)
    if suitable.any():
        yield Reason(at, _no_room(case, each, suitable))
        return
    alone = [test.wanted for test in eligibility.tests(each.requirements)
             if not test.passed.any()]
    if alone:
        for wanted in alone:
            yield Reason(at, f'no host {wanted}')
    else:
        yield Reason(at, _funnel(eligibility, each))


def _funnel(eligibility: Eligibility, each: MemberClass) -> str:
    left = None
    steps = []
    for test in eligibility.tests(each.requirements):
        now = test.passed if left is None else left & test.passed
        if left is None or now.sum() < left.sum():
            steps.append(f'{int(now.sum())} ({test.wanted})')
        left = now
    return ('no one host meets all it asks for; hosts left, condition by '
            f'condition: {", ".join(steps)}')


def _no_room(case: Case, each: MemberClass, suitable: np.ndarray) -> str:
    for name, amount in each.demands:
        most = int(case.table.amounts(name).free[suitable].max())
        if most < amount:
            return (f'needs {name} {amount}; the largest free amount on a '
                    f'suitable host is {max(0, most)}')
    asked = ', '.join(f'{name} {amount}' for name, amount in each.demands)
    return f'none of {int(suitable.sum())} suitable hosts has {asked} at once'


def _of_total(case: Case) -> Iterator[Reason]:
    usable = (case.room > 0).any(axis=0) if len(case.classes) else None
    asked: dict[str, int] = defaultdict(int)
    for each in case.classes:
        for name, amount in each.demands:
            asked[name] += amount * len(each.members)
    for name, amount in sorted(asked.items()):
        free = np.maximum(case.table.amounts(name).free[usable], 0).sum()
        if amount > free:
            yield Reason('', f'the members need {name} {amount} in all; the '
                             f'hosts that suit them have {int(free)} free')


def _of_policies(case: Case) -> Iterator[Reason]:
    rows: dict[int, list[Row]] = defaultdict(list)
    for row in case.rules.rows:
        if row.carried.policy.hard:
            rows[id(row.carried)].append(row)
    for mine in rows.values():
        for make in (_limits, _confinement):
            reason = make(case, mine[0].carried, mine)
            if reason:
                yield reason
                break


def _limits(case: Case, carried: Carried,
            rows: Sequence[Row]) -> Reason | None:
    """Upper limits on single counts: do they leave room for everyone?"""
    found = [(row.terms[0][0], int(row.limit / row.terms[0][1] + 1e-9))
             for row in rows if row.sense != LpConstraintGE
             and len(row.terms) == 1 and row.terms[0][1] > 0
             and row.terms[0][0].kind is Kind.COUNT]
    if not found or len({(a.scope, a.level) for a, _ in found}) > 1:
        return None
    scope, level = found[0][0].scope, found[0][0].level
    takes, outside = _takes(case, scope, level)
    number = case.table.division(level).index
    members = len(case.rules.scopes[scope].members)
    limit_of = {number[a.domain]: limit for a, limit in found}
    allowed = sum(min(limit_of.get(n, members), int(most))
                  for n, most in enumerate(takes))
    if _closed_outside(rows, scope, level):
        outside = 0
    if allowed + outside >= members:
        return None
    if case.table.is_subset(level):
        return Reason(carried.at, (
            f'the hosts that it allows have room for {allowed + outside} of '
            f'{members} members'))
    limits = set(limit_of.values())
    room = int(np.count_nonzero(takes))
    if len(limits) == 1 and limits != {0} and not outside:
        limit = limits.pop()
        needed = -(-members // limit)
        if room < needed:
            return Reason(carried.at, (
                f'{members} members at {limit} a {level} need {needed} of '
                f'level {level}; {room} have room'))
    return Reason(carried.at, (
        f'lets {allowed + outside} of {members} members in: {room} of level '
        f'{level} have room'))


def _confinement(case: Case, carried: Carried,
                 rows: Sequence[Row]) -> Reason | None:
    """A limit on the number of domains used: are the roomiest enough?"""
    for row in rows:
        kinds = {(a.kind, a.scope, a.level, w) for a, w in row.terms}
        if row.sense == LpConstraintGE or len(kinds) != 1:
            continue
        kind, scope, level, weight = kinds.pop()
        if kind is not Kind.USED or weight != 1:
            continue
        takes, outside = _takes(case, scope, level)
        if _closed_outside(rows, scope, level):
            outside = 0
        number = int(row.limit + 1e-9)
        index = case.table.division(level).index
        limited = takes[[index[a.domain] for a, _ in row.terms]]
        free = int(takes.sum() - limited.sum()) + outside
        best = int(np.sort(limited)[::-1][:number].sum()) + free
        members = len(case.rules.scopes[scope].members)
        if best < members:
            return Reason(carried.at, (
                f'all {members} members have to share {number} of level '
                f'{level}; the roomiest can hold {best}'))
    return None


def _closed_outside(rows: Sequence[Row], scope: int, level: str) -> bool:
    return any(len(row.terms) == 1 and row.limit == 0
               and row.terms[0][0].kind is Kind.OUTSIDE
               and row.terms[0][0].scope == scope
               and row.terms[0][0].level == level
               and row.sense != LpConstraintGE for row in rows)


def _takes(case: Case, scope: int, level: str) -> tuple[np.ndarray, int]:
    """At most how many of the scope each domain holds, and the rest."""
    division = case.table.division(level)
    size = len(division.domains) + 1
    classes = case.classes_in(scope)
    total = np.zeros(size, dtype=np.int64)
    for c in classes:
        here = np.zeros(size, dtype=np.int64)
        np.add.at(here, division.of_host, case.room[c])
        total += np.minimum(here, len(case.classes[c].members))
    suits = (case.room[classes] > 0).any(axis=0)
    for name in {n for c in classes for n, _ in case.classes[c].demands}:
        amounts = [dict(case.classes[c].demands).get(name, 0)
                   for c in classes]
        if min(amounts):
            free = np.zeros(size, dtype=np.int64)
            np.add.at(free, division.of_host, np.where(suits, np.maximum(
                case.table.amounts(name).free, 0), 0))
            total = np.minimum(total, free // min(amounts))
    for host in case.placed_in(scope):
        total[division.of_host[host]] += 1
    return total[:-1], int(total[-1])

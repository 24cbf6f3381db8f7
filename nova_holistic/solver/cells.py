# SPDX-License-Identifier: Apache-2.0
"""Rules on all members in few domains, for a relaxation of merged hosts."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from pulp import LpConstraintGE, LpConstraintLE

from nova_holistic.model.domain import HOST
from nova_holistic.solver.case import reach
from nova_holistic.solver.hosts import Division, HostTable
from nova_holistic.solver.kinds import Kinds
from nova_holistic.solver.linear import Linear
from nova_holistic.solver.rules import Atom, Carried, Kind, Row, Rules

_MOST = 64
"""Cells at most: domains of several levels, crossed."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Which hosts the rules tell apart, and the rules.

    :ivar of: cell of each host
    :ivar domain_of: for each level, domain of each cell; -1 for none
    :ivar index: number of each of the policies' own variables
    :ivar free: their upper limits
    :ivar stay: for each level, members that stay by domain
    """

    table: HostTable
    of: np.ndarray
    domain_of: dict[str, np.ndarray]
    rows: tuple[Row, ...]
    index: dict[Atom, int]
    free: np.ndarray
    stay: dict[str, np.ndarray]

    def add_rows(self, program: Linear, of_x: np.ndarray, cell: np.ndarray,
                 first: int) -> None:
        """The rules, over x[kind, bin] and variables from ``first`` on.

        :param cell: of each bin
        """
        for row in self.rows:
            columns, values, constant = [], [], 0.0
            for atom, weight in row.terms:
                if atom.kind is Kind.FREE:
                    columns.append(np.array([first + self.index[atom]]))
                    values.append(np.array([weight]))
                    continue
                number = -1 if atom.kind is Kind.OUTSIDE else (
                    self.table.division(atom.level).index[atom.domain])
                here = of_x[:, self.domain_of[atom.level][cell] == number]
                columns.append(here.ravel())
                values.append(np.full(here.size, weight))
                constant += weight * self.stay[atom.level][number]
            limit = row.limit - constant
            every = np.concatenate(columns)
            program.add(
                np.zeros(len(every)), every, np.concatenate(values),
                limit if row.sense != LpConstraintLE else -np.inf,
                limit if row.sense != LpConstraintGE else np.inf, 1)


def cells(kinds: Kinds, in_time: Callable[[], None]) -> Cells:
    """Of the hard policies on all members that speak of few domains."""
    table = kinds.table
    top = next(kinds.group.scopes())
    levels: list[str] = []
    of = np.zeros(len(table), dtype=np.int64)
    carried = []
    for policy in top.group.policies:
        if not policy.hard or not policy.levels:
            continue
        fresh = [level for level in policy.levels if level not in levels]
        number = _crossed(table, of, fresh)
        if number is not None:
            of = number
            levels.extend(fresh)
            carried.append(Carried(policy, top))
    rules = Rules(table.part(None), (kinds.room > 0).any(axis=0).tolist(),
                  top, reach(kinds.members, {
                      m.path: k.room > 0 for k in kinds.kinds
                      for m in k.members}, kinds.placed, len(table)), in_time)
    rules.encode(carried)
    whole = rules.number(top)
    rows = tuple(row for row in rules.rows if row.terms and all(
        atom.kind is Kind.FREE
        or (atom.kind in (Kind.COUNT, Kind.OUTSIDE) and atom.scope == whole
            and atom.level in levels) for atom, _ in row.terms))
    index = {}
    for row in rows:
        for atom, _ in row.terms:
            if atom.kind is Kind.FREE:
                index.setdefault(atom, len(index))
    first = np.unique(of, return_index=True)[1]
    divisions = {level: table.division(level) for level in levels}
    return Cells(
        table, of, {level: division.of_host[first]
                    for level, division in divisions.items()},
        rows, index, np.array([atom.upper for atom in index], dtype=float),
        {level: _stay(kinds, division)
         for level, division in divisions.items()})


def _crossed(table: HostTable, of: np.ndarray,
             levels: list[str]) -> np.ndarray | None:
    """Cells crossed with the levels' domains, unless there are too many."""
    for level in levels:
        if level == HOST:
            return None
        division = table.division(level)
        if len(division.domains) > _MOST:
            return None
        pairs = np.stack((of, division.of_host))
        of = np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1)
    return None if of.max(initial=0) >= _MOST else of


def _stay(kinds: Kinds, division: Division) -> np.ndarray:
    """Members that stay, by domain; the last is for those in none."""
    found = np.zeros(len(division.domains) + 1)
    for host in kinds.placed.values():
        found[division.of_host[host]] += 1
    return found

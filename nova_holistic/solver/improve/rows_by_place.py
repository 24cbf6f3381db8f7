# SPDX-License-Identifier: Apache-2.0
"""The rows of a group's policies, indexed by the places that they refer to.

They are built once per search. A step uses the rows that the freed members can
affect.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence

import numpy as np

from nova_holistic.model.members.member import Member
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.rows import Atom, Kind, Row, ScopedPolicy
from nova_holistic.solver.problem.rules import Rules

Place = tuple[int, str, int]
"""Scope, level, and index of the domain; -1 for hosts in no domain."""


class RowsByPlace:
    """The rows in blocks: rows that share a variable of their policy are in
    one block. If no count of a block of a hard policy changes, the block
    remains satisfied, and a program may omit it.

    :ivar rules: the rules on all hosts
    """

    def __init__(self, case: Case, in_time: InTime):
        self.rules: Rules = case.rules
        self._scopes: dict[str, list[int]] = defaultdict(list)
        for number, scope in enumerate(self.rules.scopes):
            in_time()
            for member in scope.members:
                self._scopes[member.path].append(number)
        self._levels: dict[int, set[str]] = defaultdict(set)
        self._blocks: dict[Place, set[int]] = defaultdict(set)
        self._rows: dict[int, list[Row]] = defaultdict(list)
        self._soft: dict[tuple[int, str], list[Row]] = defaultdict(list)
        blocks = _Blocks()
        for row in self.rules.rows:
            in_time()
            if row.carried.policy.hard:
                blocks.add(row)
            else:
                self._soft[row.carried.key].append(row)
        for row, block in blocks.all():
            in_time()
            self._rows[block].append(row)
            for atom, _ in row.terms:
                if atom.kind is not Kind.FREE:
                    self._levels[atom.scope].add(atom.level)
                    self._blocks[self._place(atom)].add(block)

    @property
    def table(self) -> HostTable:
        """All hosts."""
        return self.rules.table

    def about(self, members: Collection[Member], hosts: np.ndarray,
              policies: Sequence[ScopedPolicy]) -> tuple[Row, ...]:
        """Rows that a move of the members can affect.

        :param members: members that may move
        :param hosts: indexes of the hosts where the members are or may be
            placed
        :param policies: policies that apply to one of the members
        """
        found: set[int] = set()
        scopes = {number for member in members
                  for number in self._scopes[member.path]}
        where: dict[str, list[int]] = {}
        for scope in scopes:
            for level in self._levels.get(scope, ()):
                if level not in where:
                    where[level] = np.unique(
                        self.table.division(level).of_host[hosts]).tolist()
                for number in where[level]:
                    found |= self._blocks.get((scope, level, number), set())
        rows = [row for block in sorted(found) for row in self._rows[block]]
        for each in policies:
            rows += self._soft.get(each.key, ())
        return tuple(rows)

    def _place(self, atom: Atom) -> Place:
        return atom.scope, atom.level, self.table.domain_number(atom)


class _Blocks:
    """Rows, joined by the variables of policies that they share."""

    def __init__(self) -> None:
        self._rows: list[tuple[Row, int]] = []
        self._parent: list[int] = []
        self._of: dict[Atom, int] = {}

    def add(self, row: Row) -> None:
        node = len(self._parent)
        self._parent.append(node)
        self._rows.append((row, node))
        for atom, _ in row.terms:
            if atom.kind is Kind.FREE:
                other = self._root(self._of.setdefault(atom, node))
                self._parent[other] = self._root(node)

    def all(self) -> list[tuple[Row, int]]:
        """Each row with the number of its block."""
        return [(row, self._root(node)) for row, node in self._rows]

    def _root(self, number: int) -> int:
        while self._parent[number] != number:
            self._parent[number] = self._parent[self._parent[number]]
            number = self._parent[number]
        return number

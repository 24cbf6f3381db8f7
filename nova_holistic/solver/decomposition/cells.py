# SPDX-License-Identifier: Apache-2.0
"""Rules on few domains, for a relaxation of merged hosts."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from nova_holistic.solver.decomposition.cohesive_sets import (
    cohesive_sets, CohesiveSet)
from nova_holistic.solver.decomposition.fewest_hosts import counted_hosts
from nova_holistic.solver.decomposition.partition import (
    is_host_filter, refined)
from nova_holistic.solver.decomposition.parts import (
    countable_scopes, Parts, parts)
from nova_holistic.solver.problem.case import reach
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.rows import (
    Atom, Kind, Row, ScopedPolicy, Terms)
from nova_holistic.solver.problem.rules import Rules, scoped_policies


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Cells, which are sets of hosts that the rules do not distinguish, and
    the rules.

    The own variables are those of the policies, one for each domain whose use
    is part of a rule, and the members of each part in each cell if a kind has
    several parts.

    :ivar of: cell of each host
    :ivar domain_of: for each level, domain of each cell; -1 for none
    :ivar rows: rows of the rules that consist of the cells' counts
    :ivar penalties: weight, terms and constant of each preference
    :ivar parts: members of a kind that the rules distinguish
    :ivar cohesive_sets: parts that rules keep together
    :ivar index: number of each variable of policies and domains
    :ivar free: upper limits of the own variables
    :ivar whole: mask of the variables that are binary or a number of members
    :ivar placed_counts: for each scope and level, [domain]: members that stay;
        the last number is for hosts in no domain
    :ivar fewest: lower bound of the number of hosts that get members in any
        plan, not including the hosts of members that stay
    :ivar fewest_with_limits: such a bound from the limits of hosts as well
    """

    table: HostTable
    of: np.ndarray
    domain_of: dict[str, np.ndarray]
    rows: tuple[Row, ...]
    penalties: tuple[tuple[float, Terms, float], ...]
    parts: Parts
    cohesive_sets: tuple[CohesiveSet, ...]
    index: dict[Atom, int]
    free: np.ndarray
    whole: np.ndarray
    placed_counts: dict[tuple[int, str], np.ndarray]
    fewest: int = 0
    fewest_with_limits: int = 0

    @property
    def count(self) -> int:
        """Number of cells."""
        return int(self.of.max(initial=0)) + 1

    @property
    def used(self) -> np.ndarray:
        """Mask of the variables of domains in use."""
        found = np.zeros(len(self.free), dtype=bool)
        found[[number for atom, number in self.index.items()
               if atom.kind is Kind.USED]] = True
        return found

    def of_z(self, first: int) -> np.ndarray:
        """[slot, cell]: variables that count the members of each part."""
        return first + len(self.index) + np.arange(
            self.parts.slots * self.count).reshape(-1, self.count)

    def in_cells(self, x: np.ndarray, cell: np.ndarray,
                 values: np.ndarray) -> np.ndarray:
        """[part, cell]: members in a solution.

        :param x: [kind, bin]: members
        :param cell: cell of each bin
        :param values: values of the own variables
        """
        number = self.count
        found = np.array([np.bincount(cell, row, number) for row in x])[
            self.parts.kind]
        split = self.parts.slot >= 0
        found[split] = values[self.of_z(0)][
            self.parts.slot[split]]
        return found


def cells(kinds: Kinds, in_time: InTime, most: int | None = None) -> Cells:
    """Return the cells for the policies and relationships on few domains.

    :param most: maximum number of cells; None means the limit
    """
    return _of_policies(kinds, scoped_policies(kinds.group), in_time, most)


def cell_without_rules(kinds: Kinds, in_time: InTime,
                       counts: bool = True) -> Cells:
    """Return a single cell of all hosts, without rules, for bounds that ignore
    policies on domains. The kinds still contain the policies that exclude
    hosts or limit the members on a host, and all policies determine the
    minimum number of hosts.

    :param counts: whether this number is needed
    """
    return _of_policies(kinds, (), in_time, counts=counts)


def _of_policies(kinds: Kinds, policies: Iterable[ScopedPolicy],
                 in_time: InTime, most: int | None = None,
                 counts: bool = True) -> Cells:
    table = kinds.table
    levels: list[str] = []
    of = np.zeros(len(table), dtype=np.int64)
    carried = []
    for each in policies:
        if is_host_filter(each.policy):
            continue
        fresh = [level for level in each.policy.levels if level not in levels]
        number = refined(table, of, fresh, most)
        if number is not None:
            of = number
            levels.extend(fresh)
            carried.append(each)
    rules = rules_of(kinds, carried, in_time)
    for level in dict.fromkeys(
            atom.level for terms in _all_terms(rules, ()) for atom, _ in terms
            if rules.table.is_subset(atom.level)):
        # The level of a set of hosts that a policy selected.
        number = refined(rules.table, of, [level], most)
        if number is not None:
            of = number
            levels.append(level)
    numbers = {atom.scope for terms in _all_terms(rules, levels)
               for atom, _ in terms if _is_count(atom, levels)}
    known = countable_scopes(kinds, rules.scopes, numbers,
                             int(of.max(initial=0)) + 1)
    found = _cells(kinds, rules, of, levels, parts(kinds, known))
    if not counts:
        return found
    fewest, limited = counted_hosts(kinds, rules, in_time)
    # Patterns begin at the bound of the relaxation. Those of cohesive sets
    # would end before they distribute the sets.
    return replace(found, fewest_with_limits=max(fewest, limited),
                   fewest=fewest if found.cohesive_sets else max(
                       fewest, limited))


def rules_of(kinds: Kinds, carried: list[ScopedPolicy],
             in_time: InTime) -> Rules:
    """The rows of the policies on all hosts."""
    table = kinds.table
    possible = (kinds.room > 0).any(axis=0)
    possible[kinds.placed_hosts] = True
    masks: dict[str, np.ndarray] = {}
    for kind in kinds.kinds:
        # Members of a kind share one mask: there may be thousands of members
        # and of hosts.
        masks.update(dict.fromkeys(
            (m.path for m in kind.members), kind.room > 0))
    rules = Rules(
        table.part(None), possible, next(kinds.group.scopes()),
        reach(kinds.members, masks, kinds.placed, len(table)), in_time)
    rules.encode(carried)
    return rules


def _all_terms(rules: Rules, levels: Collection[str]) -> Iterator[Terms]:
    """The terms of all rows and penalties.

    :param levels: levels of the count limits to include
    """
    yield from (row.terms for row in rules.every_row(levels))
    yield from (terms for _, terms, _ in rules.penalties)


def _is_count(atom: Atom, levels: list[str]) -> bool:
    return atom.kind is not Kind.FREE and atom.level in levels


def _cells(kinds: Kinds, rules: Rules, of: np.ndarray, levels: list[str],
           split: Parts) -> Cells:
    """The cells with those rules that consist of their counts. Rows with other
    counts are omitted, and the program then remains a relaxation."""
    def is_expressible(terms: Terms) -> bool:
        return all(atom.kind is Kind.FREE or (
            atom.level in levels and atom.scope in split.within)
            for atom, _ in terms)

    rows = tuple(row for row in rules.every_row(levels)
                 if row.terms and is_expressible(row.terms))
    penalties = tuple(
        (carried.policy.weight, terms, constant)
        for carried, terms, constant in rules.penalties
        if is_expressible(terms))
    every = [atom for terms in (
        *(row.terms for row in rows), *(terms for _, terms, _ in penalties))
        for atom, _ in terms]
    index = {atom: number for number, atom in enumerate(dict.fromkeys(
        atom for atom in every if atom.kind in (Kind.FREE, Kind.USED)))}
    number = int(of.max(initial=0)) + 1
    upper = [1.0 if atom.kind is Kind.USED else float(atom.upper)
             for atom in index]
    part_sizes = split.numbers[split.slot >= 0]
    first = np.unique(of, return_index=True)[1]
    return Cells(
        rules.table, of,
        {level: rules.table.division(level).of_host[first]
         for level in levels}, rows, penalties, split,
        cohesive_sets(kinds, split, [
            rules.scopes[atom.scope] for atom in index
            if atom.kind is Kind.USED]), index,
        np.concatenate((upper, np.repeat(part_sizes, number))).astype(float),
        np.array([atom.kind is Kind.USED for atom in index]
                 + [True] * (len(part_sizes) * number), dtype=bool),
        {(atom.scope, atom.level): _placed_counts(kinds, rules, atom)
         for atom in every if atom.kind is not Kind.FREE})


def _placed_counts(kinds: Kinds, rules: Rules, atom: Atom) -> np.ndarray:
    """Members of the atom's scope that stay, by domain of its level; the last
    number is for hosts in no domain."""
    return rules.table.division(atom.level).counts([
        kinds.placed[m.path] for m in rules.scopes[atom.scope].members
        if m.path in kinds.placed])

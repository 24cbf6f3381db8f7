# SPDX-License-Identifier: Apache-2.0
"""Assignment of places to classes: an integer program under all rules.

Hosts and kinds are already chosen. The program has no capacity rows, and most
of the remaining rows are a flow from classes to places. Therefore, the first
program requires integrality only for the domains in use. The variables with
integral values in its solution are usually part of an integral solution. The
complete integer program is solved only if they cannot be completed to one.
"""

from collections.abc import Sequence
import contextlib

import numpy as np

from nova_holistic.solver.construct.disaggregation import KindCounts
from nova_holistic.solver.limits.current import decomposition as limits, milp
from nova_holistic.solver.milp.backend import Status
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.numerics.tolerances import INTEGRALITY
from nova_holistic.solver.problem.case import Case, Counts
from nova_holistic.solver.problem.deadline import Deadline, InTime, OutOfTime
from nova_holistic.solver.problem.rows import Atom, Kind


def assigned_counts(case: Case, table_of: Sequence[int], places: KindCounts,
                    deadline: Deadline) -> Counts | None:
    """Counts for the classes that satisfy all rules, and preferences as far as
    these places permit. Members that get no place are not counted. None if the
    program would be too large or no counts were found in time.

    :param table_of: [class]: index in ``places`` of the places that the class
        may use
    :param places: for each index, host index to number of places
    """
    with contextlib.suppress(OutOfTime):
        program = _Assignment(case, table_of, places, deadline.check)
        return program.solve(deadline) if program.small else None
    return None


class _Assignment:
    """The program with the variables a[class, host], for hosts with places
    that the class may use, and the number of members of each class without a
    place.

    :param table_of: as for ``assigned_counts``
    """

    def __init__(self, case: Case, table_of: Sequence[int],
                 places: KindCounts, in_time: InTime):
        self._case, self._in_time = case, in_time
        number = np.zeros((len(places), len(case.table)), dtype=np.int64)
        for t, kind_places in enumerate(places):
            number[t, list(kind_places)] = list(kind_places.values())
        upper = np.minimum(number[list(table_of)], case.room)
        self._column = np.full(upper.shape, -1)
        self._places = np.argwhere(upper > 0)
        self._column[upper > 0] = np.arange(len(self._places))
        self.small = len(self._places) <= limits().assignment_places
        self._upper: list[float] = upper[upper > 0].astype(float).tolist()
        self._upper += [float(len(each.members)) for each in case.classes]
        self._integer = [True] * len(self._upper)
        self._cost: dict[int, float] = {}
        self._own: dict[Atom, int] = {}
        # The simplex method takes up to ten times as long for the flow from
        # thousands of members to places.
        self._linear = Linear(np.zeros(0), np.zeros(0),
                              options={'mip_lp_solver': 'ipm'})
        self._assign_all(np.asarray(table_of), number)

    def solve(self, deadline: Deadline) -> Counts | None:
        """Return counts for the classes; None if none were found.

        :raises OutOfTime: if the time ends before the program is built
        """
        for row in self._case.rules.every_row():
            self._in_time()
            expanded, constant = self._expand(row.terms)
            self._linear.add_row(expanded, *row.bounds(constant))
        for carried, terms, _ in self._case.rules.penalties:
            for columns, value in self._expand(terms)[0]:
                for column in columns.tolist():
                    self._cost[column] = self._cost.get(column, 0.0) + (
                        value * carried.policy.weight)
        missing = slice(len(self._places),
                        len(self._places) + len(self._case.classes))
        values = _integer_solution(self._program(), missing, deadline)
        return None if values is None else self._counts(values)

    def _program(self) -> Linear:
        cost = np.zeros(len(self._upper))
        cost[list(self._cost)] = list(self._cost.values())
        cost /= max(1e-9, np.abs(cost).max(initial=0))
        missing = len(self._places) + np.arange(len(self._case.classes))
        # Members of small classes have the fewest other hosts: for example,
        # a member with traffic to another one.
        cost[missing] = limits().missing_cost * (1 + 1 / np.array(
            [len(each.members) for each in self._case.classes]))
        self._linear.cost = cost
        self._linear.upper = np.array(self._upper)
        self._linear.integer = np.array(self._integer)
        return self._linear

    def _counts(self, values: np.ndarray) -> Counts:
        found: Counts = tuple({} for _ in self._case.classes)
        for (c, h), number in zip(self._places.tolist(), values.round()):
            if number:
                found[c][h] = int(number)
        return found

    def _assign_all(self, table_of: np.ndarray,
                    number: np.ndarray) -> None:
        for c, each in enumerate(self._case.classes):
            self._in_time()
            columns = self._column[c][self._column[c] >= 0]
            # Every member has a place or is missing.
            self._linear.add_row(
                [(np.append(columns, len(self._places) + c), 1.0)],
                len(each.members), len(each.members))
        for t, h in np.argwhere(number > 0).tolist():
            self._in_time()
            columns = self._column[table_of == t, h]
            columns = columns[columns >= 0]
            # No place is assigned twice.
            self._linear.add_row([(columns, 1.0)], -np.inf, number[t, h])

    def _variable(self, atom: Atom, upper: float, whole: bool) -> int:
        self._own[atom] = len(self._upper)
        self._upper.append(float(upper))
        self._integer.append(whole)
        return self._own[atom]

    def _expand(self, terms: Sequence[tuple[Atom, float]]
                ) -> tuple[list[tuple[np.ndarray, float]], float]:
        """The terms over variables, and the contribution of members that
        stay."""
        found, constant = [(np.zeros(0, dtype=np.int64), 0.0)], 0.0
        for atom, weight in terms:
            # A preference may have a term for each host.
            self._in_time()
            if atom.kind is Kind.FREE:
                own_columns = np.array([
                    self._own[atom] if atom in self._own
                    else self._variable(atom, atom.upper, False)])
            else:
                own_columns, placed = self._count_columns(atom)
                if atom.kind is Kind.USED:
                    own_columns, placed = self._used(atom, own_columns, placed)
                constant += weight * placed
            found.append((own_columns, weight))
        return found, constant

    def _count_columns(self, atom: Atom) -> tuple[np.ndarray, int]:
        hosts = self._case.table.hosts_of(atom.level, atom.domain)
        count_columns = self._column[np.ix_(
            self._case.classes_in(atom.scope), hosts)]
        within = set(hosts.tolist())
        return count_columns[count_columns >= 0], sum(
            h in within for h in self._case.placed_in(atom.scope))

    def _used(self, atom: Atom, count_columns: np.ndarray,
              placed: int) -> tuple[np.ndarray, int]:
        if placed or not len(count_columns):
            return np.zeros(0, dtype=np.int64), int(placed > 0)
        if atom not in self._own:
            used = self._variable(atom, 1.0, True)
            for each in count_columns.tolist():
                # A member can be only in a domain that is used.
                self._linear.add_row(
                    [([each, used], [1.0, -self._upper[each]])], -np.inf, 0.0)
            # A domain without members is not used.
            self._linear.add_row([(count_columns, -1.0), (used, 1.0)],
                                 -np.inf, 0.0)
        return np.array([self._own[atom]]), 0


def _integer_solution(program: Linear, missing: slice,
                      deadline: Deadline) -> np.ndarray | None:
    """Return an integral solution; None if none was found.

    :param missing: the variables that count missing members. The integer
        variables after them are those of domains in use
    """
    whole, upper = program.integer, program.upper
    all_placed = upper.copy()
    all_placed[missing] = 0.0
    domains = whole & (np.arange(len(whole)) >= missing.stop)
    program.integer = domains
    for program.upper in (all_placed, upper):
        # The program is far harder if members may be missing. Therefore,
        # members may be missing only in the second attempt.
        outcome, near = program.solve(deadline.left(), 0.0,
                                      milp().nodes)
        if outcome.status is not Status.INFEASIBLE:
            break
    program.integer, upper = whole, program.upper
    found = _completed(program, near, domains, missing, deadline) if (
        outcome.solved) else None
    if found is None and outcome.status is not Status.INFEASIBLE:
        program.lower, program.upper = np.zeros_like(upper), upper
        outcome, values = program.solve(deadline.left(), 0.0,
                                        milp().nodes)
        return values if outcome.solved else None
    return found


def _completed(program: Linear, near: np.ndarray, domains: np.ndarray,
               missing: slice, deadline: Deadline) -> np.ndarray | None:
    """Return an integral solution that costs no more than ``near``, apart from
    a missing member that is rounded up; None if none was found.

    :param near: the solution in which only the domains are integral
    """
    upper = program.upper
    # A fraction of a missing member is rounded up.
    short = near[missing].sum()
    missing_cost = program.cost[missing.start]
    enough = program.cost @ near + INTEGRALITY + missing_cost * (
        short > INTEGRALITY) * (1 + np.ceil(short) - short)
    kept = np.rint(near)
    settled = program.integer & (kept > 0) & (
        np.abs(near - kept) < INTEGRALITY)
    settled[missing] = False
    # First fix all variables with integral values, then only the domains.
    for some in (settled, np.zeros_like(settled)):
        program.lower = np.where(domains | some, kept, 0.0)
        program.upper = np.where(domains, kept, upper)
        outcome, values = program.solve(deadline.left(), 0.0,
                                        milp().nodes)
        if outcome.solved and program.cost @ values <= enough:
            return values
    return None

# SPDX-License-Identifier: Apache-2.0
"""The integer program: the number of members of each class on each host."""

from collections.abc import Iterator, Sequence
from collections import Counter
import contextlib
import math

import numpy as np
import pulp
from pulp import LpAffineExpression, LpConstraint, LpProblem, LpVariable

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.group import Scope
from nova_holistic.model.members.member import Member
from nova_holistic.model.objective import Objective
from nova_holistic.solver.milp.cost_limits import CostLimits
from nova_holistic.solver.milp.preference_rows import Penalty
from nova_holistic.solver.milp.presence import Presence
from nova_holistic.solver.numerics.tolerances import INTEGRALITY
from nova_holistic.solver.problem.case import Case, Counts
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.rows import Atom, CountLimit, Kind


class Program(CostLimits):
    """Implements model.objective.HostEncoder on PuLP.

    ``x[c][h]`` is the number of members of class ``c`` on host ``h``: one
    integer for each class and each host that it may use.

    :param hosts: [class, host]: whether the class may use the host; None if
        every class may use all hosts. A program of some hosts proves nothing
        about the others
    :param whole: whether at least one optimal plan uses only these hosts
    :raises OutOfTime: if the time ends before the program is complete
    """

    def __init__(self, case: Case, objective: Objective, deadline: Deadline,
                 hosts: np.ndarray | None = None, whole: bool = False):
        self.snapshot = case.snapshot
        self.members: Sequence[Member] = case.members
        self.case = case
        self.whole = whole or hosts is None
        self._objective, self._hosts = objective, hosts
        self.problem = LpProblem('plan')
        self._deadline = deadline
        self._variables = 0
        self._free: dict[Atom, LpVariable] = {}
        room = case.open_room(deadline.check)
        if hosts is not None:
            room = np.where(hosts, room, 0)
        self.limits = room
        self.x = [{int(h): self._variable(int(room[c, h]))
                   for h in np.flatnonzero(room[c])}
                  for c in range(len(case.classes))]
        self._classes_on_host: dict[int, list[int]] = {}
        for c, row in enumerate(self.x):
            for h in row:
                self._classes_on_host.setdefault(h, []).append(c)
        self._presence = Presence(self)
        self._add_member_rows()
        self._add_policy_rows()
        self.add_up_preferences()
        self.cost = LpAffineExpression(objective.encode(self))
        self._keep_within_capacity()
        self._scale_cost()

    @contextlib.contextmanager
    def linear(self) -> Iterator[None]:
        """Context in which all variables are continuous."""
        whole = [variable for variable in self.problem.variables()
                 if variable.cat == pulp.LpInteger]
        for variable in whole:
            variable.cat = pulp.LpContinuous
        try:
            yield
        finally:
            for variable in whole:
                variable.cat = pulp.LpInteger

    # The interface for objectives.

    def hosts(self) -> Sequence[Host]:
        numbers = sorted({*self._classes_on_host, *self.case.placed.values()})
        return [self.case.table.hosts[h] for h in numbers]

    def host_used(self, host: Host) -> LpAffineExpression:
        h = self.case.table.index[host.name]
        return self._presence.of(self._presence.whole_host(h))

    def demand(self, host: Host, resource_class: str) -> LpAffineExpression:
        h = self.case.table.index[host.name]
        terms = []
        for c in self._classes_on_host.get(h, ()):
            amount = dict(self.case.classes[c].demands).get(resource_class)
            if amount:
                terms.append((self.x[c][h], amount))
        return LpAffineExpression(terms)

    def domains(self, level: str) -> Sequence[Domain]:
        return self.case.rules.domains(level)

    def count(self, scope: Scope, domain: Domain) -> LpAffineExpression:
        atom = Atom(Kind.COUNT, self.case.rules.number(scope), domain.level,
                    domain)
        return self._presence.number(self._presence.scope_count(atom))

    def integer(self, name: str, upper: int) -> LpVariable:
        return self._variable(upper)

    def continuous(self, name: str, lower: float,
                   upper: float) -> LpAffineExpression:
        return LpAffineExpression(self._real(lower, upper))

    def require(self, constraint: LpConstraint | bool) -> None:
        self._deadline.check()
        if isinstance(constraint, bool):
            # The constraint is the result of comparing two numbers.
            constraint = LpAffineExpression() >= 1 - constraint
        if not constraint.items() and not constraint.valid():
            # Some solvers do not detect an infeasible row without variables.
            constraint = LpAffineExpression(self.binary()) >= 2
        self.problem.addConstraint(constraint)

    # The interface for the search.

    @property
    def size(self) -> int:
        """The number of variables."""
        return self._variables

    def rebuild(self) -> 'Program':
        """The same program, without the rows that were added later."""
        return type(self)(
            self.case, self._objective, self._deadline, self._hosts,
            self.whole)

    def minimise_cost(self) -> None:
        """Minimise the value of the objective, in units of ``cost_unit``."""
        self.problem.objective = self.scaled_cost

    def forbid(self, host: int, counts: Counts) -> None:
        """Forbid this combination of members on the host.

        The rows exclude exactly these members and larger sets. The
        coefficients are as small as the counts, even if the amounts are too
        far apart for the tolerances of a solver.
        """
        reached = []
        for c in self._classes_on_host.get(host, ()):
            number = counts[c].get(host, 0)
            if number:
                # 1 if the class has at least this number of members there.
                many = self.binary()
                upper = int(self.limits[c, host])
                self.require(
                    self.x[c][host]
                    <= number - 1 + many * (upper - number + 1))
                reached.append((many, 1))
        self.require(LpAffineExpression(reached) <= len(reached) - 1)

    def read(self) -> Counts:
        """The solution, rounded to whole numbers of members."""
        return tuple(
            {h: number for h, variable in row.items()
             if (number := round(variable.varValue or 0))}
            for row in self.x)

    def used_hosts(self) -> set[int]:
        """The hosts that the solution uses, which may have fractions."""
        return {h for row in self.x for h, variable in row.items()
                if (variable.varValue or 0.0) > INTEGRALITY}

    def start(self, counts: Counts) -> dict[LpVariable, float]:
        """The counts as values of variables, for a warm start."""
        values = {variable: counts[c].get(h, 0)
                  for c, row in enumerate(self.x)
                  for h, variable in row.items()}
        for scope_count, variable in self._presence.variables():
            values[variable] = float(any(
                counts[c].get(h, 0) for c, h in scope_count.places))
        return values

    # Construction.

    def binary(self) -> LpVariable:
        """Create a variable that is 0 or 1."""
        return self._variable(1)

    def classes_on(self, host: int) -> Sequence[int]:
        """Classes that may use the host."""
        return self._classes_on_host.get(host, ())

    def _variable(self, upper: int) -> LpVariable:
        if self._variables % 256 == 0:
            self._deadline.check()
        self._variables += 1
        return self.problem.add_variable(
            f'x{self._variables}', 0, upper, pulp.LpInteger)

    def _real(self, lower: float, upper: float) -> LpVariable:
        self._variables += 1
        return self.problem.add_variable(
            f'c{self._variables}', lower, upper)

    def _add_member_rows(self) -> None:
        # Every member is placed exactly once.
        for each, row in zip(self.case.classes, self.x):
            self.require(LpAffineExpression(
                [(variable, 1) for variable in row.values()])
                == len(each.members))

    def _add_policy_rows(self) -> None:
        """Add the rows of policies, with variables in place of counts."""
        for row in self.case.rules.rows:
            left = self._expand(row.terms, 0.0)
            constraint = LpConstraint(left, row.sense, rhs=row.limit)
            if left or not constraint.valid():
                self.require(constraint)
        for limit in self.case.rules.limits:
            self._limit_counts(limit)
        self.penalties = [
            Penalty(carried, self._expand(terms, constant))
            for carried, terms, constant in self.case.rules.penalties]

    def _limit_counts(self, limit: CountLimit) -> None:
        """Add a row for each domain, unless the upper limits of the variables
        already imply it."""
        where = self.case.table.division(limit.level).of_host
        placed_counts = Counter(
            where[self.case.placed_in(limit.scope)].tolist())
        by_domain: dict[int, list[LpVariable]] = {
            number: [] for number in placed_counts}
        for c in self.case.classes_in(limit.scope):
            for h, variable in self.x[c].items():
                by_domain.setdefault(int(where[h]), []).append(variable)
        by_domain.pop(-1, None)
        for number, variables in by_domain.items():
            left = limit.most - placed_counts[number]
            if sum(each.upBound for each in variables) > left or left < 0:
                self.require(LpAffineExpression(
                    [(each, 1) for each in variables]) <= left)

    def _expand(self, terms, constant: float) -> LpAffineExpression:
        total = LpAffineExpression(constant=constant)
        for atom, coefficient in terms:
            if atom.kind is Kind.FREE:
                if atom not in self._free:
                    self._free[atom] = (
                        self._variable(atom.upper) if atom.whole
                        else self._real(0, atom.upper))
                total.addterm(self._free[atom], coefficient)
                continue
            scope_count = self._presence.scope_count(atom)
            part = (self._presence.of(scope_count) if atom.kind is Kind.USED
                    else self._presence.number(scope_count))
            total.constant += part.constant * coefficient
            for variable, factor in part.items():
                total.addterm(variable, factor * coefficient)
        return total

    def _scale_cost(self) -> None:
        """Scale the cost to about 1, because tolerances of solvers are
        absolute."""
        self.cost_unit = max(map(abs, self.cost.values()), default=1.0) or 1.0
        self.scaled_cost = self.cost * (1 / self.cost_unit)

    def _keep_within_capacity(self) -> None:
        # Members take at most the free amounts of a host.
        for h, classes in self._classes_on_host.items():
            names = {name for c in classes
                     for name, _ in self.case.classes[c].demands}
            used = self._presence.host_binary(h)
            for name in sorted(names):
                terms = [(self.x[c][h], amount) for c in classes
                         for rc, amount in self.case.classes[c].demands
                         if rc == name]
                free = int(self.case.table.amounts(name).free[h])
                self._capacity_row(terms, free, used)

    def _capacity_row(self, terms: list[tuple[LpVariable, int]], free: int,
                      used: LpVariable | None) -> None:
        most = sum(amount * v.upBound for v, amount in terms)
        if most <= free and used is None:
            return
        # Dividing by the common divisor is exact for whole amounts, and rounds
        # the limit down to a reachable value.
        divisor = math.gcd(*(amount for _, amount in terms))
        self.whole_row([(v, amount // divisor) for v, amount in terms],
                       min(free, most) // divisor, used)

# SPDX-License-Identifier: Apache-2.0
"""A plain integer program with one binary variable for each member and
host."""

import pulp

from nova_holistic.model.group import Scope


class PlainEncoder:
    """The smallest complete encoder, which shows what an encoding forbids and
    what it costs.

    Members in ``placed`` are constants, as in the solver.
    """

    def __init__(self, scope, snapshot, placed=(), top=None):
        self.top = top or scope
        self.problem = pulp.LpProblem('plain', pulp.LpMinimize)
        self.snapshot = snapshot
        self.cost = []
        self.variables = 0
        self.on = {}
        for member in self.top.members:
            for host in snapshot.hosts:
                fixed = dict(placed).get(member.path)
                self.on[member.path, host.name] = (
                    self.binary() if fixed is None
                    else int(fixed is host))
            if member.path not in dict(placed):
                # The member is placed exactly once.
                self.require(pulp.lpSum(
                    self.on[member.path, h.name]
                    for h in snapshot.hosts) == 1)

    def binary(self):
        return self.integer('', 1)

    def domains(self, level):
        found = {self.snapshot.domain(h, level) for h in self.snapshot.hosts}
        return sorted(found - {None})

    def _count(self, scope, level, domain):
        return self.among(scope, [
            h for h in self.snapshot.hosts
            if self.snapshot.domain(h, level) == domain])

    def among(self, scope, hosts):
        terms = [self.on[m.path, h.name] for m in scope.members
                 for h in hosts]
        if all(isinstance(term, int) for term in terms):
            return sum(terms)
        return pulp.lpSum(terms)

    def count(self, scope, domain):
        return self._count(scope, domain.level, domain)

    def outside(self, scope, level):
        return self._count(scope, level, None)

    def used(self, scope, domain):
        count = self.count(scope, domain)
        if isinstance(count, int):
            return int(count > 0)
        used = self.binary()
        # A domain is used if and only if it contains a member.
        self.require(count <= len(scope.members) * used)
        self.require(count >= used)
        return used

    def candidates(self, scope):
        return self.snapshot.hosts if scope.members else ()

    def others(self, scope):
        paths = {m.path for m in scope.members}
        return Scope('', self.top.group, tuple(
            m for m in self.top.members if m.path not in paths))

    def integer(self, name, upper):
        self.variables += 1
        return pulp.LpVariable(
            f'v{self.variables}', 0, upper, cat=pulp.LpInteger)

    def continuous(self, name, lower, upper):
        self.variables += 1
        return pulp.LpVariable(f'v{self.variables}', lower, upper)

    def require(self, constraint):
        if isinstance(constraint, bool):
            # The row 1 <= 0 makes the program infeasible.
            constraint = pulp.LpAffineExpression(
                constant=int(not constraint)) <= 0
        self.problem += constraint

    def limit(self, scope, level, most):
        for domain in self.domains(level):
            self.require(self.count(scope, domain) <= most)

    def penalise(self, policy, scope, violations):
        self.cost.append(policy.weight * violations)

    def solve(self):
        """Return the least cost of preferences, or None if no placement
        satisfies the policies."""
        self.problem += pulp.lpSum(self.cost)
        self.problem.solve(pulp.HiGHS(msg=False))
        if self.problem.status != pulp.LpStatusOptimal:
            return None
        return round(pulp.value(self.problem.objective) or 0)


def cost_of(policy, scope, snapshot, placed=(), top=None):
    """Return the cost of the policy's encoding, or None if it is infeasible.

    :param placed: path to host of the placed members
    :param top: the top-level group, if the scope is a part of it
    """
    encoder = PlainEncoder(scope, snapshot, placed, top)
    policy.encode(scope, encoder)
    return encoder.solve()

# SPDX-License-Identifier: Apache-2.0
"""Exact costs of preferences: fractions, tiers, and rows that limit the costs.
"""

from dataclasses import dataclass
from fractions import Fraction
import itertools
from typing import ClassVar

import highspy
import numpy as np
import pulp
import pytest

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.policy import Policy, Violations
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.milp.backend import load_backend, Status
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.milp.program import Program
from nova_holistic.solver.numerics.dual_bounds import DualBounds
from nova_holistic.solver.numerics.exact_weights import common_step, exact
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.feasibility import Feasibility
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.clocks import standing

WEIGHTS = (1e6, 123.456, 0.1, 0.000001)


def test_weights_are_the_decimal_numbers_that_users_write():
    assert exact(0.1) + exact(0.2) == exact(0.3) == Fraction(3, 10)
    assert common_step(map(exact, (0.6, 1e6, 0.25))) == Fraction(1, 20)
    assert common_step([]) == 0


def _program(weights):
    """Return the program of one member. Each combination of preferences is
    satisfied on one host."""
    wanted = group(servers('m'), policies=[
        Traits(has=frozenset({f'CUSTOM_{n}'}), weight=weight)
        for n, weight in enumerate(weights)])
    hosts = [host(f'h{n}', 'r', traits=frozenset(
        f'CUSTOM_{t}' for t, has in enumerate(which) if has))
        for n, which in enumerate(itertools.product(
            (False, True), repeat=len(weights)))]
    deadline = Deadline(standing, 10.0)
    case = Case.of(wanted, cloud(*hosts), {}, deadline.check)
    return case, Program(case, Feasibility(), deadline)


def test_weights_that_solvers_cannot_distinguish_are_in_tiers():
    _, program = _program(WEIGHTS)
    assert [[each.weight for each in tier] for tier in program.tiers()] == [
        [10**6], [exact(123.456), exact(0.1)], [exact(1e-6)]]
    _, program = _program((10.0, 2.5, 1.0))
    assert len(program.tiers()) == 1


@pytest.mark.parametrize('number', range(0, 16, 3))
def test_a_limit_admits_its_own_cost_and_no_cost_above(number):
    """Each host costs a different sum of weights. A limit between two costs
    divides the hosts, and the most expensive host below the limit is feasible.
    """
    case, program = _program(WEIGHTS)
    costs = sorted(case.preference_cost(case.placement(({h: 1},)))
                   for h in range(len(case.table)))
    program.limit_preferences(costs[number])
    program.problem.objective = -program.preferences
    outcome = load_backend('highs').solve(
        program.problem, seconds=10.0, gap=0.0)
    assert outcome.status is Status.OPTIMAL
    found = case.preference_cost(case.placement(program.read()))
    assert found <= costs[number]
    # A limit below the least cost has no solution.
    program.limit_preferences(costs[0] - Fraction(1, 10**6))
    assert load_backend('highs').solve(
        program.problem, seconds=10.0, gap=0.0).status is Status.INFEASIBLE


@dataclass(frozen=True, kw_only=True)
class OnTheSecond(Policy):
    """No member is on the second host. The encoding has a real variable.

    :ivar factor: violations per unit of this variable
    :ivar offset: violations that the encoding adds as a constant and subtracts
        again as a part of the variable
    """

    type: ClassVar[str] = 'on-the-second'
    keys: ClassVar[dict] = {}
    levels: ClassVar[tuple] = ('host',)

    factor: float
    offset: float

    def check(self, scope, placement, snapshot):
        return Violations(sum(placement[m.path].name == 'h1'
                              for m in scope.members))

    def encode(self, scope, encoder):
        part = encoder.continuous('part', 0, 3 / self.factor)
        count = encoder.count(scope, Domain('host', ('r', 'h1')))
        encoder.require(part * self.factor >= count + self.offset)
        encoder.penalise(self, scope, part * self.factor - self.offset)


@pytest.mark.parametrize('factor', [1.0, 2.0, 0.5, 3.0, 1.6])
@pytest.mark.parametrize('offset', [0.0, 0.4, 1.0])
@pytest.mark.parametrize('other', [1e6, 0.3])
def test_real_variables_do_not_change_the_cost_of_a_violation(
        factor, offset, other):
    """Two members are on the only two hosts. One of them violates the
    preference once, with any coefficient of the real variable."""
    wanted = group(servers('m', 2), policies=[
        OnTheSecond(factor=factor, offset=offset, weight=1e-3),
        Traits(has=frozenset({'CUSTOM_ANY'}), weight=other)])
    deadline = Deadline(standing, 10.0)
    case = Case.of(wanted, cloud(host('h0', 'r', vcpus=1), host(
        'h1', 'r', vcpus=1)), {}, deadline.check)
    for cost, status in ((Fraction(1, 1000), Status.OPTIMAL),
                         (Fraction(99, 10**5), Status.INFEASIBLE)):
        program = Program(case, Feasibility(), deadline)
        program.limit_preferences(2 * exact(other) + cost)
        program.minimise_cost()
        assert load_backend('highs').solve(
            program.problem, seconds=10.0, gap=0.0).status is status


def test_a_bound_holds_up_to_its_limit_on_preferences():
    bounds = DualBounds()
    assert bounds.at(0.0) == 0.0
    bounds.add(54.8, 2.0)
    bounds.add(40.0, float('inf'))
    assert bounds.at(Fraction(2)) == 54.8
    assert bounds.at(Fraction(21, 10)) == 40.0


@pytest.mark.parametrize('whole', [False, True])
def test_no_program_is_presolved_by_probing(monkeypatch, whole):
    """HiGHS's probing reports some solutions as optimal that are not optimal,
    and some feasible programs as infeasible."""
    left_out = []
    run = highspy.Highs.run

    def noted(model):
        left_out.append(model.getOptionValue('presolve_rule_off')[1])
        return run(model)

    monkeypatch.setattr(highspy.Highs, 'run', noted)
    program = Linear(np.array([1.0]), np.array([3.0]))
    program.add(np.zeros(1), np.zeros(1), np.ones(1), 1.5, np.inf, 1)
    if whole:
        program.integer = np.array([True])
    program.solve(10.0)
    program.loaded().run()
    problem = pulp.LpProblem()
    number = problem.add_variable('x', 0, 3, pulp.LpInteger)
    problem.objective = pulp.LpAffineExpression(number)
    problem.addConstraint(number >= 1.5)
    load_backend('highs').solve(problem, seconds=10.0, gap=0.0)
    assert left_out == [1 << 15] * 3

# SPDX-License-Identifier: Apache-2.0
"""Every plan that a test computes is checked twice, independently of the code
that computed it: by the check of the project, and on small cases by the oracle
of the tests.

The observer sees every call of ``solve`` in the process, by a test, a command
or an engine.
"""

import pytest

from nova_holistic.model.plan import Plan
from nova_holistic.solver.check import check
from nova_holistic.solver.observer import observing
from tests.unit.solver import oracle

LARGE = 20_000
"""Members x hosts above which the oracle takes too long."""


class BadPlan(Exception):
    """A plan is invalid, or one of its statements is false."""


def check_answer(question, answer):
    """Check a plan. Other answers are accepted.

    :raises BadPlan: the plan violates a rule, or one of its statements is
        false
    """
    if isinstance(answer, Plan):
        _check(question.group, question.snapshot, question.placed, answer)


def _check(group, snapshot, placed, plan):
    where = plan.hosts()
    broken = check(group, snapshot, where, placed)
    if broken:
        raise BadPlan('; '.join(f'{r.at}: {r.message}' for r in broken))
    if not oracle.knows(group, plan.objective.name) or (
            len(where) * len(snapshot.hosts) > LARGE):
        return
    cost = oracle.evaluate(group, snapshot, placed, where)
    if cost is None:
        raise BadPlan(f'the check has missed something in {where}')
    claimed = sum(
        rule.weight * each.violations for rule, each in zip(
            (rule for scope in group.scopes() for rule in scope.group.rules
             if not rule.hard), plan.preferences, strict=True))
    value = oracle.value(
        plan.objective.name, group, snapshot, placed, where)
    for name, reported, true in (('violations', claimed, cost),
                                 ('objective', plan.objective.value, value)):
        if reported != pytest.approx(true, rel=1e-6, abs=1e-6):
            raise BadPlan(f'{name} of {reported}, and it is {true}: {where}')
    if plan.objective.bound > value + 1e-6 * max(1, value):
        raise BadPlan(f'a bound of {plan.objective.bound} above {value}')
    if plan.preferences:
        least = plan.preference_cost.bound
        if plan.preference_cost.value != pytest.approx(cost) or (
                least > cost + 1e-6 * max(1, cost)):
            raise BadPlan(f'{plan.preference_cost} of {cost}: {where}')


@pytest.fixture(scope='session', autouse=True)
def every_plan_is_checked():
    with observing(check_answer):
        yield

# SPDX-License-Identifier: Apache-2.0
"""Every plan that any test makes is judged, twice, by what did not make it:
by the project's own check, and on small cases by the oracle of the tests.

The judge observes every call of ``solve`` in the process, so that no test can
forget it, whether it calls ``solve`` itself, a command, or the engine.
"""

import pytest

from nova_holistic.model.plan import Plan
from nova_holistic.solver.check import check
from nova_holistic.solver.observer import observing
from tests.unit.solver import oracle

LARGE = 20_000
"""Members x hosts from which on the oracle would take too long."""


class BadPlan(Exception):
    """A plan is not what it is said to be."""


def check_answer(question, answer):
    """Judge a plan; reasons why there is none are not looked at.

    :raises BadPlan: it breaks something, or says something false of itself
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

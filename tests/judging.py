# SPDX-License-Identifier: Apache-2.0
"""Every plan that any test makes is judged, twice, by what did not make it:
by the project's own check, and on small cases by the oracle of the tests.

It is done where the solver hands a plan out, so that no test can forget it,
however it comes to its plans: by solve, a command, or the engine.
"""

from collections import Counter
from dataclasses import replace
import threading

import pytest

from nova_holistic.solver.check import check
from nova_holistic.solver import solve
from tests.unit.solver import oracle

LARGE = 20_000
"""Members x hosts from which on the oracle would take too long."""


class BadPlan(Exception):
    """A plan is not what it is said to be."""


def judge(group, snapshot, placed, plan):
    """
    :raises BadPlan: it breaks something, or says something false of itself
    """
    where = plan.hosts()
    broken = check(group, snapshot, where, placed)
    if broken:
        raise BadPlan('; '.join(f'{r.at}: {r.message}' for r in broken))
    if not oracle.knows(group, plan.objective.name) or (
            len(where) * len(snapshot.hosts) > LARGE):
        return
    cost = oracle.judge(group, snapshot, placed, where)
    if cost is None:
        raise BadPlan(f'the check has missed something in {where}')
    said = sum(
        rule.weight * each.violations for rule, each in zip(
            (rule for scope in group.scopes() for rule in scope.group.rules
             if not rule.hard), plan.preferences, strict=True))
    value = oracle.value(
        plan.objective.name, group, snapshot, placed, where)
    for what, told, true in (('violations', said, cost),
                             ('objective', plan.objective.value, value)):
        if told != pytest.approx(true, rel=1e-6, abs=1e-6):
            raise BadPlan(f'{what} of {told}, and it is {true}: {where}')
    if plan.objective.bound > value + 1e-6 * max(1, value):
        raise BadPlan(f'a bound of {plan.objective.bound} above {value}')


class Judge:
    """Stands at both ends of the solver: what went in, and what comes out.

    What went in is kept, since the solver may come to look at a part of it.
    """

    def __init__(self):
        self._asked = threading.local()

    def entering(self, bind):
        def bound(group, snapshot):
            self._asked.question = bind(group, snapshot), snapshot
            return self._asked.question[0]
        return bound

    def leaving(self, make):
        def made(case, *rest):
            plan = make(case, *rest)
            group, snapshot = self._asked.question
            placed = {path: case.table.hosts[h].name
                      for path, h in case.placed.items()}
            judge(group, _with_servers(snapshot, placed), placed, plan)
            return plan
        return made


def _with_servers(snapshot, placed):
    """As it was given to the solver, which does not count members that stay
    as strangers."""
    more = Counter(placed.values())
    return replace(snapshot, hosts=tuple(
        replace(h, servers=h.servers + more[h.name]) for h in snapshot.hosts))


@pytest.fixture(scope='session', autouse=True)
def every_plan_is_judged():
    with pytest.MonkeyPatch.context() as patch:
        stands = Judge()
        patch.setattr(solve, 'bind', stands.entering(solve.bind))
        patch.setattr(solve, 'planned', stands.leaving(solve.planned))
        yield

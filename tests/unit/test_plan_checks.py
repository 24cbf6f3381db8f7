# SPDX-License-Identifier: Apache-2.0
"""The checks that observe every test detect invalid plans."""

from dataclasses import replace
import threading

import pytest

from nova_holistic.cli import plan_work as command
from nova_holistic.engine.decision import snapshot_planner
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.plan import (
    ObjectiveValue, Placement, Plan, Unknown, Unplaceable)
from nova_holistic.model.policy import Violations
from nova_holistic.objectives.fewest_hosts import FewestHosts
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.solver.observer import Question
from nova_holistic.solver import solve
from tests.plan_checks import BadPlan, check_answer
from tests.unit.builders import cloud, group, host, servers, two_racks

APART = group(servers('web', 2), policies=[AntiAffinity()])


def question(wanted, snapshot, **placed):
    return Question(wanted, snapshot, FrozenMapping(placed), FewestHosts())


def all_on_the_first(asked, **claims):
    """A plan with every member on the first host. It claims to be optimal,
    because it uses one host."""
    first = asked.snapshot.hosts[0]
    return Plan(
        asked.group.name,
        tuple(Placement(m.path, first.name, first.node, first.location)
              for m in asked.group.all_members()),
        replace(ObjectiveValue('fewest-hosts', 1.0, 1.0, 0.0), **claims),
        (), FrozenMapping())


@pytest.mark.parametrize('wanted', [
    APART, group(servers('web', 17)), group(servers(
        'web', location=('r2',)))], ids=['policy', 'capacity', 'location'])
def test_violated_policies_are_detected(wanted):
    asked = question(wanted, two_racks())
    with pytest.raises(BadPlan, match='r1h1'):
        check_answer(asked, all_on_the_first(asked))


def test_a_good_plan_passes():
    asked = question(group(servers('web', 2)), two_racks())
    check_answer(asked, all_on_the_first(asked))


@pytest.mark.parametrize('claims, message', [
    ({'value': 2.0}, 'objective of 2.0, and it is 1'),
    ({'bound': 1.5}, 'a bound of 1.5 above 1')])
def test_false_statements_of_a_plan_are_detected(claims, message):
    asked = question(group(servers('web', 2)), two_racks())
    with pytest.raises(BadPlan, match=message):
        check_answer(asked, all_on_the_first(asked, **claims))


def test_members_that_stay_use_their_hosts_and_are_not_outside_servers():
    full = Inventory(16, used=16)
    alone = group(servers('web'), policies=[Exclusive()])
    for other_servers, good in ((0, True), (1, False)):
        asked = question(alone, cloud(
            host('h', 'r', inventories={'VCPU': full},
                 servers=1 + other_servers),
            host('other', 'r')), web='h')
        if good:
            check_answer(asked, all_on_the_first(asked))
            continue
        with pytest.raises(BadPlan, match='exclusive'):
            check_answer(asked, all_on_the_first(asked))


def test_answers_without_a_plan_are_not_checked():
    asked = question(group(servers('web', 17)), two_racks())
    check_answer(asked, Unplaceable((), True, FrozenMapping()))
    check_answer(asked, Unknown('time ran out', FrozenMapping()))


@pytest.fixture
def miscounted(monkeypatch):
    """A group with a policy that reports violations where none exist."""
    monkeypatch.setattr(AntiAffinity, 'check', lambda *args: Violations(5))
    return group(servers('web', 2), policies=[AntiAffinity(weight=1)])


@pytest.mark.parametrize('caller', [solve, snapshot_planner, command],
                         ids=['a test', 'the engine', 'a command'])
def test_every_caller_of_the_solver_is_observed(caller, miscounted):
    with pytest.raises(BadPlan, match='violations of 5, and it is 0'):
        caller.solve(miscounted, two_racks())


def test_threads_are_observed(miscounted):
    seen = []

    def ask():
        with pytest.raises(BadPlan, match='violations of 5, and it is 0'):
            solve.solve(miscounted, two_racks())
        seen.append(True)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert seen


def test_a_violation_missed_by_encoding_and_check_is_detected(monkeypatch):
    monkeypatch.setattr(AntiAffinity, 'check', lambda *args: Violations(0))
    monkeypatch.setattr(AntiAffinity, 'encode', lambda *args: None)
    with pytest.raises(BadPlan, match='the check has missed something'):
        solve.solve(APART, two_racks(), objective='fewest-hosts')


def test_a_wrong_objective_value_is_detected(monkeypatch):
    monkeypatch.setattr(FewestHosts, 'value', lambda *args: 3.0)
    with pytest.raises(BadPlan, match='objective of 3.0, and it is 1'):
        solve.solve(group(servers('web')), two_racks(),
                    objective='fewest-hosts')

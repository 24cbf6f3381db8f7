# SPDX-License-Identifier: Apache-2.0
"""Bad plans do not pass the judge that stands behind every test."""

import pytest

from nova_holistic.engine import deciding
from nova_holistic.model.policy import Violations
from nova_holistic.objectives.fewest_hosts import FewestHosts
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver import solve
from nova_holistic.solver.search import Search, Verdict
from tests.judging import BadPlan
from tests.unit.builders import group, servers, two_racks

APART = group(servers('web', 2), policies=[AntiAffinity()])


@pytest.fixture
def careless(monkeypatch):
    """A solver that puts everyone on the first host, and calls it best."""
    class Careless(Search):
        def run(self, *start):
            self.best = tuple(
                {0: len(c.members)} for c in self.case.classes)
            return Verdict.BEST

    monkeypatch.setattr(solve, 'Search', Careless)


@pytest.mark.parametrize('wanted', [
    APART, group(servers('web', 17)), group(servers(
        'web', location=('r2',)))], ids=['policy', 'capacity', 'location'])
def test_what_a_solver_breaks_is_seen(careless, wanted):
    with pytest.raises(BadPlan, match='r1h1'):
        solve.solve(wanted, two_racks())


def test_whoever_asks_the_solver(careless):
    with pytest.raises(BadPlan, match='r1h1'):
        deciding.solve(APART, two_racks())


def test_what_encoding_and_check_both_miss_is_seen(monkeypatch):
    monkeypatch.setattr(AntiAffinity, 'check', lambda *args: Violations(0))
    monkeypatch.setattr(AntiAffinity, 'encode', lambda *args: None)
    with pytest.raises(BadPlan, match='the check has missed something'):
        solve.solve(APART, two_racks(), objective='fewest-hosts')


def test_a_false_number_of_violations_is_seen(monkeypatch):
    monkeypatch.setattr(AntiAffinity, 'check', lambda *args: Violations(5))
    with pytest.raises(BadPlan, match='violations of 5, and it is 0'):
        solve.solve(group(servers('web', 2), policies=[
            AntiAffinity(weight=1)]), two_racks())


def test_a_false_value_is_seen(monkeypatch):
    monkeypatch.setattr(FewestHosts, 'value', lambda *args: 3.0)
    with pytest.raises(BadPlan, match='objective of 3.0, and it is 1'):
        solve.solve(group(servers('web')), two_racks(),
                    objective='fewest-hosts')

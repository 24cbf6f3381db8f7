# SPDX-License-Identifier: Apache-2.0
"""Callers may choose the strategy of the search. Every strategy gives valid
answers."""

import pytest

from nova_holistic.model.plan import Unplaceable
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.settings import Settings, Strategy
from nova_holistic.solver.solve import solve
from tests.unit.builders import group, servers, two_racks
from tests.unit.solver.scenario import plan


def test_the_solver_chooses_the_strategy_by_default():
    assert Settings().strategy is Strategy.AUTO


def test_a_strategy_is_known_by_its_name():
    assert Settings('decomposed') == Settings(Strategy.DECOMPOSED)
    assert Settings('decomposed').strategy is Strategy.DECOMPOSED


@pytest.mark.parametrize('name', ['fastest', '', 'WHOLE', None, 3])
def test_an_unknown_strategy_is_refused_and_the_known_ones_are_named(name):
    with pytest.raises(ValueError) as raised:
        Settings(name)
    assert repr(name) in str(raised.value)
    assert all(each.value in str(raised.value) for each in Strategy)


@pytest.mark.parametrize('strategy', Strategy)
def test_every_strategy_distinguishes_plans_from_unplaceable_groups(strategy):
    apart = [AntiAffinity(level='rack')]
    plan(two_racks(), group(servers('db', 2), policies=apart),
         settings=Settings(strategy))
    assert isinstance(
        solve(group(servers('db', 3), policies=apart), two_racks(),
              settings=Settings(strategy)), Unplaceable)

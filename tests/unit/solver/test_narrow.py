# SPDX-License-Identifier: Apache-2.0
"""Programs of fewer hosts: found by them is good, proved only of all."""

import pytest

from nova_holistic.solver import search
from tests.unit.solver.agreement import is_sound
from tests.unit.solver.test_oracle import OBJECTIVES, random_case


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    """As if every group were too large, and one host a class enough."""
    monkeypatch.setattr(search, 'WHOLE', -1)
    monkeypatch.setattr(search, 'NARROW', 1)
    monkeypatch.setattr(search, '_NARROWEST', 1)


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_widened_until_there_is_a_plan_or_a_proof(objective, monkeypatch):
    monkeypatch.setattr(search, 'RELAXED', -1)
    for seed in range(2000, 2150):
        is_sound(random_case(seed), objective)


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_a_relaxation_never_promises_too_much(objective):
    for seed in range(3000, 3150):
        is_sound(random_case(seed), objective)

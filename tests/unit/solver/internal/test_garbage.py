# SPDX-License-Identifier: Apache-2.0
"""A solve raises the thresholds of the garbage collector for its duration."""

import gc

import pytest

from nova_holistic.objectives.fewest_hosts import FewestHosts
from nova_holistic.solver.garbage import few_collections
from nova_holistic.solver.solve import solve
from tests.unit.builders import group, servers, two_racks


@pytest.fixture(autouse=True)
def default_thresholds():
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_solving_collects_garbage_rarely(monkeypatch):
    seen = []
    value = FewestHosts.value

    def looked_at(self, *arguments):
        seen.append(gc.get_threshold())
        return value(self, *arguments)

    monkeypatch.setattr(FewestHosts, 'value', looked_at)
    solve(group(servers('web', 3)), two_racks(), objective='fewest-hosts')
    assert min(seen) > (700, 10, 10)
    assert gc.get_threshold() == (700, 10, 10)


def test_the_last_thread_restores_the_thresholds():
    first, second = few_collections(), few_collections()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] > 700
    second.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 10, 10)


def test_a_disabled_threshold_stays():
    gc.set_threshold(0, 10, 10)
    with few_collections():
        assert gc.get_threshold() == (0, 10, 10)


def test_an_error_restores_the_thresholds():
    with pytest.raises(ZeroDivisionError), few_collections():
        1 / 0
    assert gc.get_threshold() == (700, 10, 10)

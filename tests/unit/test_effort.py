# SPDX-License-Identifier: Apache-2.0
"""Every run of the suite tries the same random cases."""

import ast
import pathlib

from hypothesis import given, HealthCheck, settings, strategies as st

from tests import effort

TESTS = pathlib.Path(effort.__file__).parent


def cases_of(test):
    """The cases of one run of a random test."""
    tried = []
    test(tried)
    return tried


@given(number=st.integers())
def without_settings(tried, number):
    tried.append(number)


@effort.examples(7)
@given(number=st.integers())
def seven(tried, number):
    tried.append(number)


def test_two_runs_try_the_same_cases():
    tried = cases_of(without_settings)
    assert tried == cases_of(without_settings)
    assert len(set(tried)) > 1
    assert len(tried) == effort.times(100)


def test_a_test_chooses_only_how_many_cases_it_tries():
    tried = cases_of(seven)
    assert tried == cases_of(seven)
    assert len(tried) == effort.times(7)
    chosen = effort.examples(7, HealthCheck.function_scoped_fixture)
    for loaded in settings.default, effort.examples(7), chosen:
        assert (loaded.derandomize, loaded.deadline, loaded.database) == (
            True, None, None)
        assert {HealthCheck.too_slow, HealthCheck.filter_too_much} <= set(
            loaded.suppress_health_check)
    assert (HealthCheck.function_scoped_fixture
            in chosen.suppress_health_check)


def test_a_small_effort_leaves_out_cases(monkeypatch):
    monkeypatch.setattr(effort, 'EFFORT', 0.5)
    assert effort.some('abcde', 2) == ['a', 'c', 'e']
    monkeypatch.setattr(effort, 'EFFORT', 1)
    assert effort.some('abcde', 2) == ['a', 'b', 'c', 'd', 'e']


def test_no_test_module_makes_settings_of_its_own():
    assert [path.name for path in sorted(TESTS.rglob('*.py'))
            if makes_settings(path)] == ['effort.py']


def makes_settings(path):
    """Return whether a module calls hypothesis.settings()."""
    text = path.read_text()
    if 'settings' not in text:
        return False
    called = {node.func for node in ast.walk(ast.parse(text))
              if isinstance(node, ast.Call)}
    return any(getattr(function, 'id', getattr(function, 'attr', None))
               == 'settings' for function in called)

# SPDX-License-Identifier: Apache-2.0
"""Equal questions have equal answers."""

import functools
import json
import os
import pathlib
import subprocess
import sys

import pytest

from nova_holistic.solver.milp.backend import load_backend
from nova_holistic.solver.solve import solve
from tests.effort import some, times
from tests.unit.solver.many_answers import answers, questions, SHAPES
from tests.unit.solver.strategies import seeded

ROOT = pathlib.Path(__file__).parents[3]


@functools.cache
def _first(shape):
    return answers(questions(shape))


@pytest.mark.parametrize('shape', ['small', 'middle'])
def test_two_threads_give_the_same_answers_as_one(shape):
    assert answers(questions(shape), threads=2) == _first(shape)


@pytest.mark.parametrize('shape', ['small', 'middle'])
def test_earlier_calls_on_a_snapshot_do_not_change_answers(shape):
    asked = list(questions(shape))
    assert answers(asked[::-1])[::-1] == _first(shape)


def test_threads_and_earlier_calls_do_not_change_answers_on_a_large_cloud():
    """One test for both, because these answers take long."""
    asked = list(questions('large'))
    assert answers(asked[::-1], threads=2)[::-1] == _first('large')


@pytest.mark.parametrize('seed', some(['1', '0'], 2))
def test_another_hash_seed_does_not_change_answers(seed):
    shown = subprocess.run(
        [sys.executable, '-m', 'tests.unit.solver.many_answers'], cwd=ROOT,
        env={**os.environ, 'PYTHONHASHSEED': seed}, check=True,
        stdout=subprocess.PIPE)
    assert json.loads(shown.stdout) == [_first(shape) for shape in SHAPES]


def test_some_questions_have_plans_and_some_have_none():
    shown = [said for shape in SHAPES for said in _first(shape)]
    for key in ('placements', 'reasons'):
        assert any(f"'{key}': " in said for said in shown)


def test_a_group_is_refused_twice_for_the_same_reasons():
    for seed in range(20_000, 20_000 + times(24)):
        case = seeded(seed)
        group, snapshot = case.read()
        first, second = (
            solve(group, snapshot, placed=case.placed) for _ in range(2))
        assert getattr(first, 'reasons', None) == getattr(
            second, 'reasons', None)


@pytest.mark.parametrize('name', ['highs', 'cbc'])
def test_a_solver_takes_any_number_of_threads(name):
    assert load_backend(name, 2).threads == 2

# SPDX-License-Identifier: Apache-2.0
"""Asked the same again, the solver answers the same."""

import functools
import json
import os
import pathlib
import subprocess
import sys

import pytest

from nova_holistic.solver.backend import load_backend
from nova_holistic.solver.kinds import Kinds
from nova_holistic.solver import large
from tests.unit.solver.many_answers import answers, questions, SHAPES

ROOT = pathlib.Path(__file__).parents[3]


@functools.cache
def _first(shape):
    return answers(questions(shape))


@pytest.mark.parametrize('shape', SHAPES)
def test_with_two_threads_as_with_one(shape):
    assert answers(questions(shape), threads=2) == _first(shape)


@pytest.mark.parametrize('shape', SHAPES)
def test_of_a_snapshot_that_others_were_asked_of_before(shape):
    asked = list(questions(shape))
    assert answers(asked[::-1])[::-1] == _first(shape)
    assert answers(asked) == _first(shape)


@pytest.mark.parametrize('seed', ['0', '1'])
def test_in_a_process_that_hashes_otherwise(seed):
    told = subprocess.run(
        [sys.executable, '-m', 'tests.unit.solver.many_answers'], cwd=ROOT,
        env={**os.environ, 'PYTHONHASHSEED': seed}, check=True,
        stdout=subprocess.PIPE)
    assert json.loads(told.stdout) == [_first(shape) for shape in SHAPES]


def test_the_questions_are_of_the_shapes_they_are_named_for():
    for shape in ('middle', 'large'):
        for wanted, snapshot, placed, _ in questions(shape):
            kinds = Kinds.of(wanted, snapshot, placed)
            places = int((kinds.room > 0).sum())
            assert (places > large.LARGE) is (shape == 'large')
    told = [said for shape in SHAPES for said in _first(shape)]
    for key in ('placements', 'reasons'):
        assert any(f"'{key}': " in said for said in told)


@pytest.mark.parametrize('name', ['highs', 'cbc'])
def test_a_solver_takes_any_number_of_threads(name):
    assert load_backend(name, 2).threads == 2

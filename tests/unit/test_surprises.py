# SPDX-License-Identifier: Apache-2.0
"""The manual's tables of events name tests and options that exist."""

import ast
import functools
import pathlib
import re

import pytest

from nova_holistic.conf import list_opts

ROOT = pathlib.Path(__file__).parents[2]
PAGE = (ROOT / 'doc/source/admin/surprises.rst').read_text()

TEST = re.compile(r'``(tests/[\w/]+\.py)::(\w+)``')
OPTION = re.compile(r'``\[(\w+)\]\s+(\w+)``')
DEFAULT = re.compile(r'\* - ``\[(\w+)\] (\w+)``\n     - (\S+)\n')
ROW = re.compile(r'\n   \* - (?!Event\n|Option\n|``)')


@functools.cache
def _tests(path):
    """The names of the tests in a file."""
    return {node.name for node in ast.parse((ROOT / path).read_text()).body
            if isinstance(node, ast.FunctionDef)}


@functools.cache
def _options():
    """All options of the project by group and name."""
    return {(getattr(group, 'name', group), option.name): option
            for group, options in list_opts() for option in options}


def _rows():
    """The rows of the tables of events, without those about options."""
    text = re.split(r'\n\w.*\n-+\n', PAGE, maxsplit=1)[1]
    return [row.split('\n\n')[0] for row in ROW.split(text)[1:]]


@pytest.mark.parametrize('path, name', sorted(set(TEST.findall(PAGE))),
                         ids='::'.join)
def test_each_named_test_exists(path, name):
    assert name in _tests(path)


def test_each_row_has_a_description_a_duration_and_a_test():
    rows = _rows()
    assert len(rows) == PAGE.count('\n   * - ') - PAGE.count(
        '\n   * - ``') - PAGE.count('* - Event') - PAGE.count('* - Option')
    for row in rows:
        event, happens, time, *tests = re.split(r'\n     - ', row)
        assert all(each.strip() for each in (event, happens, time)), row
        assert tests and TEST.search(tests[0]), event


def test_each_named_option_exists():
    named = set(OPTION.findall(PAGE))
    assert named
    assert named <= _options().keys()


def test_the_defaults_are_those_of_the_options():
    shown = DEFAULT.findall(PAGE)
    assert shown
    for group, name, value in shown:
        assert float(value) == _options()[group, name].default, name

# SPDX-License-Identifier: Apache-2.0
"""Each text on the page on troubleshooting is in the code."""

import ast
import functools
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PAGE = (ROOT / 'doc/source/admin/troubleshooting.rst').read_text()
PLACEHOLDER = re.compile(r'%\(\w+\)[sdr]|%[sdr]|%\.\d+f|\{[^{}]*\}|%%')


def _quotes():
    """The texts in the first columns of the tables of messages."""
    for table in PAGE.split(':class: messages')[1:]:
        body = re.split(r'\n[^ \n]', table)[0]
        for row in re.split(r'\n   \* - ', body)[2:]:
            yield from re.findall(r'``(.+?)``', row.split('\n     - ')[0])


def _text(node):
    """A string of the code with … for inserted values; '' for other nodes."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return PLACEHOLDER.sub(
            lambda found: '%' if found[0] == '%%' else '…', node.value)
    if isinstance(node, ast.JoinedStr):
        return ''.join(_text(part) if isinstance(part, ast.Constant) else '…'
                       for part in node.values)
    return ''


@functools.cache
def _texts():
    return frozenset(
        _text(node) for path in (ROOT / 'nova_holistic').rglob('*.py')
        for node in ast.walk(ast.parse(path.read_text())))


@pytest.mark.parametrize('quote', sorted(set(_quotes())))
def test_the_code_has_the_text(quote):
    wanted = quote.strip('…')
    assert any(wanted in text for text in _texts()), quote


def test_each_row_has_a_cause_and_a_remedy():
    for table in PAGE.split(':class: messages')[1:]:
        body = re.split(r'\n[^ \n]', table)[0]
        for row in re.split(r'\n   \* - ', body)[1:]:
            assert row.count('\n     - ') == 2, row

# SPDX-License-Identifier: Apache-2.0
"""The prose linter finds planted sentences, at their lines, and no others."""

import pathlib

import pytest

from tools.prose import __main__ as prose
from tools.prose import markup, python_text, rules

RULES = rules.read()

MODULE = '''\
"""A module.

It sends ``whatever`` to :doc:`whatever`.

:param whatever: a text
"""
# The engine reads
# whatever it needs.
KEY = 'whatever'
TEXT = f"a text {KEY!r} of " \\
    'whatever'
raise KeyError('the planner takes %(whatever)s, '
               f'{whatever} and what{KEY}ever else')
'''

PAGE = '''\
Page
====

The command takes whatever
fits, as ``whatever`` does::

    $ print whatever

.. code-block:: text

   whatever

Done, whoever runs it.
'''


@pytest.fixture(autouse=True)
def registered():
    rules.register(RULES)


def found(text, names=False):
    return sorted({(each.line, each.rule)
                   for each in rules.lint('text', text, names)})


@pytest.mark.parametrize('rule', RULES, ids=lambda rule: rule.name)
def test_a_planted_sentence_is_found_by_its_rule_only(rule):
    plain = 'This sentence is plain.'
    planted = '\n'.join([plain, rule.bad, plain])
    assert found(planted, rule.names) == [(2, rule.name)]
    assert found(f'{plain}\n{rule.good}\n{plain}', rule.names) == []


def test_names_of_rules_are_unique():
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_a_rule_matches_across_a_line_break():
    assert found('The planner accepts so\nmany groups.') == [(1, 'so-many')]


def test_comments_and_messages_of_a_module_are_read():
    assert found(python_text.prose(MODULE)) == [
        (8, 'whatever'), (11, 'whatever')]


def test_only_docstrings_and_comments_of_a_test_are_read():
    assert found(python_text.prose(MODULE, messages=False)) == [
        (8, 'whatever')]
    module = ('def f():\n    """Whatever it needs."""\n'
              '    g("of whatever kind")')
    assert found(python_text.prose(module, messages=False)) == [
        (2, 'whatever')]


def test_literal_blocks_of_a_page_are_not_read():
    assert found(markup.prose(PAGE)) == [(4, 'whatever'), (13, 'whatever')]


def test_the_command_reports_the_place_and_fails(tmp_path, capsys):
    page = tmp_path / 'page.rst'
    page.write_text('Page\n====\n\nThe members are planned anew.\n')
    assert prose.main([str(tmp_path)]) == 1
    assert f'{page}:4:25: anew: "anew": ' in capsys.readouterr().out


def test_the_command_accepts_plain_text(tmp_path, capsys):
    (tmp_path / 'module.py').write_text('"""Members are planned again."""\n')
    assert prose.main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == ''


def test_names_of_modules_are_read(tmp_path, capsys):
    (tmp_path / 'patience.py').write_text('"""When to retry."""\n')
    assert prose.main([str(tmp_path)]) == 1
    assert 'metaphor-name: "/patience"' in capsys.readouterr().out


def test_names_that_a_module_defines_are_read(tmp_path, capsys):
    (tmp_path / 'module.py').write_text(
        'class Tally:\n    def told_names(self, crowd):\n'
        '        self.verdict = entitled = 1\n')
    assert prose.main([str(tmp_path)]) == 1
    assert [line.split('"')[1].rpartition(': ')[2] for line
            in capsys.readouterr().out.splitlines()] == [
                'tally', 'told-names', 'crowd', 'verdict']


def test_all_texts_of_the_project_are_read():
    read = set(prose.files(prose.PROJECT, []))
    for name in ('README.rst', 'HACKING.rst', 'benchmarks/README.rst',
                 'doc/source/contributor/style.rst',
                 'nova_holistic/conf/engine.py',
                 'tests/unit/tools/test_prose.py'):
        assert prose.PROJECT / name in read
    notes = (prose.PROJECT / 'releasenotes' / 'notes').glob('*.yaml')
    assert set(map(pathlib.Path, notes)) <= read

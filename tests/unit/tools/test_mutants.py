# SPDX-License-Identifier: Apache-2.0
"""The mutation command reports which mutants of a small project survive."""

from dataclasses import dataclass
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from tools.mutants.__main__ import main
from tools.mutants import lists

ROOT = pathlib.Path(__file__).parents[3]

PROGRAM = '''\
def may_enter(age, guests):
    return age >= 18 and guests < 3


def price(age):
    return 5 if age < 6 else 9


def hours():
    return 5 if price(6) else 9
'''
TESTS = {
    'tests/test_door.py': '''\
import door

def test_adults_enter():
    assert door.may_enter(18, 0)
    assert not door.may_enter(17, 0)
''',
    'tests/test_broken.py': '''\
import door

def test_children_are_free():
    assert door.price(3) == 0
''',
    'tests/test_fixture.py': '''\
import pytest
import door

@pytest.fixture
def nine():
    assert door.price(6) == 9

def test_with_fixture(nine):
    pass

@pytest.fixture
def checked():
    yield
    assert door.price(5) == 5

def test_with_check(checked):
    pass
''',
    'tests/test_waiting.py': '''\
import time

def test_that_never_ends():
    time.sleep(600)
'''}


def entry(name, old, new, of='door', **more):
    """An entry of a list, with the tests in one file. JSON is valid YAML."""
    return '- ' + json.dumps({
        'name': name, 'file': 'door.py', 'old': old, 'new': new,
        'tests': [f'tests/test_{of}.py'], **more}) + '\n'


KILLED = entry('Adults are refused.', 'age >= 18', 'age > 18')
SURVIVOR = entry('Any number of guests enters.', 'guests < 3', 'True')
OTHERS = [
    entry('Still any number of guests enters.', 'guests < 3', 'guests < 4'),
    entry('Small children pay 9.', 'age < 6', 'age < 5', 'fixture'),
    entry('Small children pay 7.', '5 if', '7 if', 'fixture', occurrence=1),
    entry('It opens at 7.', '5 if', '7 if', 'fixture', occurrence=2)]
WRONG = {
    'absent': (entry('absent', 'age >= 21', 'age > 21'),
               'its old text is not in door.py'),
    'ambiguous': (entry('ambiguous', '5 if', '7 if'),
                  'is in door.py 2 times; give the occurrence'),
    'too few': (entry('too few', '5 if', '7 if', occurrence=3),
                'is in door.py 2 times, and the occurrence is 3'),
    'no file': (entry('no file', 'a', 'b', file='new.py'),
                'there is no tracked file new.py'),
    'syntax': (entry('syntax', 'guests < 3', 'guests <'),
               'door.py cannot be compiled with it'),
    'import': (entry('import', 'def may_enter', '1 / 0\n\n\ndef may_enter'),
               'pytest ended with exit code 2'),
    'no test': (entry('no test', 'age < 6', 'age < 5', 'missing'),
                'the tests do not pass without it: pytest ended with exit '
                'code 4'),
    'fails before': (entry('fails before', 'age < 6', 'age < 5', 'broken'),
                     'the tests do not pass without it: pytest ended with '
                     'exit code 1: FAILED tests/test_broken.py'),
    'setup': (entry('setup', 'age < 6', 'age < 7', 'fixture'),
              'pytest ended with exit code 1: ERROR tests/test_fixture.py')}


def make(path, *entries):
    """A project that git tracks, with a list of mutants."""
    for name, text in {'door.py': PROGRAM, **TESTS}.items():
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text(text)
    subprocess.run(['git', 'init', '-q', path], check=True)
    subprocess.run(['git', 'add', '.'], cwd=path, check=True)
    write(path, *entries)
    return path


def write(project, *entries):
    lists = project / 'tests/mutants'
    lists.mkdir(exist_ok=True)
    (lists / 'door.yaml').write_text(''.join(entries))


@dataclass(frozen=True)
class Run:
    """The output of the command.

    :ivar code: its exit code
    :ivar rows: status and detail of each mutant by its name
    :ivar last: the last line
    :ivar shown: its standard error
    """

    code: int
    rows: dict
    last: str
    shown: str


def run(project, *arguments):
    # No plug-in is needed, and each of them takes time.
    done = subprocess.run(
        [sys.executable, '-m', 'tools.mutants', '--project', str(project),
         *arguments], cwd=ROOT, text=True, capture_output=True,
        env={**os.environ, 'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1'})
    assert (project / 'door.py').read_text() == PROGRAM
    *lines, last = done.stdout.splitlines() or ['']
    rows = {}
    for line, below in itertools.pairwise([*lines, '']):
        if '  door.py  ' in line or '  new.py ' in line:
            status, _, name = re.split('  +', line)
            detail = below.strip() if below.startswith(' ') else ''
            rows[name] = status, detail
    return Run(done.returncode, rows, last, done.stderr)


@pytest.fixture(scope='module')
def everything(tmp_path_factory):
    """One run with all mutants, two at a time."""
    project = make(tmp_path_factory.mktemp('door'), KILLED, SURVIVOR, *OTHERS,
                   *[wrong for wrong, _ in WRONG.values()])
    return run(project, '--jobs', '2')


@pytest.fixture
def project(tmp_path):
    return make(tmp_path, KILLED, SURVIVOR)


def test_the_sum_counts_every_mutant_once(everything):
    assert everything.last == f'3 killed, 3 survived, {len(WRONG)} errors'
    assert len(everything.rows) == 6 + len(WRONG)
    assert everything.code == 1


def test_a_mutant_that_a_test_notices_is_killed_by_it(everything):
    assert everything.rows['Adults are refused.'] == (
        'killed', 'by tests.test_door::test_adults_enter')


def test_mutants_that_no_test_notices_survive(everything):
    assert everything.rows['Any number of guests enters.'] == ('survived', '')
    # It does not affect the mutant of the other job either.
    assert everything.rows['Still any number of guests enters.'] == (
        'survived', '')


@pytest.mark.parametrize('name', WRONG)
def test_a_mutant_that_cannot_be_checked_is_an_error(everything, name):
    status, detail = everything.rows[name]
    assert status == 'error'
    assert WRONG[name][1] in detail


def test_a_check_of_a_fixture_after_a_test_kills_a_mutant(everything):
    assert everything.rows['Small children pay 9.'] == (
        'killed', 'by tests.test_fixture::test_with_check')


def test_the_occurrence_determines_the_replaced_text(everything):
    assert everything.rows['Small children pay 7.'][0] == 'killed'
    assert everything.rows['It opens at 7.'][0] == 'survived'


def test_each_set_of_tests_runs_once_without_a_mutant(everything):
    assert everything.shown.count('without a mutant, ') == len(
        {'door', 'fixture', 'missing', 'broken'})


def test_tests_that_take_longer_than_the_timeout_are_an_error(project):
    write(project, entry('any', 'age < 6', 'age < 5', 'waiting'))
    done = run(project, '--timeout', '2')
    assert done.rows['any'] == (
        'error', 'the tests do not pass without it: pytest took longer than '
        'the timeout')


def test_the_command_succeeds_if_all_chosen_mutants_are_killed(project):
    done = run(project, 'refused')
    assert (done.code, done.last) == (0, '1 killed, 0 survived, 0 errors')


def test_words_select_mutants_by_list_name_or_file(project, capsys):
    def listed(*words):
        assert main(['--project', str(project), '--list', *words]) == 0
        return [line for line in capsys.readouterr().out.splitlines()
                if line.startswith('door: ')]

    assert listed() == listed('door') == listed('door.py') == [
        'door: Adults are refused.', 'door: Any number of guests enters.']
    assert listed('guests') == ['door: Any number of guests enters.']
    assert main(['--project', str(project), 'window']) == 2
    assert 'no mutant matches window' in capsys.readouterr().err


@pytest.mark.parametrize('wrong, why', [
    ('- 5\n', 'door.yaml: entry 2: it must be a mapping'),
    (entry('x', 'a', 'b', test='y'), "entry 2: unknown key 'test'"),
    (entry('x', 'a', 5), 'entry 2: new must be text'),
    (entry('x', 'a', 'a'), 'entry 2: old must differ from new'),
    (entry('x', 'a', 'b', occurrence=0), 'entry 2: occurrence must be'),
    (entry('x', 'a', 'b', environment='moon'), 'entry 2: environment must'),
    (entry('x', 'a', 'b', tests=[]), 'entry 2: tests must be a list'),
    (KILLED, "two mutants are named 'Adults are refused.'"),
    ('- {', 'door.yaml: while parsing')])
def test_a_list_that_is_wrong_is_reported(project, capsys, wrong, why):
    write(project, KILLED, wrong)
    assert main(['--project', str(project)]) == 2
    captured = capsys.readouterr()
    assert why in captured.err
    assert captured.out == ''


def test_every_mutant_of_the_project_applies_to_its_file():
    for mutant in lists.read(ROOT / 'tests' / 'mutants'):
        before = (ROOT / mutant.file).read_text(encoding='utf-8')
        assert mutant.apply(before) != before

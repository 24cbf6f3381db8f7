# SPDX-License-Identifier: Apache-2.0
"""The crash points of the code, and the scan for writes without a crash point
between them."""

import ast
from collections import Counter
import pathlib
import signal
import subprocess
import sys

import pytest

import nova_holistic
from nova_holistic.crash_points import POINTS, VARIABLE
from tests.unit.durable_calls import Flow, Gap

ROOT = pathlib.Path(nova_holistic.__file__).parent
MANUAL = ROOT.parent / 'doc/source/contributor/architecture.rst'

WRITERS = ('engine/**/*.py', 'reconcile/*.py', 'repair/*.py',
           'scheduler/**/*.py', 'service/*.py', 'api/handlers/*.py',
           'boot/*.py')
"""Modules that write to the table and to Placement."""


def _used():
    """The number of occurrences of each crash point in the code."""
    return Counter(
        ast.literal_eval(node.args[0])
        for path in ROOT.rglob('*.py')
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == 'crash_points.reached')


def _run(program, setting=None):
    environment = {'PYTHONPATH': str(ROOT.parent)}
    if setting is not None:
        environment[VARIABLE] = setting
    return subprocess.run(
        [sys.executable, '-c',
         'from nova_holistic.crash_points import reached\n' + program],
        env=environment, capture_output=True, text=True, check=False)


def test_the_code_has_each_registered_point_and_no_other():
    assert _used().keys() == POINTS.keys()


def test_the_manual_lists_each_point():
    manual = ' '.join(MANUAL.read_text().split())
    for name, sentence in POINTS.items():
        assert f'``{name}``' in manual, name
        assert sentence.endswith('.'), name


@pytest.mark.parametrize('path', sorted(
    path for pattern in WRITERS for path in ROOT.glob(pattern)),
    ids=lambda path: str(path.relative_to(ROOT)))
def test_there_is_a_point_between_every_two_writes(path):
    gaps = Flow(path.name, path.read_text()).check()
    assert not gaps, ', '.join(sorted(map(str, gaps)))


@pytest.mark.parametrize('source, lines', [
    ('table.settle()\ntable.release()', [3]),
    ('table.settle()\nreached("x")\ntable.release()', []),
    ('if table.update_group():\n    table.settle()', [3]),
    ('if not table.update_group():\n    table.settle()', []),
    ('if a:\n    holds.put()\nelse:\n    holds.drop()', []),
    ('if a:\n    holds.put()\nholds.drop()', [4]),
    ('for a in b:\n    holds.put()', [3]),
    ('for a in b:\n    holds.put()\n    reached("x")', []),
    ('try:\n    holds.put()\nexcept Gone:\n    table.release()', []),
    ('try:\n    holds.put()\n    f()\nexcept Gone:\n    table.release()', [6]),
    ('table.settle()\nreturn\ntable.release()', []),
    ('write()\ntable.settle()', [3]),
    ('self.write()\nreached("x")\nself.write()', []),
    ('table.members()\ntable.release()', []),
    ('table.settle()\nreturn lambda: table.release()', []),
])
def test_the_scan_finds_two_writes_without_a_point(source, lines):
    body = source.replace('\n', '\n    ')
    found = Flow('m', f'def scanned():\n    {body}\n\n'
                      'def write():\n    holds.put()\n').check()
    assert found == {Gap('m', line) for line in lines}


def test_a_process_is_killed_at_the_nth_time():
    done = _run('for number in range(9):\n'
                '    print(number, flush=True)\n'
                '    reached("change.written")\n'
                '    reached("change.held")', 'change.held:3')
    assert done.returncode == -signal.SIGKILL
    assert done.stdout.split() == ['0', '1', '2']
    assert done.stderr == ''


@pytest.mark.parametrize('setting', [None, '', 'change.written'])
def test_a_process_continues_at_points_that_are_not_armed(setting):
    done = _run('reached("change.held")', setting)
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')


@pytest.mark.parametrize('setting, complaint', [
    ('change.eaten', "there is no crash point 'change.eaten'"),
    ('change.held:0', "'0' is not a positive number"),
    ('change.held:', "'' is not a positive number"),
    ('change.held:²', "'²' is not a positive number"),
])
def test_a_wrong_setting_ends_the_process_with_one_line(setting, complaint):
    done = _run('print("goes on")', setting)
    assert done.returncode == 1
    assert done.stdout == ''
    assert done.stderr == f'{VARIABLE}: {complaint}\n'

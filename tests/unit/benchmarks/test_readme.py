# SPDX-License-Identifier: Apache-2.0
"""``benchmarks/README.rst`` describes each program, with valid commands."""

import pathlib
import re
import shlex

import pytest

BENCHMARKS = pathlib.Path(__file__).parents[3] / 'benchmarks'
README = (BENCHMARKS / 'README.rst').read_text()
MODULES = {path.name: path.read_text() for path in BENCHMARKS.glob('*.py')}
PROGRAMS = {name for name, text in MODULES.items()
            if "if __name__ == '__main__'" in text}
SECTIONS, STARTED_BY_OTHERS = README.split(
    '\nPrograms that other programs start\n')
TITLES = re.findall(r'^(\w+\.py): .+\n-{4,}$', SECTIONS, re.MULTILINE)
BLOCKS = re.findall(r'^   \$ (.*(?:(?<=\\)\n.*)*)', README, re.MULTILINE)
FIELDS = re.findall(r'^:Command: ``([^`]+)``', README, re.MULTILINE)
COMMANDS = [shlex.split(' '.join(text.replace('\\\n', ' ').split()))
            for text in [*BLOCKS, *FIELDS]]


def _readable(name):
    """The text of a program and of the benchmarks that it imports."""
    imported = re.findall(r'^(?:from|import) (?:benchmarks(?: import |\.))?'
                          r'(\w+)', MODULES[name], re.MULTILINE)
    return MODULES[name] + ''.join(
        MODULES.get(f'{module}.py', '') for module in imported)


def test_each_program_has_one_section_or_is_started_by_another_one():
    assert len(TITLES) == len(set(TITLES))
    started = {name for name in PROGRAMS if f'``{name}``' in STARTED_BY_OTHERS
               and name not in TITLES}
    assert set(TITLES) | started == PROGRAMS


def test_each_section_has_a_command_of_its_program():
    assert {command[1] for command in COMMANDS} == {
        f'benchmarks/{name}' for name in TITLES}


@pytest.mark.parametrize('command', COMMANDS, ids=' '.join)
def test_a_command_has_only_options_of_its_program(command):
    python, program, *words = command
    assert python == 'python'
    text = _readable(program.removeprefix('benchmarks/'))
    for word in words:
        if word.startswith('--') and word not in (
                '--mariadb', '--postgresql'):
            assert f"'{word}'" in text

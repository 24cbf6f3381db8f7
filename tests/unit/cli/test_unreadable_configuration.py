# SPDX-License-Identifier: Apache-2.0
"""Programs whose configuration cannot be read: one line, no traceback."""

import subprocess
import sys

import pytest

PROGRAMS = {
    'engine': ([], 2),
    'manage': (['db', 'version'], 2),
    'scheduler': ([], 2),
    'status': (['upgrade', 'check'], 255),
}
"""The words after the configuration, and the exit code."""


def _folder(folder):
    return str(folder), str(folder)


def _empty_string(folder):
    # oslo.config treats it as the current folder.
    return '', str(folder)


def _not_utf_8(folder):
    file = folder / 'latin-1.conf'
    file.write_bytes('[DEFAULT]\nhost = é\n'.encode('latin-1'))
    return str(file), str(file)


def _too_long(folder):
    file = folder / ('a' * 300)
    return str(file), str(file)


@pytest.fixture
def run(programs, tmp_path):
    """A function that runs a program until it ends. Nova reads the files
    while nova-holistic-scheduler imports it, so this program is not a fork of
    a process that has imported it."""
    def run(program, *words):
        if program != 'scheduler':
            return programs.run(program, words, tmp_path)
        return subprocess.run(
            [sys.executable, '-c', 'import sys; from nova_holistic.cli import '
             'programs; sys.exit(programs.scheduler())', *words],
            cwd=tmp_path, capture_output=True, text=True, timeout=300)
    return run


@pytest.mark.parametrize('given', [
    _folder, _empty_string, _not_utf_8, _too_long])
@pytest.mark.parametrize('program', PROGRAMS)
def test_an_unreadable_file_is_named_in_one_line(
        run, program, given, tmp_path):
    value, file = given(tmp_path)
    words, code = PROGRAMS[program]
    done = run(program, '--config-file', value, *words)
    assert (done.returncode, done.stdout) == (code, '')
    line, end = done.stderr.split('\n')
    assert line.startswith(f'nova-holistic-{program}: ')
    assert file in line
    assert end == ''

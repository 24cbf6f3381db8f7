# SPDX-License-Identifier: Apache-2.0
"""Environments of tox use the compiled modules of each other."""

import os
import py_compile
import subprocess
import sys

import pytest

from tools.bytecode import share


@pytest.fixture
def cache(tmp_path):
    """The package of a cache whose files uv links to all environments."""
    folder = tmp_path / 'cache'
    folder.mkdir()
    (folder / '__init__.py').write_text('')
    (folder / 'answer.py').write_text('VALUE = 42\n')
    return folder


def installed(cache, name):
    """Return a folder with the package."""
    packages = cache.with_name(name)
    (packages / 'package').mkdir(parents=True)
    for file in cache.iterdir():
        (packages / 'package' / file.name).hardlink_to(file)
    return packages


def compiled(packages):
    return sorted(file.name.partition('.')[0]
                  for file in packages.rglob('*.pyc'))


def compile_module(packages, name='answer'):
    return py_compile.compile(str(packages / 'package' / f'{name}.py'))


def test_a_compiled_module_is_imported_without_another_compilation(cache):
    first, second = installed(cache, 'first'), installed(cache, 'second')
    compile_module(first)
    assert share(second, first) == 1
    assert compiled(second) == ['answer']
    shown = subprocess.run(
        [sys.executable, '-v', '-c',
         'from package import answer; print(answer.VALUE, answer.__file__)'],
        cwd=second, capture_output=True, text=True, check=True)
    assert shown.stdout == f'42 {second}/package/answer.py\n'
    (line,) = (line for line in shown.stderr.splitlines()
               if f'{second}/package' in line and 'matches' in line)
    assert f'{second}/package/__pycache__/answer.' in line
    # Nothing is left for a repeated call.
    assert share(second, first) == 0


def test_a_module_of_another_version_is_not_shared(cache):
    first, second = installed(cache, 'first'), installed(cache, 'second')
    compile_module(first)
    compile_module(first, '__init__')
    (second / 'package/answer.py').unlink()
    (second / 'package/answer.py').write_text('VALUE = 43\n')
    assert share(second, first) == 1
    assert compiled(second) == ['__init__']


def test_own_compiled_modules_remain(cache):
    first, second = installed(cache, 'first'), installed(cache, 'second')
    compile_module(first)
    own = compile_module(second)
    before = os.stat(own).st_ino
    assert share(second, first) == 0
    assert os.stat(own).st_ino == before


def test_packages_of_another_environment_only_are_ignored(cache):
    first = installed(cache, 'first')
    compile_module(first)
    second = cache.with_name('second')
    second.mkdir()
    assert share(second, first) == 0
    assert not list(second.iterdir())

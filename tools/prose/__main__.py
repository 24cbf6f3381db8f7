# SPDX-License-Identifier: Apache-2.0
"""``python -m tools.prose``: check the language of the project."""

import argparse
from collections.abc import Iterable, Iterator, Sequence
import pathlib
import sys

from tools.prose import definitions, markup, python_text, rules

PROJECT = pathlib.Path(__file__).parents[2]

TEXTS = ('*.rst', 'doc/source/**/*.rst', 'benchmarks/*.rst', 'devstack/*.rst',
         'releasenotes/notes/*.yaml', 'nova_holistic/**/*.py',
         'tests/**/*.py')
"""Files that are checked if no file is named."""

MODULES = ('nova_holistic', 'tests', 'tools', 'benchmarks')
"""Folders of the modules whose names are checked if no file is named."""


def files(project: pathlib.Path,
          paths: Sequence[pathlib.Path]) -> Iterator[pathlib.Path]:
    """Generate the named files, the texts in named folders, or all texts."""
    for path in paths:
        if path.is_dir():
            yield from (each for pattern in ('*.rst', '*.yaml', '*.py')
                        for each in sorted(path.rglob(pattern)))
        else:
            yield path
    if not paths:
        for pattern in TEXTS:
            yield from sorted(project.glob(pattern))


def prose(path: pathlib.Path) -> str:
    """Return the text of a file that people read. Strings of a test are not
    part of it, because they are often quotations."""
    text = path.read_text(encoding='utf-8')
    if path.suffix != '.py':
        return markup.prose(text)
    return python_text.prose(text, messages=not path.resolve().is_relative_to(
        PROJECT / 'tests'))


def findings(paths: Iterable[pathlib.Path],
             project: pathlib.Path) -> Iterator[rules.Finding]:
    """Generate all parts of these files that break a rule."""
    for path in paths:
        yield from rules.lint(_shown(path, project), prose(path))


def names(paths: Iterable[pathlib.Path],
          project: pathlib.Path) -> Iterator[rules.Finding]:
    """Generate the names of these modules, and names that they define, that
    break a rule."""
    lines = []
    for path in paths:
        name = _shown(path, project)
        lines.append(name)
        lines += (f'{name}:{line}: {words}' for line, words
                  in definitions.names(path.read_text(encoding='utf-8')))
    yield from rules.lint('names', '\n'.join(lines), names=True)


def modules(project: pathlib.Path,
            paths: Sequence[pathlib.Path]) -> Iterator[pathlib.Path]:
    """Return the modules among the named files, or all modules."""
    if paths:
        return (path for path in files(project, paths)
                if path.suffix == '.py')
    return (path for folder in MODULES
            for path in sorted((project / folder).rglob('*.py')))


def _shown(path: pathlib.Path, project: pathlib.Path) -> str:
    path = path.resolve()
    return (str(path.relative_to(project)) if path.is_relative_to(project)
            else str(path))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog='python -m tools.prose',
        description='Check the language of the manual, the release notes, '
                    'docstrings, comments and messages, and of the '
                    'docstrings and comments of tests, with the rules of '
                    'tools/prose/rules.toml.',
        epilog='Exit code: 0, no rule is broken; 1, a rule is broken.')
    parser.add_argument('paths', nargs='*', type=pathlib.Path, metavar='PATH',
                        help='file or folder to check (default: all texts of '
                             'the project)')
    args = parser.parse_args(argv)
    rules.register(rules.read())
    mistakes = [*findings(files(PROJECT, args.paths), PROJECT),
                *names(modules(PROJECT, args.paths), PROJECT)]
    for each in mistakes:
        print(each)
    if mistakes:
        print(f'{len(mistakes)} findings; the page contributor/style of the '
              f'manual explains the rules', file=sys.stderr)
    return 1 if mistakes else 0


if __name__ == '__main__':
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Lists of mutants, read from YAML files."""

from collections.abc import Mapping, Sequence
import pathlib
from typing import Any

import yaml

from tools.mutants.mutant import Mutant

ENVIRONMENTS = ('unit', 'functional', 'services')
_TEXTS = ('name', 'file', 'old', 'new')
_KNOWN = {*_TEXTS, 'tests', 'occurrence', 'environment'}


class BadList(Exception):
    """A list cannot be read. The message names the wrong entry."""


def read(directory: pathlib.Path) -> Sequence[Mutant]:
    """Return the mutants of all lists in a directory, in the order of the file
    names.

    :raises BadList: there is no list, an entry is wrong, or two mutants have
        the same name
    """
    mutants: dict[str, Mutant] = {}
    for path in sorted(directory.glob('*.yaml')):
        for number, entry in enumerate(_entries(path), 1):
            mutant = _mutant(entry, path, f'{path}: entry {number}')
            if mutant.name in mutants:
                raise BadList(f'{path}: two mutants are named {mutant.name!r}')
            mutants[mutant.name] = mutant
    if not mutants:
        raise BadList(f'{directory}: there is no list of mutants')
    return list(mutants.values())


def _entries(path: pathlib.Path) -> Sequence[Any]:
    try:
        entries = yaml.safe_load(path.read_text(encoding='utf-8'))
    except yaml.YAMLError as error:
        raise BadList(f'{path}: {error}') from error
    if not isinstance(entries, list):
        raise BadList(f'{path}: it must contain a list')
    return entries


def _mutant(entry: Any, path: pathlib.Path, place: str) -> Mutant:
    if not isinstance(entry, dict):
        raise BadList(f'{place}: it must be a mapping')
    unknown = sorted(str(key) for key in entry if key not in _KNOWN)
    if unknown:
        raise BadList(f'{place}: unknown key {unknown[0]!r}')
    for key in _TEXTS:
        if not isinstance(entry.get(key), str):
            raise BadList(f'{place}: {key} must be text')
    wrong = _wrong(entry)
    if wrong:
        raise BadList(f'{place}: {wrong}')
    return Mutant(path.stem, **{**entry, 'tests': tuple(entry['tests'])})


def _wrong(entry: Mapping[str, Any]) -> str | None:
    """Return the error in the values of an entry, or None. The entry has all
    texts."""
    tests, occurrence = entry.get('tests'), entry.get('occurrence', 1)
    if not entry['old'] or entry['old'] == entry['new']:
        return 'old must differ from new, and not be empty'
    if not tests or not isinstance(tests, list) or not all(
            isinstance(test, str) for test in tests):
        return 'tests must be a list of files or node ids'
    if not isinstance(occurrence, int) or occurrence < 1:
        return 'occurrence must be a number, at least 1'
    if entry.get('environment', ENVIRONMENTS[0]) not in ENVIRONMENTS:
        return f'environment must be one of {", ".join(ENVIRONMENTS)}'
    return None

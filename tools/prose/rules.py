# SPDX-License-Identifier: Apache-2.0
"""The rules of ``rules.toml`` as checks of proselint."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
import pathlib
import re
import tomllib

from proselint.config import Config
from proselint.registry import CheckRegistry
from proselint.registry.checks import Check, CheckFlags, engine, types
from proselint.tools import LintFile, LintResult

FILE = pathlib.Path(__file__).with_name('rules.toml')

BREAK = '§'
"""Replaces code between two texts. No rule matches across it."""

_END = rf'(?=\s*(?:[.,;:?!){BREAK}]|\Z|\n\s*\n))'
_CODE = re.compile(rf'\s*{BREAK}[{BREAK}\s]*')
_TEXT = 'prose'
_NAMES = 'names'


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the file."""

    name: str
    message: str
    pattern: str
    bad: str
    good: str
    names: bool = False

    @property
    def check(self) -> Check:
        pattern = self.pattern.replace('<end>', _END).replace(' ', r'\s+')
        return Check(
            check_type=types.ExistenceSimple(pattern), engine=engine.Fancy(),
            path=f'{_NAMES if self.names else _TEXT}.{self.name}',
            message=self.message, flags=CheckFlags(allow_quotes=True))


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A part of a text that breaks a rule."""

    source: str
    line: int
    column: int
    rule: str
    message: str
    found: str

    def __str__(self) -> str:
        return (f'{self.source}:{self.line}:{self.column}: {self.rule}: '
                f'"{self.found}": {self.message}')


def read(file: pathlib.Path = FILE) -> Sequence[Rule]:
    entries = tomllib.loads(file.read_text(encoding='utf-8'))['rule']
    return [Rule(**entry) for entry in entries]


def register(rules: Iterable[Rule]) -> None:
    """Register these rules, and no others, with proselint."""
    registry = CheckRegistry()
    registry.checks.clear()
    registry.register_many(tuple(rule.check for rule in rules))


def lint(source: str, text: str, names: bool = False) -> list[Finding]:
    """Return the findings of the registered rules.

    :param source: name of the source in the findings
    :param names: whether the text consists of names
    """
    if not text.strip():
        return []
    config = Config(
        max_errors=100_000, checks={_NAMES if names else _TEXT: True})
    # Most of a module is code. With one break for each part of the code, the
    # text breaks the same rules, at other positions.
    if not LintFile(source, _CODE.sub(f'{BREAK}\n', text)).lint(config):
        return []
    checked = LintFile(source, text)
    return [_finding(source, checked, result)
            for result in checked.lint(config)]


def _finding(source: str, checked: LintFile, result: LintResult) -> Finding:
    line, column = result.pos
    result = result.check_result
    return Finding(
        source, line, column, result.check_path.partition('.')[2],
        result.message, ' '.join(checked.content[slice(*result.span)].split()))

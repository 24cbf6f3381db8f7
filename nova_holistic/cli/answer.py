# SPDX-License-Identifier: Apache-2.0
"""An answer of the solver on standard output, for people or for programs."""

from collections.abc import Callable, Mapping
import io
import json
from typing import TextIO

from rich.console import Console
import yaml

from nova_holistic.cli import tables
from nova_holistic.documents.plan import to_document
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.model.snapshot import Snapshot

Answer = Plan | Unplaceable | Unknown
_WIDE = 10_000
_LITERAL = {'highlight': False, 'markup': False, 'emoji': False}


def as_json(answer: Answer, group: Group, snapshot: Snapshot,
            stdout: TextIO) -> None:
    json.dump(to_document(answer, group.name), stdout, indent=2)
    stdout.write('\n')


def as_yaml(answer: Answer, group: Group, snapshot: Snapshot,
            stdout: TextIO) -> None:
    yaml.safe_dump(to_document(answer, group.name), stdout, sort_keys=False)


def as_table(answer: Answer, group: Group, snapshot: Snapshot,
             stdout: TextIO) -> None:
    """Tables as wide as the terminal; elsewhere neither cut nor coloured."""
    console = Console(file=stdout, **_LITERAL)
    if console.is_terminal:
        _tell(console, answer, group, snapshot)
        return
    plain = Console(file=io.StringIO(), width=_WIDE, color_system=None,
                    **_LITERAL)
    _tell(plain, answer, group, snapshot)
    for line in plain.file.getvalue().splitlines():
        stdout.write(line.rstrip() + '\n')


def _tell(console: Console, answer: Answer, group: Group,
          snapshot: Snapshot) -> None:
    if isinstance(answer, Plan):
        tables.plan(console, answer, group, snapshot)
    elif isinstance(answer, Unplaceable):
        tables.unplaceable(console, answer, group)
    else:
        tables.unknown(console, answer, group)


FORMATS: Mapping[str, Callable[[Answer, Group, Snapshot, TextIO], None]] = {
    'table': as_table, 'json': as_json, 'yaml': as_yaml}

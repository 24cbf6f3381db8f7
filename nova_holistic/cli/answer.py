# SPDX-License-Identifier: Apache-2.0
"""An answer of the solver on standard output, for people or for programs."""

from collections.abc import Callable, Mapping, Sequence
import io
import json
from typing import Any, TextIO

from rich.console import Console
import yaml

from nova_holistic.cli import explanation, tables
from nova_holistic.documents.plan import to_document
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.model.snapshot import Snapshot
from nova_holistic.solver.diagnosis.explain import Explanation

Answer = Plan | Unplaceable | Unknown
Explained = Sequence[Explanation] | None
"""Why members are where they are, if that was asked for."""

_WIDE = 10_000
_LITERAL = {'highlight': False, 'markup': False, 'emoji': False}


def as_json(answer: Answer, group: Group, snapshot: Snapshot,
            stdout: TextIO, explained: Explained = None) -> None:
    json.dump(_document(answer, group, explained), stdout, indent=2)
    stdout.write('\n')


def as_yaml(answer: Answer, group: Group, snapshot: Snapshot,
            stdout: TextIO, explained: Explained = None) -> None:
    yaml.safe_dump(_document(answer, group, explained), stdout,
                   sort_keys=False)


def as_table(answer: Answer, group: Group, snapshot: Snapshot,
             stdout: TextIO, explained: Explained = None) -> None:
    """Tables as wide as the terminal; elsewhere neither cut nor coloured."""
    console = Console(file=stdout, **_LITERAL)
    if console.is_terminal:
        _tell(console, answer, group, snapshot, explained)
        return
    plain = Console(file=io.StringIO(), width=_WIDE, color_system=None,
                    **_LITERAL)
    _tell(plain, answer, group, snapshot, explained)
    for line in plain.file.getvalue().splitlines():
        stdout.write(line.rstrip() + '\n')


def _document(answer: Answer, group: Group,
              explained: Explained) -> dict[str, Any]:
    document = to_document(answer, group.name)
    if explained is not None:
        document['explain'] = explanation.to_documents(explained)
    return document


def _tell(console: Console, answer: Answer, group: Group,
          snapshot: Snapshot, explained: Explained) -> None:
    if isinstance(answer, Plan):
        tables.plan(console, answer, group, snapshot)
        if explained is not None:
            tables.lines(console, explanation.lines(
                explained, group.name, len(answer.placements)))
    elif isinstance(answer, Unplaceable):
        tables.unplaceable(console, answer, group)
    else:
        tables.unknown(console, answer, group)


FORMATS: Mapping[str, Callable[..., None]] = {
    'table': as_table, 'json': as_json, 'yaml': as_yaml}

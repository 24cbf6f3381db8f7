# SPDX-License-Identifier: Apache-2.0
"""Print a solver's answer, for people or for programs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import io
import json
from typing import Any, TextIO

from rich.console import Console
import yaml

from nova_holistic.cli.output import answer_tables, explanation
from nova_holistic.documents.plan import to_document
from nova_holistic.documents.relaxations import (
    headroom_line, headroom_to_document, relaxation_lines,
    relaxations_to_document)
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.model.relaxations import Headroom, Relaxations
from nova_holistic.solver.diagnosis.explain import Explanation

Answer = Plan | Unplaceable | Unknown


@dataclass(frozen=True, slots=True)
class Extras:
    """What the user requested in addition to the plan; None if not requested.

    :ivar explained: why members are on their hosts
    :ivar relaxations: the changes that make the group fit
    :ivar headroom: how many copies of the group fit
    """

    explained: Sequence[Explanation] | None = None
    relaxations: Relaxations | None = None
    headroom: Headroom | None = None

    def documents(self) -> dict[str, Any]:
        """Further keys of the plan document."""
        return {
            **({} if self.explained is None else {
                'explain': explanation.to_documents(self.explained)}),
            **({} if self.relaxations is None else {
                'relaxations': relaxations_to_document(self.relaxations)}),
            **({} if self.headroom is None else {
                'headroom': headroom_to_document(self.headroom)})}


NONE = Extras()

_WIDE = 10_000
_LITERAL = {'highlight': False, 'markup': False, 'emoji': False}


def as_json(answer: Answer, group: Group, snapshot: Snapshot,
            stdout: TextIO, extras: Extras = NONE) -> None:
    """Write the plan, or the reasons, as JSON."""
    json.dump(_document(answer, group, extras), stdout, indent=2)
    stdout.write('\n')


def as_yaml(answer: Answer, group: Group, snapshot: Snapshot,
            stdout: TextIO, extras: Extras = NONE) -> None:
    """Write the plan, or the reasons, as YAML."""
    yaml.safe_dump(_document(answer, group, extras), stdout,
                   sort_keys=False)


def as_table(answer: Answer, group: Group, snapshot: Snapshot,
             stdout: TextIO, extras: Extras = NONE) -> None:
    """Tables as wide as the terminal; in other outputs, neither truncated nor
    coloured."""
    console = Console(file=stdout, **_LITERAL)
    if console.is_terminal:
        _print(console, answer, group, snapshot, extras)
        return
    plain = Console(file=io.StringIO(), width=_WIDE, color_system=None,
                    **_LITERAL)
    _print(plain, answer, group, snapshot, extras)
    for line in plain.file.getvalue().splitlines():
        stdout.write(line.rstrip() + '\n')


def _document(answer: Answer, group: Group,
              extras: Extras) -> dict[str, Any]:
    return {**to_document(answer, group.name, group), **extras.documents()}


def _print(console: Console, answer: Answer, group: Group,
           snapshot: Snapshot, extras: Extras) -> None:
    if isinstance(answer, Plan):
        answer_tables.plan(console, answer, group, snapshot)
        if extras.explained is not None:
            answer_tables.lines(console, explanation.lines(
                extras.explained, group.name, len(answer.placements)))
    elif isinstance(answer, Unplaceable):
        answer_tables.unplaceable(console, answer, group)
    else:
        answer_tables.unknown(console, answer, group)
    document = extras.documents()
    if 'relaxations' in document:
        answer_tables.lines(console, relaxation_lines(document['relaxations']))
    if 'headroom' in document:
        answer_tables.lines(console, [headroom_line(document['headroom'])])


FORMATS: Mapping[str, Callable[..., None]] = {
    'table': as_table, 'json': as_json, 'yaml': as_yaml}

# SPDX-License-Identifier: Apache-2.0
"""The directive ``prose-rules``: a table of the rules of the prose linter."""

from collections.abc import Iterator, Mapping
import pathlib
import tomllib
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

RULES = (pathlib.Path(__file__).parents[2] / 'tools' / 'prose'
         / 'rules.toml')


def table(rules: list[Mapping[str, str]]) -> Iterator[str]:
    """The lines of a list-table with a row for each rule."""
    yield from ('.. list-table::', '   :header-rows: 1',
                '   :widths: 14 28 29 29', '')
    rows = [('Rule', 'What to write', 'Instead of', 'For example')]
    rows.extend((f'``{rule["name"]}``', rule['message'],
                 f'``{rule["bad"]}``', f'``{rule["good"]}``')
                for rule in rules)
    for row in rows:
        for number, cell in enumerate(row):
            yield f'   {"-" if number else "* -"} {cell}'.replace(
                '   - ', '     - ')


class ProseRules(Directive):
    """Lists every rule of ``tools/prose/rules.toml``."""

    def run(self) -> list[nodes.Node]:
        self.state.document.settings.env.note_dependency(str(RULES))
        rules = tomllib.loads(RULES.read_text(encoding='utf-8'))['rule']
        container = nodes.container()
        self.state.nested_parse(
            StringList(list(table(rules)), source=str(RULES)),
            self.content_offset, container)
        return container.children


def setup(app) -> Mapping[str, Any]:
    app.add_directive('prose-rules', ProseRules)
    return {'version': '1', 'parallel_read_safe': True}

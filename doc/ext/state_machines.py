# SPDX-License-Identifier: Apache-2.0
"""The directive ``state-machine``: a drawing and a table of the transitions
in ``nova_holistic.table.states``."""

from collections.abc import Mapping
import pathlib
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from state_drawing import drawing, MACHINES, table


class StateMachine(Directive):
    """Draws the machine that its argument names."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        environment = self.state.document.settings.env
        folder = pathlib.Path(environment.app.srcdir) / '_static'
        folder.mkdir(exist_ok=True)
        file = folder / f'states-of-{name}.svg'
        file.write_text(drawing(MACHINES[name]))
        container = nodes.container()
        lines = [f'.. image:: /_static/{file.name}',
                 f'   :alt: The transitions of {name}; the table lists them.',
                 '', *table(MACHINES[name])]
        self.state.nested_parse(
            StringList(lines, source=__file__), self.content_offset,
            container)
        return [container]


def setup(app) -> Mapping[str, Any]:
    app.add_directive('state-machine', StateMachine)
    return {'version': '1', 'parallel_read_safe': True}

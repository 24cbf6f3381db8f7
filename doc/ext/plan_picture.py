# SPDX-License-Identifier: Apache-2.0
"""The directive ``plan-picture``: a group document, and its plan as a picture.

The build plans the document with the commands that the manual shows, and it
fails if there is no plan.
"""

from collections.abc import Mapping
import contextlib
import hashlib
import pathlib
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from docutils.statemachine import StringList

from nova_holistic.cli import main

ROOT = pathlib.Path(__file__).parents[2]
INVENTORY = 'examples/two-zones.yaml'


class PlanPicture(Directive):
    """The content is a group document; ``group`` names a file instead.

    The argument is the caption of the picture. Paths are relative to the
    directory of the project.
    """

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = {
        'alt': directives.unchanged_required,
        'group': directives.path,
        'inventory': directives.path,
        'objective': directives.unchanged,
        'hide-document': directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        given = self.options.get('group')
        text = ('\n'.join(self.content) if given is None
                else (ROOT / given).read_text()) + '\n'
        inventory = ROOT / self.options.get('inventory', INVENTORY)
        environment = self.state.document.settings.env
        for path in [inventory] + ([ROOT / given] if given else []):
            environment.note_dependency(str(path))
        folder = pathlib.Path(environment.app.srcdir) / '_static' / 'plans'
        picture = draw(text, inventory, folder, self.options.get('objective'))
        lines = ['']
        if 'hide-document' not in self.options:
            lines += ['.. code-block:: yaml', '',
                      *(f'   {line}' for line in text.splitlines()), '']
        lines += [f'.. figure:: /_static/plans/{picture.name}',
                  '   :class: plan',
                  f'   :alt: {self.options["alt"]}', '',
                  f'   {self.arguments[0]}']
        container = nodes.container()
        self.state.nested_parse(
            StringList(lines, source=__file__), self.content_offset,
            container)
        return container.children


def draw(text: str, inventory: pathlib.Path, folder: pathlib.Path,
         objective: str | None = None) -> pathlib.Path:
    """Plan the group document and draw the plan into a file of the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(
        f'{text}{inventory.read_text()}{objective}'.encode()).hexdigest()[:16]
    picture = folder / f'{name}.svg'
    if picture.exists():
        return picture
    group, plan = folder / f'{name}.yaml', folder / f'{name}.json'
    group.write_text(text)
    with plan.open('w') as file, contextlib.redirect_stdout(file):
        _run('plan', str(group), '--inventory', str(inventory), '--format',
             'json', '--objective', objective or 'spread')
    _run('map', str(plan), '--inventory', str(inventory),
         '--group', str(group), '-o', str(picture))
    return picture


def _run(*arguments: str) -> None:
    code = main.main(arguments)
    if code:
        raise RuntimeError(f'nova-holistic {arguments[0]} exits with {code}')


def setup(app) -> Mapping[str, Any]:
    app.add_directive('plan-picture', PlanPicture)
    return {'version': '2', 'parallel_read_safe': True}

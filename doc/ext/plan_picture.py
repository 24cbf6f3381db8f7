# SPDX-License-Identifier: Apache-2.0
"""The picture in the user guide: drawn by the commands it is shown with."""

from collections.abc import Mapping
import contextlib
import pathlib
from typing import Any

from nova_holistic.cli import main

_EXAMPLES = pathlib.Path(__file__).parents[2] / 'examples'
GROUP = _EXAMPLES / 'shop.yaml'
INVENTORY = _EXAMPLES / 'two-zones.yaml'


def draw(app) -> None:
    """Write ``_static/shop.svg`` of the source folder."""
    folder = pathlib.Path(app.srcdir) / '_static'
    folder.mkdir(exist_ok=True)
    plan = folder / 'shop.json'
    with plan.open('w') as file, contextlib.redirect_stdout(file):
        _run('plan', str(GROUP), '--inventory', str(INVENTORY),
             '--format', 'json')
    _run('map', str(plan), '--inventory', str(INVENTORY),
         '--group', str(GROUP), '-o', str(folder / 'shop.svg'))


def _run(*arguments: str) -> None:
    code = main.main(arguments)
    if code:
        raise RuntimeError(f'nova-holistic {arguments[0]} exits with {code}')


def setup(app) -> Mapping[str, Any]:
    app.connect('builder-inited', draw)
    return {'version': '1', 'parallel_read_safe': True}

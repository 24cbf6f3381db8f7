# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic demo``: a group on a real Nova, in one process."""

import importlib.util
from pathlib import Path

from cliff.command import Command

from nova_holistic.cli import exits
from nova_holistic import exceptions
from nova_holistic.garbage_collection import few_collections

NEEDED = (
    'nova', 'placement', 'fixtures', 'testtools', 'oslotest', 'requests_mock',
    'wsgi_intercept')
"""Modules that the extra ``embedded`` brings."""
NEW_OBJECTS = 50_000
"""Number of new objects between two garbage collections. With Python's default
of 700, the collector takes a twelfth of the processor time of the demo:
it examines the objects of Nova's modules again and again."""


class Demo(Command):
    """Place a group on a nearly full cloud: a real Nova in this process.

    Exit code: 0 if all checks of the demo pass, 1 if not, 2 if the demo cannot
    run here.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--output', metavar='DIR', type=Path, default=Path(),
            help='folder for the map, nova-holistic-demo.html and .svg '
                 '(default: the current one)')
        return parser

    def take_action(self, parsed_args) -> int:
        require_extra()
        require_folder(parsed_args.output)
        with few_collections(NEW_OBJECTS):
            # Imported here because it makes a process of green threads out of
            # this process.
            from nova_holistic.embedded.demo import demo_run
            from rich.console import Console
            console = Console(file=self.app.stdout, highlight=False)
            policies_hold = demo_run.run_demo(console, parsed_args.output)
        return exits.GOOD if policies_hold else exits.BROKEN


def require_extra() -> None:
    """:raises HolisticError: the extra ``embedded`` is not installed"""
    missing = [name for name in NEEDED
               if importlib.util.find_spec(name) is None]
    if missing:
        raise exceptions.HolisticError(
            f'demo: {", ".join(missing)} not installed; '
            f"pip install 'nova_holistic[api,embedded,engine]'")


def require_folder(path: Path) -> None:
    """:raises HolisticError: the folder does not exist"""
    if not path.is_dir():
        raise exceptions.HolisticError(f'--output {path}: the folder does not '
                                       'exist')

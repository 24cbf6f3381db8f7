# SPDX-License-Identifier: Apache-2.0
"""The statements of the demo, each with its result."""

from collections.abc import Collection

from rich.console import Console
from rich.markup import escape

_SHOWN = 5


class Expectations:
    """Prints each statement on the console, and records whether it is true.

    :ivar all_true: whether all statements were true so far
    """

    def __init__(self, console: Console):
        self.console = console
        self.all_true = True

    def expect(self, text: str, objections: Collection[str] = ()) -> None:
        """Print a statement with its result.

        :param objections: why the statement is false; empty if it is true
        """
        if not objections:
            self.console.print(f'[green]✓[/] {text}')
            return
        self.all_true = False
        self.console.print(f'[red]✗ {text}[/]')
        for objection in list(objections)[:_SHOWN]:
            self.console.print(f'  [red]{escape(objection)}[/]')
        if len(objections) > _SHOWN:
            self.console.print(f'  and {len(objections) - _SHOWN} more')

# SPDX-License-Identifier: Apache-2.0
"""The progress of a boot: a bar on a terminal, otherwise a line for each
server."""

from collections.abc import Callable, Iterator
import contextlib
import sys
import threading

from rich.console import Console
from rich.progress import (
    BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn)

from nova_holistic.client.osc.progress import description
from nova_holistic.picture.text_fitting import printable

_ENDS = ('active', 'failed')
_SHOWN = ('creating', 'building', 'deleting', 'failed')


class BootProgress:
    """Threads may report to one instance.

    :param progress: the bar; disabled if no terminal shows it
    """

    def __init__(self, name: str, progress: Progress):
        self._name = name
        self._progress = progress
        self._lock = threading.Lock()
        self._states: dict[str, str] = {}
        self._number = 0
        self._row = progress.add_task(name, total=None)

    def begin(self, number: int) -> Callable[[str, str], None]:
        """
        :param number: of servers
        """
        self._number = number
        self._progress.update(self._row, total=number)
        return self.report

    def report(self, member: str, state: str) -> None:
        """A member has a new state."""
        with self._lock:
            self._states[member] = state
            states = list(self._states.values())
            active = states.count('active')
            self._progress.update(
                self._row, completed=active,
                description=f'{self._name}: {_counts(states)}'.rstrip(': '))
            if self._progress.disable and state in _ENDS:
                print(f'{self._name}: {member}: {state} ({active} of '
                      f'{self._number} active)', file=sys.stderr, flush=True)


@contextlib.contextmanager
def shown(name: str) -> Iterator[BootProgress]:
    """
    :param name: of the group
    """
    console = Console(file=sys.stderr)
    with Progress(description(), BarColumn(), MofNCompleteColumn(),
                  TimeElapsedColumn(), console=console, transient=True,
                  disable=not console.is_terminal) as progress:
        yield BootProgress(printable(name), progress)


def _counts(states: list[str]) -> str:
    return ', '.join(f'{states.count(state)} {state}' for state in _SHOWN
                     if state in states)

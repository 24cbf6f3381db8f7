# SPDX-License-Identifier: Apache-2.0
"""``--wait``: a progress bar on a terminal until an engine has finished."""

import argparse
from collections.abc import Callable, Iterator
import contextlib
import sys
from typing import Any

from osc_lib import exceptions
from rich.console import Console
from rich.progress import (
    BarColumn, Progress, TextColumn, TimeElapsedColumn)

from nova_holistic.client import errors
from nova_holistic.picture.text_fitting import printable

TIMEOUT = 600
LONGEST = 999_999
"""Default and longest time in seconds to wait."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--wait', action='store_true',
        help='Wait until the planning succeeds or fails')
    add_timeout(parser)


def add_timeout(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--timeout', metavar='<seconds>', type=_seconds, default=TIMEOUT,
        help=f'Maximum time in seconds to wait (default: {TIMEOUT})')


def description() -> TextColumn:
    """The column with the text of a bar, shown literally: a name may contain
    brackets, which are otherwise read as markup."""
    return TextColumn('{task.description}', markup=False)


@contextlib.contextmanager
def bar(title: str) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A progress bar on standard error, if that is a terminal; call it with
    each answer."""
    console = Console(file=sys.stderr)
    title = printable(title)
    with Progress(description(), BarColumn(), TimeElapsedColumn(),
                  console=console, transient=True,
                  disable=not console.is_terminal) as progress:
        # The time that a plan takes is not known, so the bar shows progress
        # only while holds are written.
        row = progress.add_task(title, total=None)

        def show(body: dict[str, Any]) -> None:
            written, members = _holds(body)
            progress.update(
                row, description=f'{title}: {_doing(body)}',
                completed=written, total=members or None)

        yield show


@contextlib.contextmanager
def timeout_as_error(name: str) -> Iterator[None]:
    """A timeout is a failure of the command, not of the request.

    :param name: the awaited object, by its id
    """
    try:
        yield
    except errors.TimedOut as error:
        raise exceptions.CommandError(
            f'{name} is {error}; planning continues, show it again '
            'later') from error


def _doing(body: dict[str, Any]) -> str:
    """The current activity for a group or a plan."""
    doing = body.get('task') or body.get('status') or ''
    written, members = _holds(body)
    return (f'{doing}, {written} of {members} holds written' if members
            else doing)


def _holds(body: dict[str, Any]) -> tuple[int, int]:
    """How many holds of a group are written, and how many it needs: both are
    0 unless holds are being written."""
    written = body.get('holds_written')
    members = body.get('members')
    if written is None or not members:
        return 0, 0
    return written, sum(members.values())


def _seconds(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= LONGEST:
        raise argparse.ArgumentTypeError(
            f'{text!r} is not a whole number of seconds from 1 to {LONGEST}')
    return int(text)

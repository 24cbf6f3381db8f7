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

TIMEOUT = 600


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--wait', action='store_true',
        help='Wait until the planning succeeds or fails')
    add_timeout(parser)


def add_timeout(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--timeout', metavar='<seconds>', type=_seconds, default=TIMEOUT,
        help=f'Maximum time in seconds to wait (default: {TIMEOUT})')


@contextlib.contextmanager
def bar(what: str) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A progress bar on standard error, if that is a terminal; call it with
    each answer."""
    console = Console(file=sys.stderr)
    with Progress(TextColumn('{task.description}'), BarColumn(),
                  TimeElapsedColumn(), console=console, transient=True,
                  disable=not console.is_terminal) as progress:
        # The time that a plan takes is not known, so the bar shows progress
        # only while holds are written.
        row = progress.add_task(what, total=None)

        def show(found: dict[str, Any]) -> None:
            written, members = _holds(found)
            progress.update(
                row, description=f'{what}: {_doing(found)}',
                completed=written, total=members or None)

        yield show


@contextlib.contextmanager
def timeout_as_error(what: str) -> Iterator[None]:
    """A timeout is a failure of the command, not of the request.

    :param what: the awaited object, by its id
    """
    try:
        yield
    except errors.TimedOut as error:
        raise exceptions.CommandError(
            f'{what} is {error}; planning continues, show it again '
            'later') from error


def _doing(found: dict[str, Any]) -> str:
    """The current activity for a group or a plan."""
    doing = found.get('task') or found.get('status') or ''
    written, members = _holds(found)
    return (f'{doing}, {written} of {members} holds written' if members
            else doing)


def _holds(found: dict[str, Any]) -> tuple[int, int]:
    """How many holds of a group are written, and how many it needs: both are
    0 unless holds are being written."""
    written = found.get('holds_written')
    members = found.get('members')
    if written is None or not members:
        return 0, 0
    return written, sum(members.values())


def _seconds(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 10 ** 6:
        raise argparse.ArgumentTypeError(
            f'{text!r} is not a number of seconds')
    return int(text)

# SPDX-License-Identifier: Apache-2.0
"""The definition of a command of ``nova-holistic-manage``, and its answer."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nova_holistic.cli import exits
from nova_holistic.cli.output import group_tables


@dataclass(frozen=True, slots=True)
class CommandResult:
    """An answer for standard output, and the exit code of the command.

    :ivar error: why the answer is incomplete, for standard error
    """

    text: str
    code: int = exits.GOOD
    error: str = ''


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add the option of commands whose answer is a table or JSON."""
    parser.add_argument(
        '--format', default='table', choices=group_tables.FORMATS,
        help='format of the answer (default: %(default)s)')


def _no_arguments(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


@dataclass(frozen=True, slots=True)
class Command:
    """
    :ivar run: takes the configuration, with the arguments in its ``command``;
        its docstring is the help
    :ivar arguments: adds them to the command's parser
    :ivar any_schema: whether it may run on a database whose schema is not
        current
    """

    run: Callable[[Any], CommandResult]
    arguments: Callable[[argparse.ArgumentParser], None] = _no_arguments
    any_schema: bool = False

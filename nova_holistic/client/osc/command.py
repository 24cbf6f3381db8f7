# SPDX-License-Identifier: Apache-2.0
"""The common part of all commands of the plugin."""

import argparse
from collections.abc import Iterator
import contextlib
from typing import Any

from osc_lib import exceptions as osc_exceptions

from nova_holistic.cli import exits, files
from nova_holistic.client.client import Client
from nova_holistic.client.errors import Refused
from nova_holistic import exceptions

UNPLACED = ('unplaceable', 'error', 'unknown')
"""Statuses with which a command that waited fails."""


_OF_INPUT = (400, 404)
"""HTTP statuses of the API for requests that the user must correct."""


class BadInput(osc_exceptions.CommandError):
    """The user must correct the arguments or a file."""


class HolisticCommand:
    """Mixed into osc_lib's commands.

    Report an error of the API or a file in one line. The exit code is 2 for
    bad input, and 1 for all other errors.
    """

    def client(self) -> Client:
        return self.app.client_manager.holistic

    def run(self, parsed_args: argparse.Namespace) -> int:
        try:
            with _errors_reported():
                return super().run(parsed_args)
        except BadInput as error:
            # The exit code of cliff is 1 for all exceptions.
            self.app.LOG.error(error, exc_info=self.app.options.debug)
            return exits.BAD_INPUT

    def group(self, name_or_id: str) -> dict[str, Any]:
        """The group with its definition.

        :raises BadInput: there is no such group, or more than one
        """
        try:
            return self.client().groups.find(name_or_id)
        except LookupError as error:
            raise BadInput(str(error)) from error


def is_bad_input(error: Exception) -> bool:
    """Whether the user must correct the arguments or a file.

    Only the API's own responses count: the response of a proxy has no code.
    """
    if isinstance(error, Refused):
        return error.status in _OF_INPUT and bool(error.code)
    return isinstance(error, (BadInput, exceptions.InvalidDocument,
                              files.BadFile))


@contextlib.contextmanager
def _errors_reported() -> Iterator[None]:
    try:
        yield
    except exceptions.HolisticError as error:
        kind = BadInput if is_bad_input(error) else osc_exceptions.CommandError
        raise kind(str(error)) from error

# SPDX-License-Identifier: Apache-2.0
"""The common part of all commands of the plugin."""

import argparse
from collections.abc import Iterator
import contextlib
from typing import Any

from osc_lib import exceptions as osc_exceptions

from nova_holistic.client.client import Client
from nova_holistic import exceptions

UNPLACED = ('unplaceable', 'error', 'unknown')
"""Statuses with which a command that waited fails."""


class HolisticCommand:
    """Mixed into osc_lib's commands.

    Report an error of the API or a file in one line.
    """

    def client(self) -> Client:
        return self.app.client_manager.holistic

    def run(self, parsed_args: argparse.Namespace) -> int:
        with _errors_reported():
            return super().run(parsed_args)

    def group(self, name_or_id: str) -> dict[str, Any]:
        """The group with its definition."""
        try:
            return self.client().groups.find(name_or_id)
        except LookupError as error:
            raise osc_exceptions.CommandError(str(error)) from error


@contextlib.contextmanager
def _errors_reported() -> Iterator[None]:
    try:
        yield
    except exceptions.HolisticError as error:
        raise osc_exceptions.CommandError(str(error)) from error

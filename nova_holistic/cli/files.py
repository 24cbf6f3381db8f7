# SPDX-License-Identifier: Apache-2.0
"""Files named on the command line; ``-`` is standard input.

Every error names the file, and the place in it where there is one.
"""

from collections.abc import Iterator, Mapping
import contextlib
from typing import Any, TextIO

from nova_holistic.documents.definition import read_definition
from nova_holistic.documents.inventory import parse_inventory
from nova_holistic.documents.plan import parse_plan
from nova_holistic.documents.text import MAX_LENGTH, load
from nova_holistic import exceptions
from nova_holistic.model.binding import bind
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.model.snapshot import Snapshot
from nova_holistic.policies import load_policy_types

_STDIN = '-'


class BadFile(exceptions.HolisticError):
    """A file cannot be read, written or accepted."""

    def __init__(self, name: str, message: object):
        told = 'standard input' if name == _STDIN else name or "''"
        super().__init__(f'{told}: {message}')


@contextlib.contextmanager
def blaming(name: str) -> Iterator[None]:
    """What is wrong with a document is told as wrong in this file."""
    try:
        yield
    except exceptions.InvalidDocument as error:
        raise BadFile(name, error) from error
    except OSError as error:
        raise BadFile(name, error.strerror or error) from error


class Files:
    """Documents by file name; standard input at most once."""

    def __init__(self, stdin: TextIO | None):
        self._stdin = stdin

    def document(self, name: str) -> Any:
        with blaming(name):
            return load(self._read(name))

    def group(self, name: str, parameters: Mapping[str, str]) -> Group:
        """
        :param parameters: values for a Heat template
        """
        document = self.document(name)
        with blaming(name):
            return read_definition(document, load_policy_types(), parameters)

    def bound(self, name: str, group: Group, snapshot: Snapshot) -> Group:
        """The group with its flavors, images and levels resolved.

        :param name: of the file that the group was read from
        """
        with blaming(name):
            return bind(group, snapshot)

    def inventory(self, name: str) -> Snapshot:
        with blaming(name):
            return parse_inventory(load(self._read(name)))

    def plan(self, name: str) -> Plan:
        """A plan with placements.

        :raises BadFile: also where the file tells that there are none
        """
        with blaming(name):
            answer = parse_plan(load(self._read(name)))
        if isinstance(answer, Unplaceable | Unknown):
            raise BadFile(name, 'status: the group was not planned, so '
                                'there are no placements')
        return answer

    def _read(self, name: str) -> bytes:
        # One byte more than is accepted, so that too much is noticed.
        if name != _STDIN:
            with open(name, 'rb') as file:
                return file.read(MAX_LENGTH + 1)
        if self._stdin is None:
            raise exceptions.InvalidDocument('', 'closed, or read already')
        stdin, self._stdin = self._stdin, None
        return stdin.buffer.read(MAX_LENGTH + 1)


def write(name: str, content: bytes) -> None:
    with blaming(name), open(name, 'wb') as file:
        file.write(content)

# SPDX-License-Identifier: Apache-2.0
"""Files named on the command line; ``-`` is standard input.

Every error names the file, and the position in it if known.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
import contextlib
from typing import Any, TextIO

from nova_holistic.cli.heat_templates.environments import (
    complete, kinds_of_parameters, read_environment, TemplateInputs)
from nova_holistic.cli.heat_templates.folder import Folder
from nova_holistic.cli.heat_templates.merged_environments import (
    MergedEnvironments)
from nova_holistic.documents.definition import read_definition
from nova_holistic.documents.groups.adoption import must_not_adopt
from nova_holistic.documents.hot.type_registry import is_template_file
from nova_holistic.documents.inventories.inventory import parse_inventory
from nova_holistic.documents.plan import parse_plan
from nova_holistic.documents.source.positions import source_positions
from nova_holistic.documents.source.text import load
from nova_holistic import exceptions
from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.elastic.unused_groups import has_unused, with_replicas
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.model.storage_pools import snapshot_for
from nova_holistic.policies import load_policy_types

_STDIN = '-'


class BadFile(exceptions.HolisticError):
    """A file cannot be read, written or accepted: one line per mistake."""

    def __init__(self, name: str, *mistakes: object):
        source = 'standard input' if name == _STDIN else name or "''"
        super().__init__('\n'.join(
            f'{source}: {mistake}' for mistake in mistakes))


def _without_text(place: str) -> tuple[bytes, str]:
    return b'', place


@contextlib.contextmanager
def with_file_name(name: str, find_source: Callable[
        [str], tuple[bytes, str]] = _without_text) -> Iterator[None]:
    """Report the mistakes of a document with the name of this file.

    :param find_source: returns the text with a place, and the place in this
        text, to find the lines of mistakes
    """
    try:
        yield
    except exceptions.InvalidDocument as error:
        raise BadFile(name, *_lines(error, find_source)) from error
    except OSError as error:
        raise BadFile(name, error.strerror or error) from error


def _lines(error: exceptions.InvalidDocument,
           find_source: Callable[[str], tuple[bytes, str]]) -> Iterator[str]:
    sources = {mistake.place: find_source(mistake.place)
               for mistake in error.mistakes}
    positions = {}
    for text in {text for text, _ in sources.values()}:
        inside = {place: inner for place, (source, inner) in sources.items()
                  if source == text}
        found = source_positions(text, inside.values())
        positions.update({place: found[inner] for place, inner
                          in inside.items() if inner in found})
    for mistake in error.mistakes:
        if mistake.place in positions:
            line, column = positions[mistake.place]
            yield f'{mistake} (line {line}, column {column})'
        else:
            yield str(mistake)


class Files:
    """Documents by file name; standard input at most once."""

    def __init__(self, stdin: TextIO | None):
        self._stdin = stdin
        self._texts: dict[str, bytes] = {}
        self._folder = Folder(self._document)

    def with_file_name(self, name: str) -> contextlib.AbstractContextManager:
        """Report the mistakes of a document with the name of this file, and
        with their lines in this file or in a nested template."""
        return with_file_name(
            name, lambda place: self._source(name, place))

    def _source(self, name: str, place: str) -> tuple[bytes, str]:
        """The text of the file with the place, and the place in this file: a
        place in a nested template begins with the name of its file, and that
        of the whole template is this name."""
        while True:
            nested, separator, inner = place.partition(': ')
            located = (self._folder.locate(nested, name)
                       if separator or is_template_file(nested) else None)
            if located not in self._texts:
                return self._texts.get(name, b''), place
            name, place = located, inner

    def document(self, name: str) -> Any:
        with with_file_name(name):
            return self._document(name)

    def _document(self, name: str, may_be_empty: bool = False) -> Any:
        """
        :param may_be_empty: whether an empty document is an empty mapping
        :raises OSError: the file cannot be read
        :raises InvalidDocument: it is not a document
        """
        text = self._read(name)
        # A mistake in the syntax contains its line.
        self._texts[name] = b''
        document = load(text, trusted=True)
        self._texts[name] = text
        if document is None and may_be_empty:
            return {}
        if document is None:
            raise exceptions.InvalidDocument('', 'the document is empty')
        return document

    def group(self, name: str, parameters: Mapping[str, str],
              environments: Sequence[str] = ()) -> Group:
        """
        :param parameters: values for a Heat template
        :param environments: files for a Heat template
        """
        document = self.document(name)
        inputs = self.template_inputs(
            name, document, parameters, environments)
        with self.with_file_name(name):
            must_not_adopt(document)
            return read_definition(document, load_policy_types(),
                                   inputs.parameters, inputs.source)

    def template_inputs(self, name: str, template: Any,
                        parameters: Mapping[str, str],
                        environments: Sequence[str]) -> TemplateInputs:
        """The parameters and files that complete a Heat template.

        :param name: of its file
        :param template: the document in this file
        """
        merged = MergedEnvironments(kinds_of_parameters(template))
        for environment in environments:
            with with_file_name(environment):
                # As in Heat, an environment may be empty.
                document = self._document(environment, may_be_empty=True)
            with self.with_file_name(environment):
                merged.add(read_environment(environment, document))
        return complete(self._folder, name, parameters, merged)

    def bound(self, name: str, group: Group, snapshot: Snapshot) -> Group:
        """The group with its flavors, images and levels resolved.

        :param name: of the file that the group was read from
        """
        with self.with_file_name(name):
            return bind(group, snapshot, suggest=True)

    def must_be_known(self, name: str, group: Group,
                      snapshot: Snapshot) -> None:
        """Check the flavors, images, volume types and levels of nested groups
        without a replica, as a create does.

        :param name: of the file that the group was read from
        """
        if has_unused(group):
            whole = with_replicas(group)
            self.bound(name, whole, snapshot_for(whole, snapshot))

    def inventory(self, name: str) -> Snapshot:
        document = self.document(name)
        with self.with_file_name(name):
            return parse_inventory(document)

    def plan(self, name: str) -> Plan:
        """A plan with placements.

        :raises BadFile: also if the file states that the group has no
            placements
        """
        document = self.document(name)
        with self.with_file_name(name):
            answer = parse_plan(document)
        if isinstance(answer, Unplaceable | Unknown):
            raise BadFile(name, 'status: the group was not planned, so the '
                                'file has no placements')
        return answer

    def _read(self, name: str) -> bytes:
        if name != _STDIN:
            with open(name, 'rb') as file:
                return file.read()
        if self._stdin is None:
            raise exceptions.InvalidDocument('', 'closed, or already read')
        stdin, self._stdin = self._stdin, None
        return stdin.buffer.read()


def write(name: str, content: bytes) -> None:
    with with_file_name(name), open(name, 'wb') as file:
        file.write(content)

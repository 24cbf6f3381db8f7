# SPDX-License-Identifier: Apache-2.0
"""A template with groups becomes the group document that says the same."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nova_holistic.documents.hot.document_writer import DocumentWriter
from nova_holistic.documents.hot.functions import Resolver
from nova_holistic.documents.hot.group_entries import read_entries
from nova_holistic.documents.hot.membership import Membership
from nova_holistic.documents.hot.parameters import Parameters, STACK_NAME
from nova_holistic.documents.hot.resources import Resources
from nova_holistic.documents.hot.source_places import SourcePlaces
from nova_holistic.documents.hot.template_shape import readable_template
from nova_holistic.exceptions import InvalidDocument, Mistakes

_NAME = 'stack'
"""Of the top-level group, where no name of the stack is given."""
_MAX_VALUES = 500_000


@dataclass(frozen=True, slots=True)
class Conversion:
    """
    :ivar document: a group document
    :ivar places: of that document, with those of the template
    :ivar pointers: of each server resource, the path that its servers give as
        ``holistic_member``, with the index variable where they have one
    :ivar mistakes: of the template; if there are any, the document contains
        only the other parts
    """

    document: dict[str, Any]
    places: SourcePlaces
    pointers: Mapping[str, str]
    mistakes: Mistakes


def convert(template: Any, given: Mapping[str, str]) -> Conversion:
    """
    :param given: values of parameters, as text
    :raises InvalidDocument: nothing of the template can be read
    """
    mistakes = Mistakes()
    template = readable_template(template, mistakes)
    resolver = Resolver(Parameters(
        template.get('parameters', {}), given, mistakes), mistakes)
    resources = Resources(template['resources'], resolver)
    servers = resources.servers()
    if not any(server.asked for server in servers.values()):
        mistakes.add(InvalidDocument(
            'resources', 'there are no servers to place'))
    entries = ()
    with mistakes.collected():
        entries = read_entries(template.get('groups'), resolver)
    writer = DocumentWriter(resources, servers, Membership(
        entries, template['resources'], servers, mistakes), mistakes)
    document = writer.top(given.get(STACK_NAME, _NAME), entries)
    _bound(document)
    return Conversion(document, writer.places, writer.pointers, mistakes)


def _bound(document: dict[str, Any]) -> None:
    """A list as the value of a parameter counts for each use of the
    parameter."""
    open_, values = [document], 0
    while open_:
        value = open_.pop()
        values += 1
        if values > _MAX_VALUES:
            raise InvalidDocument(
                '', f'makes a group of more than {_MAX_VALUES} values')
        if isinstance(value, dict):
            open_ += value.values()
        elif isinstance(value, list):
            open_ += value

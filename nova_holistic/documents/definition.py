# SPDX-License-Identifier: Apache-2.0
"""A definition is a group document, or a Heat template with groups."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.hot.conversion import Conversion, convert
from nova_holistic.documents.hot.split import nested_templates, plain_template
from nova_holistic.documents.hot.template_files import TemplateSource
from nova_holistic.documents.hot.template_shape import (
    is_template, NO_VERSION)
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.group import Group
from nova_holistic.model.policy_types import PolicyTypes

_Document = dict[str, Any]


__all__ = ('is_template', 'parsed', 'read_definition', 'split_definition',
           'split_template', 'Split')


@dataclass(frozen=True, slots=True)
class Split:
    """
    :ivar group: a group document
    :ivar template: the plain template, whose servers point at the group
    :ivar nested: plain nested templates, by the unique names of their files
    """

    group: _Document
    template: _Document
    nested: Mapping[str, _Document]


def read_definition(document: Any, policy_types: PolicyTypes,
                    parameters: Mapping[str, str] | None = None,
                    source: TemplateSource | None = None) -> Group:
    """Read a group document or a template.

    :param parameters: values of a template's parameters, as text
    :param source: the source of a template and its files
    :raises InvalidDocument: with all mistakes, with their positions in the
        given document
    """
    if not is_template(document):
        if parameters:
            raise InvalidDocument(
                '', 'parameters are for Heat templates, and this has no '
                'heat_template_version')
        if isinstance(document, dict) and 'resources' in document \
                and 'members' not in document:
            raise InvalidDocument(
                '', 'heat_template_version is missing: a document with '
                'resources is a Heat template, which must have it')
        return parse_group(document, policy_types)
    return parsed(convert(document, parameters or {}, source), policy_types)


def split_definition(template: Any, policy_types: PolicyTypes,
                     parameters: Mapping[str, str] | None = None,
                     source: TemplateSource | None = None,
                     ) -> tuple[_Document, _Document]:
    """A group document, and the plain template of servers that point at it.

    The arguments and errors are those of ``split_template``.
    """
    found = split_template(template, policy_types, parameters, source)
    return found.group, found.template


def split_template(template: Any, policy_types: PolicyTypes,
                   parameters: Mapping[str, str] | None = None,
                   source: TemplateSource | None = None,
                   names: Callable[[str], str] = str) -> Split:
    """The group document and all plain templates.

    :param parameters: values of the template's parameters, as text
    :param source: the source of the template and its files
    :param names: the name of the plain form of a nested template, by the
        unique name of its file
    :raises InvalidDocument: with all mistakes and their positions in the
        template
    """
    if not is_template(template):
        raise InvalidDocument('', NO_VERSION)
    conversion = convert(template, parameters or {}, source)
    parsed(conversion, policy_types)
    return Split(conversion.document, plain_template(conversion, names),
                 nested_templates(conversion, names))


def parsed(conversion: Conversion, policy_types: PolicyTypes) -> Group:
    """The group of a template, with the positions of its parts in the
    template.

    :raises InvalidDocument: with all mistakes and their positions in the
        template
    """
    mistakes = conversion.mistakes
    try:
        with conversion.places.errors_at_origin():
            group = parse_group(
                conversion.document, policy_types, bool(mistakes))
    except InvalidDocument as found:
        # A part with a known mistake was left out of the document.
        for each in found.mistakes:
            if mistakes.at(each.place) is None:
                mistakes.add(each)
    mistakes.must_be_none()
    return conversion.places.moved(group)

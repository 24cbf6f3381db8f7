# SPDX-License-Identifier: Apache-2.0
"""A definition is a group document, or a Heat template that says as much."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.documents.group import parse_group
from nova_holistic.documents.hot.conversion import Conversion, convert
from nova_holistic.documents.hot.split import plain_template
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.group import Group
from nova_holistic.model.policy_types import PolicyTypes

_Document = dict[str, Any]
_VERSION = 'heat_template_version'


def is_template(document: Any) -> bool:
    return isinstance(document, dict) and _VERSION in document


def read_definition(document: Any, policy_types: PolicyTypes,
                    parameters: Mapping[str, str] | None = None) -> Group:
    """Read whichever of the two it is.

    :param parameters: values of a template's parameters, as text
    :raises InvalidDocument: with all mistakes, at their places in the
        document that was given
    """
    if not is_template(document):
        if parameters:
            raise InvalidDocument(
                '', 'parameters are for Heat templates, and this has no '
                f'{_VERSION}')
        return parse_group(document, policy_types)
    return _parsed(convert(document, parameters or {}), policy_types)


def split_definition(template: Any, policy_types: PolicyTypes,
                     parameters: Mapping[str, str] | None = None,
                     ) -> tuple[_Document, _Document]:
    """A group document, and the plain template of servers that point at it.

    :param parameters: values of the template's parameters, as text
    :raises InvalidDocument: with all mistakes, at their places in the template
    """
    if not is_template(template):
        raise InvalidDocument(
            '', f'is not a Heat template: it has no {_VERSION}')
    conversion = convert(template, parameters or {})
    _parsed(conversion, policy_types)
    return conversion.document, plain_template(template, conversion)


def _parsed(conversion: Conversion, policy_types: PolicyTypes) -> Group:
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

# SPDX-License-Identifier: Apache-2.0
"""A template is plain data of limited size, with the sections of HOT and the
additional section ``groups``."""

from collections.abc import Collection
from typing import Any

from nova_holistic.documents.schemas.hot import TEMPLATE
from nova_holistic.documents.source.text import (
    MAX_DEPTH, MAX_DIGITS, MAX_NODES)
from nova_holistic.documents.validation import (
    brief, join, MERGE_KEY, MERGE_KEYS, validator)
from nova_holistic.exceptions import InvalidDocument, Mistakes

NO_VERSION = 'is not a Heat template: it has no heat_template_version'
_VERSION = 'heat_template_version'
_OTHER_VERSIONS = ('AWSTemplateFormatVersion', 'HeatTemplateFormatVersion')
_PLAIN = (dict, list, str, int, float, type(None))

_check_shape = validator(TEMPLATE)


def is_template(document: Any) -> bool:
    return isinstance(document, dict) and _VERSION in document


def has_other_format(document: Any) -> bool:
    """Whether it is a template in the format of CloudFormation, whose
    resources are not placed."""
    return isinstance(document, dict) and not is_template(document) and any(
        key in document for key in _OTHER_VERSIONS)


def readable_template(document: Any, mistakes: Mistakes) -> dict[str, Any]:
    """The sections of the template that can be read.

    A server of an unknown flavor replaces each resource with a mistake.

    :param mistakes: receives the mistakes
    :raises InvalidDocument: no part of the template can be read
    """
    _bound(document)
    if isinstance(document, dict):
        document = {key: value for key, value in document.items()
                    if value is not None}
    with mistakes.collected():
        _check_shape(document)
    if not mistakes:
        return document
    if not isinstance(document, dict) or not isinstance(
            document.get('resources'), dict):
        mistakes.must_be_none()
    return _readable(document, mistakes)


def _readable(document: dict[str, Any], mistakes: Mistakes) -> dict[str, Any]:
    sections = {key: value for key, value in document.items()
                if mistakes.at(key) is None}
    parameters = document.get('parameters')
    return with_servers_for(
        [name for name in document['resources']
         if mistakes.at(join('resources', name)) is not None],
        {**sections, 'parameters': parameters if isinstance(
            parameters, dict) else {}, 'resources': document['resources']})


def with_servers_for(names: Collection[str],
                     template: dict[str, Any]) -> dict[str, Any]:
    """The template in which a server of an unknown flavor replaces each of
    these resources, so that the other parts can be read."""
    return {**template, 'resources': {
        name: {'type': 'OS::Nova::Server', 'properties': {
            'flavor': 'unknown'}} if name in names else resource
        for name, resource in template['resources'].items()}}


def _bound(document: Any) -> None:
    """Refuse data that are too deep, too large or not plain, layer by layer.

    The ``way`` of a value is (way of its container, step), and None at the
    top.
    """
    layer, nodes = [(document, None)], 0
    for _ in range(MAX_DEPTH + 1):
        nodes += len(layer)
        if nodes > MAX_NODES:
            raise InvalidDocument('', f'more than {MAX_NODES} values')
        below = []
        for value, way in layer:
            _check_value(value, way)
            if isinstance(value, dict):
                below += [(v, (way, key)) for key, v in value.items()]
            elif isinstance(value, list):
                below += [(v, (way, i)) for i, v in enumerate(value)]
        layer = below
    if layer:
        raise InvalidDocument('', f'nested deeper than {MAX_DEPTH} levels')


def _check_value(value: Any, way: tuple | None) -> None:
    if not isinstance(value, _PLAIN):
        raise InvalidDocument(_place(way), 'not plain data')
    if isinstance(value, int) and abs(value) >= 10**MAX_DIGITS:
        raise InvalidDocument(
            _place(way), f'a number of more than {MAX_DIGITS} digits')
    for key in value if isinstance(value, dict) else ():
        if not isinstance(key, str):
            raise InvalidDocument(
                _place(way), f'a key must be text, not {brief(key)}')
        if key == MERGE_KEY:
            # Heat merges them. Read as text, they would be lost without a
            # message.
            raise InvalidDocument(
                _place((way, key)), MERGE_KEYS)


def _place(way: tuple | None) -> str:
    steps = []
    while way is not None:
        way, step = way
        steps.append(step)
    return join('', *reversed(steps))

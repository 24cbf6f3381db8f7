# SPDX-License-Identifier: Apache-2.0
"""Converts a template with groups into a plain template whose servers point at
the members of an existing group. Nested templates are converted in the same
way."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nova_holistic.documents.hot.annotation import without_groups
from nova_holistic.documents.hot.conversion import Conversion
from nova_holistic.documents.hot.nested_resources import (
    RESOURCE_GROUP, SCALING_GROUP)
from nova_holistic.documents.hot.nested_stack import NestedStack
from nova_holistic.documents.validation import join
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.nova.pointer_hints import GROUP_HINT, MEMBER_HINT

PATH_PARAMETER = 'holistic_path'
"""Parameter of a plain nested template: the path of the group of its stack."""
_GROUP = {
    'type': 'string',
    'description': 'UUID of the group in which every server has its place',
    'constraints': [{'length': {'min': 32, 'max': 36}}],
}
_PATH = {
    'type': 'string',
    'description': 'path of the nested group of this stack',
}
_WAYS = {RESOURCE_GROUP: ('resource_def', 'properties'),
         SCALING_GROUP: ('resource', 'properties')}
"""Path from the properties of a group of resources to those of its
resources."""


def plain_template(conversion: Conversion, names: Callable[[str], str],
                   nested: bool = False) -> dict[str, Any]:
    """The template without groups, and with the group as a parameter.

    All other parts remain unchanged, including server groups.

    :param names: the name of the plain form of a nested template
    :param nested: whether it is the template of a nested stack
    :raises InvalidDocument: the template already has the name of the parameter
    """
    added = {GROUP_HINT: _GROUP, **({PATH_PARAMETER: _PATH} if nested else {})}
    template = conversion.template
    for section in ('parameters', 'resources'):
        for name in added:
            if name in template.get(section, {}):
                raise InvalidDocument(
                    join(section, name),
                    'is the name of the parameter that is added')
    template = without_groups(template)
    return {
        **template,
        'parameters': {**template.get('parameters', {}), **added},
        'resources': {
            name: _pointing(name, resource, conversion, names, nested)
            if name in conversion.pointers else resource
            for name, resource in template['resources'].items()},
    }


def nested_templates(conversion: Conversion, names: Callable[[str], str]
                     ) -> dict[str, dict[str, Any]]:
    """The plain nested templates, by the unique names of their files.

    :raises InvalidDocument: two uses of one template have different paths
    """
    found: dict[str, dict[str, Any]] = {}
    for stack in _all_nested(conversion):
        plain = plain_template(stack.conversion, names, nested=True)
        if found.setdefault(stack.use.template, plain) != plain:
            raise InvalidDocument(
                stack.shown, 'the paths of its servers depend on the '
                'parameters, and differ between two of its stacks')
    return found


def _all_nested(conversion: Conversion) -> Iterator[NestedStack]:
    for stack in conversion.nested.values():
        yield stack
        yield from _all_nested(stack.conversion)


def _pointing(name: str, resource: Mapping[str, Any], conversion: Conversion,
              names: Callable[[str], str], nested: bool) -> dict[str, Any]:
    group, path = {'get_param': GROUP_HINT}, conversion.pointers[name]
    if nested:
        path = {'list_join': ['/', [{'get_param': PATH_PARAMETER}, path]]}
    stack = conversion.nested.get(name)
    way = ['properties', *_WAYS.get(resource['type'], ())]
    if stack is None:
        return _with_values(resource, [*way, 'scheduler_hints'], {
            GROUP_HINT: group, MEMBER_HINT: path})
    found = _with_values(resource, way, {
        GROUP_HINT: group, PATH_PARAMETER: path})
    return _with_values(found, way[:-1], {'type': names(stack.use.template)})


def _with_values(value: Mapping[str, Any] | None, way: list[str],
                 added: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the mapping with the values added at the end of the path."""
    value = dict(value or {})
    if not way:
        return {**value, **added}
    step, *further = way
    value[step] = _with_values(value.get(step), further, added)
    return value

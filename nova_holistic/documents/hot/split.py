# SPDX-License-Identifier: Apache-2.0
"""A template with groups becomes the plain template in which each server
points at its place in a group created before."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.documents.hot.conversion import Conversion
from nova_holistic.documents.hot.resources import RESOURCE_GROUP
from nova_holistic.documents.hot.template_shape import validated_template
from nova_holistic.documents.validation import join
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.nova.pointer_hints import GROUP_HINT, MEMBER_HINT

_PARAMETER = {
    'type': 'string',
    'description': 'UUID of the group in which every server has its place',
    'constraints': [{'length': {'min': 32, 'max': 36}}],
}


def plain_template(template: Any, conversion: Conversion) -> dict[str, Any]:
    """The template without ``groups``, and with the group as a parameter.

    All other parts remain unchanged, including server groups.

    :raises InvalidDocument: it has something of the parameter's name
    """
    template = validated_template(template)
    for section in ('parameters', 'resources'):
        if GROUP_HINT in template.get(section, {}):
            raise InvalidDocument(
                join(section, GROUP_HINT),
                'is the name of the parameter that is added')
    return {
        **{key: value for key, value in template.items() if key != 'groups'},
        'parameters': {**template.get('parameters', {}),
                       GROUP_HINT: _PARAMETER},
        'resources': {
            name: _pointing(resource, conversion.pointers[name])
            if name in conversion.pointers else resource
            for name, resource in template['resources'].items()},
    }


def _pointing(resource: Mapping[str, Any], member: str) -> dict[str, Any]:
    way = ['properties']
    if resource['type'] == RESOURCE_GROUP:
        way += ['resource_def', 'properties']
    return _with_hints(resource, [*way, 'scheduler_hints'], {
        GROUP_HINT: {'get_param': GROUP_HINT}, MEMBER_HINT: member})


def _with_hints(value: Mapping[str, Any] | None, way: list[str],
                hints: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the mapping, with the hints added at the end of the way."""
    value = dict(value or {})
    if not way:
        return {**value, **hints}
    step, *further = way
    value[step] = _with_hints(value.get(step), further, hints)
    return value

# SPDX-License-Identifier: Apache-2.0
"""Values of templates that are read before their resources exist.

A text stands for each value that is known only when Heat creates a resource.
Heat itself uses the name of the resource, or nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from heat.common import exception
from heat.common import identifier
from heat.engine import function
from heat.engine import node_data
from heat.engine import resource
from heat.engine import stk_defn

GROUP = '00000000-0000-0000-0000-000000000000'
"""Value of references to the group, which may not exist yet."""
UNKNOWN = 'known-only-when-the-stack-is-created'
NOT_KNOWN = 'it is not known before the servers are created'
NESTED_STACK = identifier.HeatIdentifier(UNKNOWN, UNKNOWN, UNKNOWN)
"""Identifier of a nested stack."""


class _Data(node_data.NodeData):
    """Every attribute is unknown."""

    def __init__(self, name: str, reference: str):
        super().__init__(None, name, None, reference, {},
                         resource.Resource.CREATE, resource.Resource.COMPLETE)

    def attribute(self, attr_name: Any) -> str:
        return UNKNOWN


def without_resources(definition: stk_defn.StackDefinition,
                      group: str | None = None) -> stk_defn.StackDefinition:
    """The definition, in which the values of all resources become unknown.

    :param definition: a definition that no other part of Heat uses
    :param group: name of the resource that is the group
    """
    for name in definition.all_rsrc_names():
        stk_defn.update_resource_data(
            definition, name, _Data(name, GROUP if name == group else UNKNOWN))
    return definition


def contains(value: Any, text: str) -> bool:
    """Whether a value without functions contains a text."""
    return any(text in each for each in _texts(value))


def plain(value: Any) -> Any:
    """The value without functions. ``UNKNOWN`` stands for those that fail."""
    try:
        return function.resolve(value)
    except Exception:
        if isinstance(value, Mapping):
            return {key: plain(each) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(each) for each in value]
        return UNKNOWN


def resolved(value: Any, place: Sequence[str]) -> Any:
    """
    :raises StackValidationFailed: the value is not known yet
    """
    try:
        found = function.resolve(value)
    except Exception as error:
        if UNKNOWN not in str(error):
            raise invalid(place, str(error)) from error
        found = UNKNOWN
    if contains(found, UNKNOWN):
        raise invalid(place, NOT_KNOWN)
    return found


def invalid(place: Sequence[str],
            message: str) -> exception.StackValidationFailed:
    """The error of Heat for a property, with its position."""
    return exception.StackValidationFailed(
        error='Property error', path=list(place), message=message)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)

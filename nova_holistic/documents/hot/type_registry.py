# SPDX-License-Identifier: Apache-2.0
"""Types of resources that an environment replaces by other types or by
templates."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from nova_holistic.documents.validation import brief
from nova_holistic.exceptions import InvalidDocument

_SUFFIXES = ('.yaml', '.template')
_MAX_ALIASES = 10
_BUILT_IN = ('OS::', 'AWS::')
"""Prefixes of the types that exist without a registry."""


class Types(Protocol):
    """Finds the types that replace the types of one stack."""

    def resolved(self, name: str, resource: str, place: str) -> str:
        """The type that replaces a type.

        :param resource: name of the resource; empty if there are several
        :param place: position of the type
        :raises InvalidDocument: no final type exists
        """

    def inside(self, resource: str, name: str) -> 'Types':
        """The types of the nested stack of a resource.

        :param name: type of the resource. If a template replaces it, the
            template may contain resources of this type.
        """


@dataclass(frozen=True, slots=True)
class Registry:
    """The section ``resource_registry`` of an environment.

    :ivar types: types by types; an asterisk at the end stands for any text
    """

    types: Mapping[str, str] = field(default_factory=dict)

    def resolved(self, name: str, resource: str, place: str) -> str:
        found = self._found(name, place, 0)
        return found[0] if found else name

    def inside(self, resource: str, name: str) -> 'Registry':
        found = self._found(name, '', 0)
        return Registry({key: target for key, target in self.types.items()
                         if found is None or key != found[1]})

    def _found(self, name: str, place: str,
               aliases: int) -> tuple[str, str] | None:
        """The final type, and the type that a template replaces, if any; None
        if there is no such type."""
        if aliases >= _MAX_ALIASES:
            raise InvalidDocument(
                place, f'resource_registry: the type {brief(name)} refers to '
                'itself, directly or through other types')
        if is_template_file(name):
            return name, ''
        for target in self._targets(name):
            if is_template_file(target):
                return target, name
            found = (name, '') if target == name else self._found(
                target, place, aliases + 1)
            if found is not None:
                return found
        return (name, '') if name.startswith(_BUILT_IN) else None

    def _targets(self, name: str) -> Iterator[str]:
        """The types that replace a type, in the order of Heat, which compares
        the patterns as text: the shortest one is the first."""
        for key in sorted(self.types):
            target = self.types[key]
            if key == name:
                yield target
            elif (key.endswith('*') and name.startswith(key[:-1])
                  and name != target and not is_template_file(target)):
                yield (target[:-1] + name[len(key) - 1:]
                       if target.endswith('*') else target)


def is_template_file(kind: Any) -> bool:
    """Whether a type is the name of a template."""
    return isinstance(kind, str) and kind.endswith(_SUFFIXES)

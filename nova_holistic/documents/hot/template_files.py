# SPDX-License-Identifier: Apache-2.0
"""Templates of nested stacks, which are the types of resources."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from nova_holistic.documents.validation import brief
from nova_holistic.exceptions import InvalidDocument

MAX_DEPTH = 5
"""Maximum depth of nested stacks; Heat's default."""
_SUFFIXES = ('.yaml', '.template')
_MAX_ALIASES = 10


class UnusableFile(InvalidDocument):
    """A template names a file that cannot be read, or must not be read.

    The mistake is in the template that names the file.
    """

    def __init__(self, message: str):
        super().__init__('', message)


class TemplateFiles(Protocol):
    """Finds and reads files."""

    available: bool
    """Whether files can exist; otherwise, types that are files are not
    read."""

    def locate(self, name: str, base: str) -> str:
        """The unique name of a file.

        :param name: name in a template
        :param base: unique name of that template
        """

    def read(self, located: str) -> Any:
        """The content of a file.

        :raises UnusableFile: it cannot be read
        :raises InvalidDocument: its content is neither YAML nor JSON
        """


class NoFiles:
    """The source of a template without files."""

    available = False

    def locate(self, name: str, base: str) -> str:
        return name

    def read(self, located: str) -> Any:
        raise UnusableFile('nested templates are not available here')


@dataclass(frozen=True, slots=True)
class TemplateSource:
    """The source of a template, and the meaning of its types.

    :ivar registry: section ``resource_registry`` of an environment: types by
        types
    :ivar defaults: section ``parameter_defaults``: values of parameters of all
        templates
    :ivar base: unique name of the file of the template
    :ivar depth: number of stacks around the stack of the template
    """

    files: TemplateFiles = field(default_factory=NoFiles)
    registry: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    base: str = ''
    depth: int = 0

    def type_of(self, name: Any, place: str) -> Any:
        """The type that the registry has for a type.

        :param place: position of the type
        :raises InvalidDocument: the registry has no final type for it
        """
        for _ in range(_MAX_ALIASES):
            if not isinstance(name, str):
                return name
            found = self._registered(name)
            if found is None or found == name:
                return name
            name = found
        raise InvalidDocument(
            place, f'resource_registry: the type {brief(name)} refers to '
            'itself, directly or through other types')

    def inside(self, located: str) -> 'TemplateSource':
        """The source of a nested template.

        :raises UnusableFile: there are too many stacks around it
        """
        if self.depth >= MAX_DEPTH:
            raise UnusableFile(
                f'nested stacks are more than {MAX_DEPTH} levels deep')
        return replace(self, base=located, depth=self.depth + 1)

    def _registered(self, name: str) -> str | None:
        if name in self.registry:
            return self.registry[name]
        # The pattern with the longest text before its asterisk is valid.
        return max(((key, value) for key, value in self.registry.items()
                    if key.endswith('*') and name.startswith(key[:-1])),
                   default=('', None), key=lambda pair: len(pair[0]))[1]


def is_template_file(kind: Any) -> bool:
    """Whether a type is the name of a template."""
    return isinstance(kind, str) and kind.endswith(_SUFFIXES)

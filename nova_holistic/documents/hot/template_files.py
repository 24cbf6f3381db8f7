# SPDX-License-Identifier: Apache-2.0
"""Templates of nested stacks, which are the types of resources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from nova_holistic.documents.hot.type_registry import Registry, Types
from nova_holistic.exceptions import InvalidDocument

MAX_DEPTH = 5
"""Maximum depth of nested stacks; Heat's default."""


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

    :ivar registry: types that replace other types
    :ivar defaults: section ``parameter_defaults``: values of parameters of all
        templates
    :ivar base: unique name of the file of the template
    :ivar depth: number of stacks around the stack of the template
    """

    files: TemplateFiles = field(default_factory=NoFiles)
    registry: Types = field(default_factory=Registry)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    base: str = ''
    depth: int = 0

    def type_of(self, name: Any, place: str, resource: str = '') -> Any:
        """The type that replaces a type.

        :param place: position of the type
        :param resource: name of the resource; empty if there are several
        :raises InvalidDocument: there is no final type
        """
        return self.registry.resolved(name, resource, place) if isinstance(
            name, str) else name

    def inside(self, located: str, resources: Sequence[tuple[str, str]]
               ) -> 'TemplateSource':
        """The source of a nested template.

        :param resources: names and types of the resources down to the nested
            stack
        :raises UnusableFile: there are too many stacks around it
        """
        if self.depth >= MAX_DEPTH:
            raise UnusableFile(
                f'nested stacks are more than {MAX_DEPTH} levels deep')
        registry = self.registry
        for resource, kind in resources:
            registry = registry.inside(resource, kind)
        return replace(self, base=located, depth=self.depth + 1,
                       registry=registry)

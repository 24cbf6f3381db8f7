# SPDX-License-Identifier: Apache-2.0
"""Resources whose nested stacks contain servers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from nova_holistic.documents.validation import join
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.stack_rules import StackRule


@dataclass(frozen=True, slots=True)
class NestedUse:
    """A resource that creates stacks of one template.

    :ivar name: name of the resource
    :ivar template: unique name of the file
    :ivar shown: name of the file in the template
    :ivar properties: properties of each nested stack, with unevaluated
        functions
    :ivar place: position of these properties
    :ivar resources: names and types of the resources from the template down to
        one stack
    :ivar count: number of stacks; None for one stack without an index
    :ivar index_var: text that Heat replaces by the index of a stack
    :ivar elastic: ``count`` of each member if an AutoScalingGroup creates the
        stacks
    """

    name: str
    template: str
    shown: str
    properties: Mapping[str, Any]
    place: str
    resources: tuple[tuple[str, str], ...]
    count: int | None = None
    index_var: str = ''
    elastic: Mapping[str, int] | None = None

    @property
    def type_place(self) -> str:
        """The position of the type, which names the file."""
        return self.place.removesuffix('properties') + 'type'

    def with_count(self, count: int, index_var: str) -> 'NestedUse':
        return replace(self, count=count, index_var=index_var)

    def with_elastic(self, elastic: Mapping[str, int]) -> 'NestedUse':
        return replace(self, elastic=elastic)

    def at_index(self, values: Mapping[str, Any],
                 index: int) -> Mapping[str, Any]:
        """The evaluated properties of the stack with that index."""
        return replaced(values, self.index_var, str(index))


@dataclass(frozen=True, slots=True)
class NestedStack:
    """A nested group with the servers of nested stacks.

    :ivar parts: the document of the group without its name
    :ivar conversion: of the template, with paths inside one stack
    """

    use: NestedUse
    parts: Mapping[str, Any]
    conversion: Any

    server_group = None
    asked = True

    @property
    def name(self) -> str:
        return self.use.name

    @property
    def shown(self) -> str:
        return self.use.shown

    def rules(self, path: str) -> list[StackRule]:
        """:param path: path of the nested group"""
        stack, group = self.name, path
        if self.use.count is not None:
            stack, group = f'{stack}/*', f'{group}/*'
        elif self.use.elastic is not None:
            stack = f'{stack}/*'
        return [StackRule(f'{stack}/{rule.resource}', f'{group}/{rule.member}')
                for rule in self.conversion.rules]

    def inside(self, path: str) -> str:
        """The path of the group of one stack, with the index variable."""
        return path if self.use.count is None else (
            f'{path}/{self.use.index_var}')


def with_counts(document: Mapping[str, Any],
                use: NestedUse) -> Mapping[str, Any]:
    """The members of the stacks of an AutoScalingGroup. Each one has as many
    servers as there are stacks.

    :raises InvalidDocument: a member has several servers in one stack
    """
    if document.get('groups') or any(
            'count' in member for member in document.get('members', ())):
        raise InvalidDocument(
            join('resources', use.name), 'stacks of an AutoScalingGroup may '
            'contain single servers only, without groups')
    return {'members': [{**member, 'count': dict(use.elastic)}
                        for member in document['members']]}


def replaced(value: Any, variable: str, text: str) -> Any:
    """The value in which a text replaces a variable in all strings."""
    if isinstance(value, str):
        return value.replace(variable, text)
    if isinstance(value, dict):
        return {key: replaced(each, variable, text)
                for key, each in value.items()}
    if isinstance(value, list):
        return [replaced(each, variable, text) for each in value]
    return value

# SPDX-License-Identifier: Apache-2.0
"""Servers of a stack, and of its nested stacks, that point at a group.

The stack's definition is read, and no other resource needs to exist.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from heat.engine import stk_defn

from nova_holistic.documents.hot.nested_stack import replaced
from nova_holistic.documents.hot.split import PATH_PARAMETER
from nova_holistic.heat.templates.derived_members import TemplateServer
from nova_holistic.heat.templates.nested_definitions import (
    PointingStack, top_level)
from nova_holistic.heat.templates.template_servers import (
    description, GROUP_HINT, HINTS, MEMBER_HINT, path, pointers,
    RESOURCE_GROUP, SCALING_GROUP, SERVER)
from nova_holistic.heat.templates.unknown_values import (
    GROUP, invalid, plain, resolved)


def read(stack: stk_defn.StackDefinition, group: str
         ) -> list[TemplateServer]:
    """Every server that points at a group, with the description of its member.

    :param group: name of its resource
    :raises StackValidationFailed: two servers have the same path; or the
        requirements of a server are not known before it is created
    """
    servers: dict[str, TemplateServer] = {}
    for server in _servers(top_level(stack, group)):
        other = servers.setdefault(server.path, server)
        if other is not server:
            raise invalid(
                server.place, f'{server.path!r} is the member of '
                f'{".".join(other.place[:2])} as well')
    return list(servers.values())


def _servers(stack: PointingStack) -> Iterator[TemplateServer]:
    for name in sorted(stack.definition.enabled_rsrc_names()):
        definition = stack.definition.resource_definition(name)
        resource = _Resource(
            stack.kind(definition.resource_type, name),
            definition.resource_type, name,
            _mapping(definition.properties({}).data),
            (*stack.place, 'resources', name, 'properties'))
        yield from _of_resource(stack, resource)


@dataclass(frozen=True, slots=True)
class _Resource:
    """
    :ivar kind: the type that replaces the type in the template
    :ivar type: the type in the template
    :ivar name: empty if there are several
    :ivar place: position of the properties in the template
    """

    kind: Any
    type: Any
    name: str
    properties: Mapping[str, Any]
    place: tuple[str, ...]

    def inner(self, stack: PointingStack, key: str) -> '_Resource | None':
        """The definition of the resource that this resource repeats."""
        definition = _mapping(self.properties.get(key))
        kind = plain(definition.get('type'))
        if not isinstance(kind, str):
            return None
        return _Resource(stack.kind(kind, ''), kind, '',
                         _mapping(definition.get('properties')),
                         (*self.place, key, 'properties'))

    def value(self, key: str, default: Any) -> Any:
        """The value of a property; null stands for the default."""
        found = resolved(self.properties.get(key), (*self.place, key))
        return default if found is None else found

    def number(self, key: str, default: int) -> int:
        found = self.value(key, default)
        try:
            return int(found)
        except (TypeError, ValueError) as error:
            raise invalid((*self.place, key),
                          f'{found!r} is not a number') from error


def _of_resource(stack: PointingStack,
                 resource: _Resource) -> Iterator[TemplateServer]:
    """A server, or the servers of nested stacks."""
    properties, place = resource.properties, resource.place
    if resource.kind == RESOURCE_GROUP:
        yield from _of_resource_group(stack, resource)
        return
    if resource.kind == SCALING_GROUP:
        yield from _of_scaling_group(stack, resource)
        return
    # A template that replaces the type of servers receives their hints.
    if SERVER in (resource.kind, resource.type):
        if pointers(properties).get(GROUP_HINT) == GROUP:
            yield TemplateServer(
                (*place, HINTS, MEMBER_HINT), path(properties, place),
                description(properties, place))
        return
    nested = stack.nested(resource.type, resource.name, properties, place)
    if nested is not None:
        yield from _servers(nested)


def _of_resource_group(stack: PointingStack,
                       resource: _Resource) -> Iterator[TemplateServer]:
    inner = resource.inner(stack, 'resource_def')
    if inner is None:
        return
    variable = resource.value('index_var', '%index%')
    # As in Heat, functions are evaluated before an index is inserted.
    inner = replace(inner, properties=plain(inner.properties))

    def servers(number: int) -> list[TemplateServer]:
        return list(_of_resource(stack, replace(inner, properties=replaced(
            inner.properties, variable, str(number)))))

    first = servers(0)
    count = resource.number('count', 1) if first else 0
    if [server.path for server in first] == [
            server.path for server in servers(1)]:
        # All resources have the same members.
        for server in first if count else ():
            yield _counted(server, count)
        return
    if any(_mapping(policy).get('resource_list') for policy in resource.value(
            'removal_policies', ())):
        raise invalid((*resource.place, 'removal_policies'), (
            'the numbers of the servers are not known in advance: use a path '
            f'without {variable}'))
    for number in range(count):
        yield from servers(number)


def _of_scaling_group(stack: PointingStack,
                      resource: _Resource) -> Iterator[TemplateServer]:
    inner = resource.inner(stack, 'resource')
    servers = list(_of_resource(stack, inner)) if inner is not None else []
    if not servers:
        return
    if inner.kind != SERVER:
        _must_be_below_path(servers, inner)
    least, most = (resource.number(name, 0)
                   for name in ('min_size', 'max_size'))
    desired = resource.number('desired_capacity', least)
    for server in servers if most else ():
        yield replace(server, description={
            # The minimum is the desired number: Heat creates all servers. A
            # member has at least one place.
            **server.description, 'count': {
                'desired': max(1, desired), 'max': most}})


def _must_be_below_path(servers: Iterable[TemplateServer],
                        inner: _Resource) -> None:
    """:raises StackValidationFailed: the scaling group would not know which
    members it changes"""
    around = inner.value(PATH_PARAMETER, None)
    for server in servers:
        if (GROUP_HINT not in inner.properties
                or 'count' in server.description
                or server.path.rpartition('/')[0] != around):
            raise invalid(inner.place, (
                f'member {server.path!r}: nested stacks of an '
                'OS::Heat::AutoScalingGroup may contain single servers only, '
                f'and must receive the group as {GROUP_HINT} and the path of '
                f'their nested group as {PATH_PARAMETER}'))


def _counted(server: TemplateServer, number: int) -> TemplateServer:
    """The servers of a number of equal resources."""
    count = server.description.get('count', 1)
    if isinstance(count, Mapping):
        raise invalid(server.place, (
            'each OS::Heat::AutoScalingGroup needs a different path'))
    return replace(server, description={
        **server.description, 'count': count * number})


def _mapping(value: Any) -> Mapping[str, Any]:
    """A mapping, whose values may be functions."""
    if not isinstance(value, Mapping):
        value = plain(value)
    return value if isinstance(value, Mapping) else {}

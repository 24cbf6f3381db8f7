# SPDX-License-Identifier: Apache-2.0
"""Servers of a stack, and of its nested stacks, that point at a group.

The stack's definition is read, and no other resource needs to exist.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from heat.engine import function
from heat.engine import stk_defn

from nova_holistic.documents.hot.nested_stack import replaced
from nova_holistic.documents.hot.split import PATH_PARAMETER
from nova_holistic.heat.templates.derived_members import TemplateServer
from nova_holistic.heat.templates.nested_definitions import (
    PointingStack, top_level)
from nova_holistic.heat.templates.template_servers import (
    description, GROUP_HINT, HINTS, invalid, MEMBER_HINT, path, resolved,
    RESOURCE_GROUP, SCALING_GROUP, SERVER)


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
            definition.resource_type, name, definition.properties({}).data,
            (*stack.place, 'resources', name, 'properties'))
        if resource.kind == RESOURCE_GROUP:
            yield from _of_resource_group(stack, resource)
        elif resource.kind == SCALING_GROUP:
            yield from _of_scaling_group(stack, resource)
        else:
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
        definition = self.properties.get(key)
        if not isinstance(definition, Mapping):
            return None
        kind = definition.get('type')
        return _Resource(stack.kind(kind, ''), kind, '',
                         definition.get('properties') or {},
                         (*self.place, key, 'properties'))

    def value(self, key: str, default: Any) -> Any:
        return resolved(self.properties.get(key, default),
                        (*self.place, key))


def _of_resource(stack: PointingStack,
                 resource: _Resource) -> Iterator[TemplateServer]:
    """A server, or the servers of a nested stack."""
    properties, place = resource.properties, resource.place
    # A template that replaces the type of servers receives their hints.
    if SERVER in (resource.kind, resource.type):
        if _points_at_group(stack, properties):
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
    if inner is None or not _receives_group(stack, inner):
        return
    count = int(resource.value('count', 1))
    variable = resource.value('index_var', '%index%')
    inner = replace(inner, properties=_resolved(stack, inner.properties))

    def servers(number: int) -> list[TemplateServer]:
        return list(_of_resource(stack, replace(inner, properties=replaced(
            inner.properties, variable, str(number)))))

    first = servers(0)
    if [server.path for server in first] == [
            server.path for server in servers(1)]:
        # All resources have the same members.
        for server in first if count else ():
            yield _counted(server, count)
        return
    if resource.properties.get('removal_policies'):
        raise invalid((*resource.place, 'removal_policies'), (
            'the numbers of the servers are not known in advance: use a path '
            f'without {variable}'))
    for number in range(count):
        yield from servers(number)


def _of_scaling_group(stack: PointingStack,
                      resource: _Resource) -> Iterator[TemplateServer]:
    inner = resource.inner(stack, 'resource')
    if inner is None or not _receives_group(stack, inner):
        return
    servers = list(_of_resource(stack, inner))
    if inner.kind != SERVER:
        _must_be_below_path(servers, inner)
    least, most = (int(resource.value(name, 0))
                   for name in ('min_size', 'max_size'))
    desired = resource.value('desired_capacity', None)
    for server in servers if most else ():
        yield replace(server, description={
            # The minimum is the desired number: Heat creates all servers. A
            # member has at least one place.
            **server.description, 'count': {
                'desired': max(
                    1, least if desired is None else int(desired)),
                'max': most}})


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


def _receives_group(stack: PointingStack, inner: _Resource) -> bool:
    if inner.kind == SERVER:
        return _points_at_group(stack, inner.properties)
    return any(map(stack.is_group, inner.properties.values()))


def _points_at_group(stack: PointingStack,
                     properties: Mapping[str, Any]) -> bool:
    hints = properties.get(HINTS)
    return isinstance(hints, Mapping) and stack.is_group(
        hints.get(GROUP_HINT))


def _resolved(stack: PointingStack, value: Any) -> Any:
    """The value without the functions that can be resolved already, except
    for the group."""
    if isinstance(value, function.Function):
        if stack.is_group(value):
            return value
        try:
            return function.resolve(value)
        except Exception:
            return value
    if isinstance(value, Mapping):
        return {key: _resolved(stack, each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_resolved(stack, each) for each in value]
    return value

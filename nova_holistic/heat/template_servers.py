# SPDX-License-Identifier: Apache-2.0
"""Servers of a stack that point at one of its groups.

The stack's definition is read, and no other resource needs to exist.
"""

from collections.abc import Iterator, Mapping, Sequence
import re
from typing import Any

from heat.common import exception
from heat.engine import function
from heat.engine import stk_defn

from nova_holistic.heat.derived_members import TemplateServer

SERVER = 'OS::Nova::Server'
RESOURCE_GROUP = 'OS::Heat::ResourceGroup'
SCALING_GROUP = 'OS::Heat::AutoScalingGroup'
GROUP_HINT = 'holistic_group'
MEMBER_HINT = 'holistic_member'
HINTS = 'scheduler_hints'
_PATH = re.compile('[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*')
_REFERENCES = ('get_resource', 'Ref')


def read(stack: stk_defn.StackDefinition, group: str
         ) -> list[TemplateServer]:
    """Every server that points at a group, with the description of its member.

    :param group: name of its resource
    :raises StackValidationFailed: two servers have the same path; or the
        requirements of a server are not known before it is created
    """
    found: dict[str, TemplateServer] = {}
    for server in _servers(stack, group):
        other = found.setdefault(server.path, server)
        if other is not server:
            raise invalid(
                server.place, f'{server.path!r} is the member of '
                f'{".".join(other.place[:2])} as well')
    return list(found.values())


def _servers(stack: stk_defn.StackDefinition, group: str
             ) -> Iterator[TemplateServer]:
    for name in sorted(stack.enabled_rsrc_names()):
        resource = stack.resource_definition(name)
        properties = resource.properties({}).data
        place = ('resources', name, 'properties')
        if resource.resource_type == SERVER:
            yield from _of_server(properties, place, group)
        elif resource.resource_type == RESOURCE_GROUP:
            yield from _of_resource_group(properties, place, group)
        elif resource.resource_type == SCALING_GROUP:
            yield from _of_scaling_group(properties, place, group)


def _of_server(properties: Mapping[str, Any], place: Sequence[str],
               group: str) -> Iterator[TemplateServer]:
    if _points_at(properties, group):
        yield TemplateServer(
            (*place, HINTS, MEMBER_HINT), _path(properties, place),
            description(properties, place))


def _of_resource_group(properties: Mapping[str, Any], place: Sequence[str],
                       group: str) -> Iterator[TemplateServer]:
    inner = _inner(properties.get('resource_def'))
    place_inside = (*place, 'resource_def', 'properties')
    if inner is None or not _points_at(inner, group):
        return
    count = int(_resolved(properties.get('count', 1), (*place, 'count')))
    variable = _resolved(properties.get('index_var', '%index%'),
                         (*place, 'index_var'))
    path = _path(inner, place_inside, variable)
    described = description(inner, place_inside)
    where = (*place_inside, HINTS, MEMBER_HINT)
    if variable not in path:
        if count:
            yield TemplateServer(where, path, {
                **described, 'count': count})
        return
    if properties.get('removal_policies'):
        raise invalid((*place, 'removal_policies'), (
            'the numbers of the servers are not known in advance: use a path '
            f'without {variable}'))
    for number in map(str, range(count)):
        yield TemplateServer(
            where, path.replace(variable, number), {
                key: value.replace(variable, number)
                if isinstance(value, str) else value
                for key, value in described.items()})


def _of_scaling_group(properties: Mapping[str, Any], place: Sequence[str],
                      group: str) -> Iterator[TemplateServer]:
    inner = _inner(properties.get('resource'))
    place_inside = (*place, 'resource', 'properties')
    if inner is None or not _points_at(inner, group):
        return
    least, most = (int(_resolved(properties.get(name, 0), (*place, name)))
                   for name in ('min_size', 'max_size'))
    desired = _resolved(properties.get('desired_capacity'),
                        (*place, 'desired_capacity'))
    if most:
        yield TemplateServer(
            (*place_inside, HINTS, MEMBER_HINT), _path(inner, place_inside),
            # The minimum is the desired number: Heat creates all servers.
            {**description(inner, place_inside), 'count': {
                'desired': least if desired is None else int(desired),
                'max': most}})


def _inner(resource: Any) -> Mapping[str, Any] | None:
    """The properties of the servers of a group of resources."""
    if not isinstance(resource, Mapping) or resource.get('type') != SERVER:
        return None
    return resource.get('properties') or {}


def _points_at(properties: Mapping[str, Any], group: str) -> bool:
    hints = properties.get(HINTS)
    if not isinstance(hints, Mapping):
        return False
    target = hints.get(GROUP_HINT)
    return (isinstance(target, function.Function)
            and target.fn_name in _REFERENCES and target.args == group)


def _path(properties: Mapping[str, Any], place: Sequence[str],
          variable: str = '') -> str:
    """
    :param variable: text that the number of the server replaces
    """
    where = (*place, HINTS, MEMBER_HINT)
    found = _resolved(properties[HINTS].get(MEMBER_HINT), where)
    if not isinstance(found, str) or not _PATH.fullmatch(
            found.replace(variable, '0') if variable else found):
        raise invalid(where, f'{found!r} is not the path of a member: names '
                             'of letters, digits, "_", "." or "-", joined by '
                             'slashes')
    return found


def description(properties: Mapping[str, Any],
                place: Sequence[str]) -> dict[str, Any]:
    """What a server requires, as a member of a group document."""
    found = {}
    for name in ('flavor', 'availability_zone', 'image'):
        value = _resolved(properties.get(name), (*place, name))
        if value is not None:
            found[name] = str(value)
    if 'flavor' not in found:
        raise invalid((*place, 'flavor'),
                      'it is not known before the servers are created')
    volume = _root_volume(properties, place)
    if volume is not None:
        found['boot_from_volume'] = True
        if volume.get('image'):
            found.setdefault('image', volume['image'])
    return found


def _root_volume(properties: Mapping[str, Any],
                 place: Sequence[str]) -> Mapping[str, Any] | None:
    """The device from which a server boots; None if it is a local disk."""
    for name in ('block_device_mapping_v2', 'block_device_mapping'):
        devices = _resolved(properties.get(name), (*place, name)) or []
        for device in devices:
            root = (str(device.get('boot_index')) == '0' if name.endswith('2')
                    else device.get('device_name') in ('vda', '/dev/vda'))
            if root:
                return device
    return None


def _resolved(value: Any, place: Sequence[str]) -> Any:
    try:
        return function.resolve(value)
    except Exception as error:
        raise invalid(place, str(error)) from error


def invalid(place: Sequence[str],
            message: str) -> exception.StackValidationFailed:
    """The error of Heat for a property, with its position."""
    return exception.StackValidationFailed(
        error='Property error', path=list(place), message=message)

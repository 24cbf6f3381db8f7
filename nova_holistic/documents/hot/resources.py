# SPDX-License-Identifier: Apache-2.0
"""Servers and server groups are read; all other resources are Heat's alone."""

from collections.abc import Callable, Mapping
import re
from typing import Any, TypeVar

from nova_holistic.documents.hot.boot_source import read_boot
from nova_holistic.documents.hot.functions import function_name, Resolver
from nova_holistic.documents.hot.server_resource import Server, ServerRequest
from nova_holistic.documents.schemas import common
from nova_holistic.documents.schemas.group import MAX_MEMBERS
from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.messages.suggestion import did_you_mean
from nova_holistic.model.nova.pointer_hints import GROUP_HINT, MEMBER_HINT

T = TypeVar('T')

SERVER = 'OS::Nova::Server'
SERVER_GROUP = 'OS::Nova::ServerGroup'
RESOURCE_GROUP = 'OS::Heat::ResourceGroup'

_INDEX = '%index%'
_SHORTEST_INDEX = 3
_LONGEST = 255
_UNREADABLE = ServerRequest('unknown', None)
"""Stands for the requirements of a server that has mistakes."""
_POLICIES = ('affinity', 'anti-affinity', 'soft-affinity',
             'soft-anti-affinity')


class Resources:
    """Reads resources, each at its place."""

    def __init__(self, resources: Mapping[str, Any], resolver: Resolver):
        self._resources = resources
        self._resolver = resolver

    def servers(self) -> dict[str, Server]:
        """By name, in the order of the template. Mistakes are collected."""
        found, total = {}, 0
        for name, resource in self._resources.items():
            place, server = join('resources', name), None
            if resource['type'] in (SERVER, RESOURCE_GROUP):
                # The name stands for a server even if it has mistakes.
                server = Server(name, place, (_UNREADABLE,))
            with self._resolver.mistakes.collected():
                if resource['type'] == SERVER:
                    server = self._server(name, resource, place)
                elif resource['type'] == RESOURCE_GROUP:
                    server = self._group_of_servers(name, resource, place)
            if server is not None:
                found[name] = server
                total += 1 if server.count is None else server.count
            if total > MAX_MEMBERS:
                raise InvalidDocument(
                    place, f'more than {MAX_MEMBERS} servers')
        return found

    def server_group(self, name: str) -> dict[str, Any]:
        """The policy of an OS::Nova::ServerGroup, as group documents say it.
        """
        resource, place = self._resources[name], join('resources', name)
        _check_made(resource, place)
        properties = written_out(resource, 'properties', place)
        place = join(place, 'properties')
        policies = self._value(properties, 'policies', place)
        if policies is None:
            policies = ['anti-affinity']
        if (not isinstance(policies, list) or len(policies) != 1
                or policies[0] not in _POLICIES):
            raise InvalidDocument(
                join(place, 'policies'),
                f'must be a list of one of {", ".join(_POLICIES)}'
                f'{_similar_policy(policies)}')
        policy = {'type': policies[0], 'level': 'host'}
        rules = self._value(properties, 'rules', place) or {}
        if not isinstance(rules, dict):
            raise InvalidDocument(join(place, 'rules'),
                                  f'must be a mapping, not {brief(rules)}')
        most = rules.get('max_server_per_host')
        if most is not None:
            if policies[0] != 'anti-affinity':
                raise InvalidDocument(
                    join(place, 'rules', 'max_server_per_host'),
                    'is for policy anti-affinity only')
            policy['max_per_domain'] = _whole(
                most, join(place, 'rules', 'max_server_per_host'), 1)
        return policy

    def _server(self, name: str, resource: dict, place: str) -> Server:
        _check_made(resource, place)
        properties = written_out(resource, 'properties', place)
        place = join(place, 'properties')
        return Server(
            name, place, (self._asked(properties, place),),
            server_group=self._collected(self._hinted, properties, place))

    def _group_of_servers(self, name: str, resource: dict,
                          place: str) -> Server | None:
        outer = written_out(resource, 'properties', place)
        around = join(place, 'properties')
        definition = written_out(outer, 'resource_def', around)
        kind = definition.get('type')
        if function_name(kind):
            raise InvalidDocument(
                join(around, 'resource_def', 'type'),
                'must be written out, not a function')
        if kind != SERVER:
            return None
        _check_made(resource, place)
        self._collected(self._check_removals, outer, around)
        count = self._collected(self._count, outer, around, default=1)
        index = self._collected(self._index, outer, around, default=_INDEX)
        place = join(around, 'resource_def')
        properties = written_out(definition, 'properties', place)
        place = join(place, 'properties')
        group = self._collected(self._hinted, properties, place)
        each = self._asked(properties, place)
        asked = [each.at_index(index, i) for i in range(count)]
        if len(set(asked)) == 1:
            asked = asked[:1]
        return Server(name, place, tuple(asked), count, index, group)

    def _count(self, outer: dict, place: str) -> int:
        count = self._value(outer, 'count', place)
        count = 1 if count is None else _whole(count, join(place, 'count'), 0)
        if count > MAX_MEMBERS:
            raise InvalidDocument(join(place, 'count'),
                                  f'must be at most {MAX_MEMBERS}')
        return count

    def _check_removals(self, outer: dict, place: str) -> None:
        """Named for removal, an index is left out of those that servers get.
        """
        policies = self._value(outer, 'removal_policies', place) or []
        for i, policy in enumerate(
                policies if isinstance(policies, list) else [policies]):
            if not isinstance(policy, dict) or policy.get('resource_list'):
                raise InvalidDocument(
                    join(place, 'removal_policies', i),
                    'servers named for removal are not supported')

    def _index(self, outer: dict, place: str) -> str:
        index = self._value(outer, 'index_var', place)
        index = _INDEX if index is None else index
        if not isinstance(index, str) or len(index) < _SHORTEST_INDEX:
            raise InvalidDocument(
                join(place, 'index_var'), 'must be text of at least '
                f'{_SHORTEST_INDEX} characters')
        return index

    def _asked(self, properties: dict, place: str) -> ServerRequest:
        boot = read_boot(properties, self._resolver, place)
        return ServerRequest(
            self._collected(self._flavor, properties, place,
                            default=_UNREADABLE.flavor),
            self._collected(self._zone, properties, place),
            boot.image, boot.volume,
            self._collected(self._outer_group, properties, place))

    def _flavor(self, properties: dict, place: str) -> str:
        flavor = _text(self._value(properties, 'flavor', place),
                       join(place, 'flavor'))
        if not flavor:
            raise InvalidDocument(join(place, 'flavor'), 'is missing')
        return flavor

    def _zone(self, properties: dict, place: str) -> str | None:
        zone = _text(self._value(properties, 'availability_zone', place),
                     join(place, 'availability_zone'))
        if zone and ':' in zone:
            raise InvalidDocument(
                join(place, 'availability_zone'),
                f'{brief(zone)} forces a host, which a plan cannot keep; '
                'state a location at the member')
        return zone or None

    def _collected(self, read: Callable[[dict, str], T], properties: dict,
                   place: str, default: T | None = None) -> T | None:
        """What the function reads; the default after a mistake, which is
        collected."""
        with self._resolver.mistakes.collected():
            return read(properties, place)
        return default

    def _outer_group(self, properties: dict, place: str) -> str | None:
        """The UUID of a server group outside the template."""
        hints = written_out(properties, 'scheduler_hints', place)
        place = join(place, 'scheduler_hints', 'group')
        group = hints.get('group')
        if group is None or function_name(group) == 'get_resource':
            return None
        group = self._resolver.value(group, place)
        if not isinstance(group, str) or not re.fullmatch(
                common.UUID['pattern'], group):
            raise InvalidDocument(
                place, 'must be {get_resource: …}, or the UUID of a server '
                f'group, not {brief(group)}')
        return group

    def _hinted(self, properties: dict, place: str) -> str | None:
        """The server group of the template that the scheduler hints name."""
        hints = written_out(properties, 'scheduler_hints', place)
        place = join(place, 'scheduler_hints')
        for hint in (GROUP_HINT, MEMBER_HINT):
            if hint in hints:
                raise InvalidDocument(
                    join(place, hint), 'is reserved for the pointer to the '
                    'member, which nova-holistic adds')
        group = hints.get('group')
        if group is None:
            return None
        if function_name(group) != 'get_resource':
            return None
        place = join(place, 'group')
        name = group['get_resource']
        found = self._resources.get(name) if isinstance(name, str) else None
        if found is None or found['type'] != SERVER_GROUP:
            similar = did_you_mean(name if isinstance(name, str) else '', (
                each for each, resource in self._resources.items()
                if resource['type'] == SERVER_GROUP))
            raise InvalidDocument(
                place, f'{brief(name)} is not an {SERVER_GROUP} of the '
                       f'template{similar}')
        return name

    def _value(self, properties: dict, key: str, place: str) -> Any:
        return self._resolver.value(properties.get(key), join(place, key))


def written_out(around: Mapping[str, Any], key: str,
                place: str) -> dict[str, Any]:
    """A mapping that is in the template itself; absent, it is empty.

    If pointers are added, or if servers are derived from other resources, a
    function cannot replace the whole value.
    """
    value = around.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict) or function_name(value):
        name = function_name(value)
        shown = f'function {name}' if name else brief(value)
        raise InvalidDocument(
            join(place, key), f'must be a mapping written out, not {shown}')
    return value


def _similar_policy(policies: Any) -> str:
    if not isinstance(policies, list) or len(policies) != 1 or not isinstance(
            policies[0], str):
        return ''
    return did_you_mean(policies[0], _POLICIES)


def _check_made(resource: dict, place: str) -> None:
    """Refuse what may not be created with the stack."""
    for key, message in (
            ('condition', 'conditions are not supported for planned servers'),
            ('external_id', 'an existing resource cannot be planned')):
        if resource.get(key) is not None:
            raise InvalidDocument(join(place, key), message)


def _text(value: Any, place: str) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise InvalidDocument(
            place, f'must be text of at most {_LONGEST} characters, not '
            f'{brief(value)}')
    return value


def _whole(value: Any, place: str, least: int) -> int:
    # Heat takes a number for an integer wherever it can.
    if isinstance(value, str) and value.isdecimal() and len(value) <= 10:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidDocument(
            place, f'must be a whole number, at least {least}, not '
            f'{brief(value)}')
    return value

# SPDX-License-Identifier: Apache-2.0
"""Reads servers and server groups of a template. Only Heat reads all other
resources."""

from collections.abc import Callable, Mapping
import re
from typing import Any, TypeVar

from nova_holistic.documents.hot.boot_source import read_boot
from nova_holistic.documents.hot.functions import function_name, Resolver
from nova_holistic.documents.hot.nested_resources import (
    RESOURCE_GROUP, SCALING_GROUP)
from nova_holistic.documents.hot import resource_values
from nova_holistic.documents.hot.resource_values import (
    check_made, INDEX, text, whole, written_out)
from nova_holistic.documents.hot.server_resource import Server, ServerRequest
from nova_holistic.documents.hot.template_files import TemplateSource
from nova_holistic.documents.schemas import common
from nova_holistic.documents.schemas.group import MAX_MEMBERS
from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.messages.suggestion import did_you_mean
from nova_holistic.model.nova.pointer_hints import GROUP_HINT, MEMBER_HINT

T = TypeVar('T')

SERVER = 'OS::Nova::Server'
SERVER_GROUP = 'OS::Nova::ServerGroup'
_UNREADABLE = ServerRequest('unknown', None)
"""The requirements of a server with mistakes."""
_POLICIES = ('affinity', 'anti-affinity', 'soft-affinity',
             'soft-anti-affinity')


class Resources:
    """Reads resources with their positions."""

    def __init__(self, resources: Mapping[str, Any], resolver: Resolver,
                 source: TemplateSource):
        self._resources = resources
        self._resolver = resolver
        self._source = source

    def servers(self) -> dict[str, Server]:
        """The servers by name, in the order of the template. Mistakes are
        collected."""
        readers = {SERVER: self._server,
                   RESOURCE_GROUP: self._group_of_servers,
                   SCALING_GROUP: self._scaling_group}
        found, total = {}, 0
        for name, resource in self._resources.items():
            place, server = join('resources', name), None
            with self._resolver.mistakes.collected():
                kind = self._source.type_of(
                    resource['type'], join(place, 'type'), name)
                reader = readers.get(kind) if isinstance(kind, str) else None
                if reader is not None:
                    # The name stands for a server even if it has mistakes.
                    server = Server(name, place, (_UNREADABLE,))
                    server = reader(name, resource, place)
            if server is not None:
                found[name] = server
                total += server.number
            if total > MAX_MEMBERS:
                raise InvalidDocument(
                    place, f'more than {MAX_MEMBERS} servers')
        return found

    def server_group(self, name: str) -> dict[str, Any]:
        """The policy of an OS::Nova::ServerGroup in the terms of group
        documents."""
        resource, place = self._resources[name], join('resources', name)
        check_made(resource, place)
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
            policy['max_per_domain'] = whole(
                most, join(place, 'rules', 'max_server_per_host'), 1)
        return policy

    def _server(self, name: str, resource: dict, place: str) -> Server:
        check_made(resource, place)
        properties = written_out(resource, 'properties', place)
        place = join(place, 'properties')
        return Server(
            name, place, (self._server_request(properties, place),),
            server_group=self._collected(self._hinted, properties, place))

    def _group_of_servers(self, name: str, resource: dict,
                          place: str) -> Server | None:
        outer = self._outer(resource, place, 'resource_def')
        if outer is None:
            return None
        around = join(place, 'properties')
        self._collected(self._removals, outer, around)
        count = self._collected(self._count, outer, around, default=1)
        index = self._collected(self._index, outer, around, default=INDEX)
        each, place, group = self._inner(outer, 'resource_def', around)
        server_requests = [each.at_index(index, i) for i in range(count)]
        if len(set(server_requests)) == 1:
            server_requests = server_requests[:1]
        return Server(name, place, tuple(server_requests), count, index, group)

    def _scaling_group(self, name: str, resource: dict,
                       place: str) -> Server | None:
        outer = self._outer(resource, place, 'resource')
        if outer is None:
            return None
        around = join(place, 'properties')
        each, place, group = self._inner(outer, 'resource', around)
        return Server(
            name, place, (each,), server_group=group,
            elastic=resource_values.elastic(outer, self._resolver, around))

    def _outer(self, resource: dict, place: str, key: str) -> dict | None:
        """The properties of a group of servers; None if it is a group of
        other resources.

        :param key: of the resource of which there are several
        """
        outer = written_out(resource, 'properties', place)
        around = join(place, 'properties')
        if self._type(written_out(outer, key, around), join(
                around, key)) != SERVER:
            return None
        check_made(resource, place)
        return outer

    def _inner(self, outer: dict, key: str, around: str
               ) -> tuple[ServerRequest, str, str | None]:
        """The servers of a group of resources: their requirements, the place
        of their properties, and their server group."""
        place = join(around, key)
        properties = written_out(outer[key], 'properties', place)
        place = join(place, 'properties')
        group = self._collected(self._hinted, properties, place)
        return self._server_request(properties, place), place, group

    def _type(self, definition: dict, place: str) -> Any:
        kind = definition.get('type')
        if function_name(kind):
            raise InvalidDocument(
                join(place, 'type'), 'must be written out, not a function')
        return self._source.type_of(kind, join(place, 'type'))

    def _count(self, outer: dict, place: str) -> int:
        return resource_values.count(outer, self._resolver, place)

    def _index(self, outer: dict, place: str) -> str:
        return resource_values.index_variable(outer, self._resolver, place)

    def _removals(self, outer: dict, place: str) -> None:
        resource_values.check_removals(outer, self._resolver, place)

    def _server_request(self, properties: dict, place: str) -> ServerRequest:
        boot = read_boot(properties, self._resolver, place)
        return ServerRequest(
            self._collected(self._flavor, properties, place,
                            default=_UNREADABLE.flavor),
            self._collected(self._zone, properties, place),
            boot.image, boot.volume,
            self._collected(self._outer_group, properties, place))

    def _flavor(self, properties: dict, place: str) -> str:
        flavor = text(self._value(properties, 'flavor', place),
                      join(place, 'flavor'))
        if not flavor:
            raise InvalidDocument(place, 'flavor is missing')
        return flavor

    def _zone(self, properties: dict, place: str) -> str | None:
        zone = text(self._value(properties, 'availability_zone', place),
                    join(place, 'availability_zone'))
        if zone and ':' in zone:
            raise InvalidDocument(
                join(place, 'availability_zone'),
                f'{brief(zone)} forces a host, which may contradict the plan; '
                'use the key location of the member')
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
        if not isinstance(name, str) or not self._is_server_group(name):
            similar = did_you_mean(
                name if isinstance(name, str) else '',
                filter(self._is_server_group, self._resources))
            raise InvalidDocument(
                place, f'{brief(name)} is not an {SERVER_GROUP} of the '
                       f'template{similar}')
        return name

    def _is_server_group(self, name: str) -> bool:
        """Whether a resource is a server group, or replaces one."""
        kind = self._resources.get(name, {}).get('type')
        return SERVER_GROUP in (kind, self._source.type_of(
            kind, join('resources', name, 'type'), name))

    def _value(self, properties: dict, key: str, place: str) -> Any:
        return self._resolver.value(properties.get(key), join(place, key))


def _similar_policy(policies: Any) -> str:
    if not isinstance(policies, list) or len(policies) != 1 or not isinstance(
            policies[0], str):
        return ''
    return did_you_mean(policies[0], _POLICIES)

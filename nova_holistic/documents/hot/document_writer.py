# SPDX-License-Identifier: Apache-2.0
"""Writes each part of the group document with its position in the template.

The template itself is the top-level group. A server that is in no entry of
``groups`` is its direct member, so that all servers are planned together. A
server group becomes a nested group with its resource's name, and so does an
OS::Heat::ResourceGroup whose servers differ.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from nova_holistic.documents.hot.group_entries import GroupEntry
from nova_holistic.documents.hot.membership import Membership, TOP
from nova_holistic.documents.hot.nested_stack import NestedStack
from nova_holistic.documents.hot.parameters import STACK_NAME
from nova_holistic.documents.hot.resources import Resources
from nova_holistic.documents.hot.server_resource import Server, ServerRequest
from nova_holistic.documents.hot.source_places import SourcePlaces
from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument, Mistakes
from nova_holistic.model.stack_rules import StackRule


class DocumentWriter:
    """Writes one group document.

    :ivar places: positions in the document, with those in the template
    :ivar pointers: path of each resource's servers, with the index variable
    :ivar rules: rules that map the servers of the stack to members
    """

    def __init__(self, resources: Resources,
                 servers: dict[str, Server | NestedStack],
                 membership: Membership, mistakes: Mistakes):
        """
        :param mistakes: receives the mistakes of all parts
        """
        self._resources = resources
        self._mistakes = mistakes
        self._servers = servers
        self._membership = membership
        # The paths of servers in entries, with the paths that the servers
        # have.
        self._moved: dict[str, str] = {}
        self.places = SourcePlaces()
        self.pointers: dict[str, str] = {}
        self.rules: list[StackRule] = []

    def top(self, name: str, entries: Sequence[GroupEntry]) -> dict[str, Any]:
        self.places.add('name', join('parameters', STACK_NAME))
        document = {'name': name}
        self._fill(document, '', '', self._membership.at(TOP), entries)
        return document

    def _fill(self, document: dict, place: str, prefix: str,
              names: Sequence[str], entries: Sequence[GroupEntry]) -> None:
        """
        :param place: position of the group in the document
        :param prefix: path of the group; '' or ends with a slash
        """
        for name in names:
            found = self._servers.get(name)
            if isinstance(found, NestedStack):
                self._nested(found, document, place, prefix)
            elif found is not None:
                self._server(found, document, place, prefix, prefix)
            else:
                self._server_group(name, document, place, prefix)
        for entry in entries:
            self._entry(entry, document, place, prefix)
        self._check_names(document, place)

    def _entry(self, entry: GroupEntry, around: dict, place: str,
               prefix: str) -> None:
        document = {'name': entry.name, **entry.rules}
        place = _add(around, 'groups', document, place)
        self.places.add(place, entry.place)
        self.places.add(join(place, 'name'), entry.place)
        prefix = f'{prefix}{entry.name}/'
        self._fill(document, place, prefix, self._membership.at(entry.place),
                   entry.groups)
        if 'relationships' in document:
            document['relationships'] = [
                self._followed(r, prefix) for r in document['relationships']]

    def _server_group(self, name: str, around: dict, place: str,
                      prefix: str) -> None:
        servers = self._membership.inside[name]
        if not any(server.asked for server in servers):
            return
        origin = join('resources', name)
        document = {'name': name, 'policies': []}
        with self._mistakes.collected():
            document['policies'].append(self._resources.server_group(name))
        place = _add(around, 'groups', document, place)
        self.places.add(place, origin)
        self.places.add(join(place, 'name'), origin)
        self.places.add(join(place, 'policies'),
                        join(origin, 'properties', 'policies'))
        for server in servers:
            self._server(server, document, place, f'{prefix}{name}/', prefix)
        self._check_names(document, place)

    def _nested(self, stack: NestedStack, around: dict, place: str,
                prefix: str) -> None:
        if self._membership.keys(stack.name):
            self._mistakes.add(InvalidDocument(
                self._membership.place(stack.name), 'an entry for a nested '
                'stack cannot have other keys'))
        place = _add(around, 'groups', {'name': stack.name, **stack.parts},
                     place)
        self.places.add(place, stack.use.place)
        self.places.add(join(place, 'name'), join('resources', stack.name))
        self.places.copy(place, stack)
        self.pointers[stack.name] = stack.inside(prefix + stack.name)
        self.rules += stack.rules(prefix + stack.name)

    def _server(self, server: Server, document: dict, place: str,
                prefix: str, home: str) -> None:
        """:param home: position of the entry that contains the server"""
        if server.asked and not server.has_equal_servers:
            around, document = document, {'name': server.name}
            place = _add(around, 'groups', document, place)
            prefix += f'{server.name}/'
            self._trace(place, server)
            for i, request in enumerate(server.asked):
                self._member(server, request, {'name': f'{server.name}-{i}'},
                             document, place)
            self._moved[home + server.name] = prefix[:-1]
        elif server.asked:
            self._member(server, server.asked[0],
                         {'name': server.name, **server.counted}, document,
                         place)
            self._moved[home + server.name] = prefix + server.name
        for i in range(server.count or 0):
            name = f'{server.name}-{i}'
            self._moved[home + name] = prefix + name
        with self._mistakes.collected():
            pointer = self._pointer(server, prefix)
            self.pointers[server.name] = pointer
            if server.asked:
                self.rules += server.rules(pointer)

    def _member(self, server: Server, request: ServerRequest, head: dict,
                document: dict, place: str) -> None:
        keys = self._membership.keys(server.name)
        if 'count' in keys:
            keys = {**keys, 'count': self._bounds(server, keys['count'])}
        place = _add(document, 'members',
                     {**head, **request.keys(), **keys}, place)
        self._trace(place, server)
        for key in keys:
            self.places.add(
                join(place, key),
                join(self._membership.place(server.name), key))

    def _bounds(self, server: Server, count: Mapping[str, Any]
                ) -> Mapping[str, Any]:
        """The count of a resource whose number of servers may change."""
        place = join(self._membership.place(server.name), 'count')
        if server.count is None or not server.has_equal_servers:
            raise InvalidDocument(
                place, 'is for an OS::Heat::ResourceGroup whose servers are '
                'equal')
        if count.get('desired', server.count) != server.count:
            raise InvalidDocument(
                join(place, 'desired'), f'the count of resource '
                f'{brief(server.name)} is {server.count}')
        return {**count, 'desired': server.count}

    def _trace(self, place: str, server: Server) -> None:
        origin = join('resources', server.name)
        self.places.add(place, server.properties)
        self.places.add(join(place, 'name'), origin)
        self.places.add(join(place, 'count'),
                        join(origin, 'properties', 'count'))

    def _pointer(self, server: Server, prefix: str) -> str:
        pointer = prefix + server.leaf
        if server.count is not None and pointer.count(server.index_var) != 1:
            raise InvalidDocument(
                join('resources', server.name, 'properties', 'index_var'),
                f'{brief(server.index_var)} is also in the path '
                f'{brief(prefix + server.name)}')
        return pointer

    def _followed(self, relationship: Any, prefix: str) -> Any:
        """The relationship with the current paths of its sides."""
        if not isinstance(relationship, dict):
            return relationship
        between = relationship.get('between')
        if not isinstance(between, list):
            return relationship
        return {**relationship, 'between': [
            self._moved.get(prefix + side, prefix + side)[len(prefix):]
            if isinstance(side, str) else side for side in between]}

    def _check_names(self, document: dict, place: str) -> None:
        """Check that no two parts of the group have the same name."""
        taken: dict[str, str] = {}
        for key in ('members', 'groups'):
            for i, part in enumerate(document.get(key, ())):
                origin = self.places.origin(join(place, key, i, 'name'))
                name = part['name']
                names = [name] if isinstance(name, str) else []
                names += [f'{name}-{n}' for n in range(_most(part))]
                for name in names:
                    if name in taken:
                        self._mistakes.add(InvalidDocument(
                            origin, f'{brief(name)} is already a name at '
                            f'{taken[name]}'))
                taken.update(dict.fromkeys(names, origin))


def _most(part: Mapping[str, Any]) -> int:
    """The maximum number of servers of a member, if they are numbered."""
    count = part.get('count', 0)
    return (count if isinstance(count, int)
            else count.get('max', count['desired']))


def _add(document: dict, key: str, part: dict, place: str) -> str:
    """Append a part to one of the group's lists; returns its position."""
    parts = document.setdefault(key, [])
    parts.append(part)
    return join(place, key, len(parts) - 1)

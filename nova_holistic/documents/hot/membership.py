# SPDX-License-Identifier: Apache-2.0
"""Assigns every server and every server group to one group, or to the top
level."""

from collections.abc import Iterable, Mapping
from typing import Any

from nova_holistic.documents.hot.group_entries import GroupEntry, NamedResource
from nova_holistic.documents.hot.nested_stack import NestedStack
from nova_holistic.documents.hot.resources import RESOURCE_GROUP, SERVER_GROUP
from nova_holistic.documents.hot.server_resource import Server
from nova_holistic.documents.validation import brief
from nova_holistic.exceptions import InvalidDocument, Mistakes
from nova_holistic.model.messages.suggestion import did_you_mean

TOP = ''
"""Value for servers that no entry names. All other servers have the position
of an entry."""


class Membership:
    """The group of every server and server group.

    A server group belongs to the group of its servers, or to the group that
    names it.

    :ivar inside: servers of each non-empty server group
    """

    def __init__(self, entries: Iterable[GroupEntry],
                 resources: Mapping[str, Any],
                 servers: Mapping[str, Server | NestedStack],
                 mistakes: Mistakes):
        """
        :param mistakes: receives the mistakes: an entry names a resource that
            cannot be a member, or names it a second time
        """
        self._servers = servers
        self._mistakes = mistakes
        self._entries: dict[str, NamedResource] = {}
        self._homes: dict[str, str] = {}
        self._order: dict[str, list[str]] = {}
        self.inside: dict[str, list[Server]] = {}
        for server in servers.values():
            if server.server_group is not None:
                self.inside.setdefault(server.server_group, []).append(server)
        for entry in entries:
            for nested in entry.all():
                self._name(nested, resources)
        for group, members in self.inside.items():
            with mistakes.collected():
                self._check_together(group, members)
        self._order[TOP] = [
            s.name for s in servers.values()
            if s.name not in self._homes and s.server_group not in self._homes]

    def keys(self, server: str) -> Mapping[str, Any]:
        """The keys of an entry other than the name of the server."""
        return self._entries[server].keys if server in self._entries else {}

    def place(self, server: str) -> str:
        """The position of the entry that names the server; empty if none
        does."""
        return self._entries[server].place if server in self._entries else ''

    def at(self, home: str) -> list[str]:
        """Names of the servers and server groups in this group, in the order
        in which the entries name them; at the top level, in the order of the
        template."""
        found = {}
        for name in self._order.get(home, ()):
            server = self._servers.get(name)
            found[server and server.server_group or name] = None
        return list(found)

    def _name(self, entry: GroupEntry, resources: Mapping[str, Any]) -> None:
        for named in entry.members:
            with self._mistakes.collected():
                self._check(named, resources)
                name = named.resource
                self._entries[name] = named
                self._homes[name] = entry.place
                self._order.setdefault(entry.place, []).append(name)

    def _check(self, named: NamedResource,
               resources: Mapping[str, Any]) -> None:
        name = named.resource
        if name in self._entries:
            raise InvalidDocument(
                named.place, f'resource {brief(name)} is already a member, '
                f'at {self._entries[name].place}')
        if name not in resources:
            raise InvalidDocument(
                named.place, f'no resource {brief(name)}'
                f'{did_you_mean(name, resources)}')
        if name not in self._servers:
            self._check_server_group(named, resources[name]['type'])

    def _check_server_group(self, named: NamedResource, kind: str) -> None:
        if kind != SERVER_GROUP and named.resource not in self.inside:
            of_servers = kind == RESOURCE_GROUP
            raise InvalidDocument(
                named.place, f'resource {brief(named.resource)} is of type '
                f'{brief(kind)}{" without servers" if of_servers else ""}, '
                'which cannot be placed')
        if named.resource not in self.inside:
            raise InvalidDocument(
                named.place,
                f'no server is in server group {brief(named.resource)}')
        if named.keys:
            raise InvalidDocument(
                named.place, 'an entry for a server group cannot have other '
                'keys; name its servers instead')

    def _check_together(self, group: str, members: list[Server]) -> None:
        """Check that a server group is in one group as a whole."""
        listed = [s.name for s in members if s.name in self._entries]
        if group in self._entries and listed:
            raise InvalidDocument(
                self.place(listed[0]), f'{brief(listed[0])} is a member '
                f'already, in server group {brief(group)} at '
                f'{self.place(group)}')
        homes = {s.name: self._homes.get(s.name, TOP) for s in members}
        for name in homes if listed else ():
            if homes[name] != homes[listed[0]]:
                raise InvalidDocument(
                    self.place(listed[0]), f'server group {brief(group)}, '
                    f'which contains {brief(listed[0])}, also has '
                    f'{brief(name)}, which is not a member of this group')

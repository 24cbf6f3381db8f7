# SPDX-License-Identifier: Apache-2.0
"""The part of a resource with servers that determines the placement."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from nova_holistic.model.stack_rules import StackRule


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """The requirements of one server, in the terms of a member of a group
    document.

    :ivar image: None if the server has none, or if it is known only when the
        stack is created
    :ivar server_group: UUID of a server group outside the template
    """

    flavor: str
    availability_zone: str | None
    image: str | None = None
    boot_from_volume: bool = False
    server_group: str | None = None

    def keys(self) -> dict[str, Any]:
        """The description of the server."""
        found = {'flavor': self.flavor,
                 'availability_zone': self.availability_zone,
                 'image': self.image,
                 'boot_from_volume': self.boot_from_volume or None,
                 'server_group': self.server_group}
        return {key: value for key, value in found.items()
                if value is not None}

    def at_index(self, index_var: str, index: int) -> 'ServerRequest':
        """The requirements of the server with that index."""
        return replace(self, **{
            name: value.replace(index_var, str(index))
            for name in ('flavor', 'availability_zone', 'image')
            for value in [getattr(self, name)] if value is not None})


@dataclass(frozen=True, slots=True)
class Server:
    """An OS::Nova::Server, or a ResourceGroup or AutoScalingGroup of them.

    :ivar name: of the resource
    :ivar properties: place in the template of the server's properties
    :ivar asked: the requirements of each server; a single value if all are
        equal, none if the count is 0
    :ivar count: number of servers; None for a single server with the plain
        name
    :ivar index_var: text that Heat replaces by a server's index
    :ivar server_group: name of the OS::Nova::ServerGroup that it is in
    :ivar elastic: ``count`` of the member if an OS::Heat::AutoScalingGroup
        creates the servers
    """

    name: str
    properties: str
    asked: tuple[ServerRequest, ...]
    count: int | None = None
    index_var: str = ''
    server_group: str | None = None
    elastic: Mapping[str, int] | None = None

    @property
    def number(self) -> int:
        """The maximum number of servers."""
        if self.elastic is not None:
            return self.elastic['max']
        return 1 if self.count is None else self.count

    @property
    def counted(self) -> dict[str, Any]:
        """The ``count`` of the member, if it has one."""
        count = self.count if self.elastic is None else dict(self.elastic)
        return {} if count is None else {'count': count}

    @property
    def has_equal_servers(self) -> bool:
        """Whether all servers have the same requirements."""
        return len(self.asked) == 1

    @property
    def leaf(self) -> str:
        """The last name in the path of each server, in the syntax of its
        resource."""
        if self.count is None:
            return self.name
        return f'{self.name}-{self.index_var}'

    def rules(self, path: str) -> list[StackRule]:
        """:param path: path of each server, with the index variable"""
        if self.elastic is not None:
            return [StackRule(f'{self.name}/*', path)]
        if self.count is None:
            return [StackRule(self.name, path)]
        return [StackRule(f'{self.name}/*',
                          path.replace(self.index_var, '*'))]

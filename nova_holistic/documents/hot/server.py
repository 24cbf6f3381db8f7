# SPDX-License-Identifier: Apache-2.0
"""A resource of which servers are made, as far as placement cares."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    """What one server asks for, as a member of a group document says it."""

    flavor: str
    availability_zone: str | None

    def keys(self) -> dict[str, Any]:
        zone = self.availability_zone
        return {'flavor': self.flavor,
                **({'availability_zone': zone} if zone is not None else {})}


@dataclass(frozen=True, slots=True)
class Server:
    """An OS::Nova::Server, or an OS::Heat::ResourceGroup of them.

    :ivar name: of the resource
    :ivar properties: place in the template of the server's properties
    :ivar asked: what each server asks for; a single value where all are
        alike, none where the count is 0
    :ivar count: number of servers; None for one that bears the plain name
    :ivar index_var: text that Heat replaces by a server's index
    :ivar server_group: name of the OS::Nova::ServerGroup that it is in
    """

    name: str
    properties: str
    asked: tuple[Asked, ...]
    count: int | None = None
    index_var: str = ''
    server_group: str | None = None

    @property
    def alike(self) -> bool:
        return len(self.asked) == 1

    @property
    def leaf(self) -> str:
        """Last name in the path of each server, as its resource can say it."""
        if self.count is None:
            return self.name
        return f'{self.name}-{self.index_var}'

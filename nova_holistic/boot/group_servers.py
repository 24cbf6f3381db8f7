# SPDX-License-Identifier: Apache-2.0
"""The servers of one group: their create requests, and the existing servers in
Nova."""

from collections.abc import Mapping, Sequence
import threading
from typing import Any

from nova_holistic.boot.errors import CreateRefused
from nova_holistic.boot.user_servers import UserServers
from nova_holistic.documents.servers.create_request import (
    create_body, member_description, MemberServer, pointer_metadata)
from nova_holistic.documents.servers.server import KEY
from nova_holistic.table.records import GroupRecord


class GroupServers:
    """Threads may share an instance."""

    def __init__(self, nova: UserServers, group: GroupRecord):
        self.nova = nova
        self._group = group
        self._flavors: dict[str, str] = {}
        self._lock = threading.Lock()

    def create(self, path: str) -> str:
        """Create the server of a member.

        :returns: the UUID of the server
        :raises CreateRefused: there is no new server
        """
        return self.nova.create(self._body(path))

    def find(self, path: str) -> Sequence[str]:
        """UUIDs of the servers that were created as a member; servers in ERROR
        come last."""
        metadata = pointer_metadata(self._group.uuid, path).items()
        return [server.uuid for server in self.nova.of_group(self._group.uuid)
                if metadata <= server.metadata.items()]

    def _body(self, path: str) -> Mapping[str, Any]:
        description = member_description(self._group.document, path)
        if description is None or KEY not in description:
            raise CreateRefused(
                f'the description of the member has no key {KEY}')
        server = MemberServer(
            self._group.uuid, self._group.name, path, description)
        return create_body(server, self._flavor_id(server.flavor))

    def _flavor_id(self, name: str) -> str:
        with self._lock:
            if name not in self._flavors:
                flavor_id = self.nova.flavor_id(name)
                if flavor_id is None:
                    raise CreateRefused(f'there is no flavor {name}')
                self._flavors[name] = flavor_id
            return self._flavors[name]

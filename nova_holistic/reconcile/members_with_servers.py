# SPDX-License-Identifier: Apache-2.0
"""Members with servers, as they change."""

from collections.abc import Collection, Iterator

from nova_holistic.table.changes.claim import OWNED
from nova_holistic.table.queries.outline_index import Outlines
from nova_holistic.table.queries.overview import ACTIVE, MemberOutline
from nova_holistic.table.records import MemberState

WITH_SERVER = (*OWNED, MemberState.FAILED)
"""States of a member with a server."""


class MembersWithServers:
    """The members with a server in active groups, by the UUID of the server.
    Only one caller may use it at a time."""

    def __init__(self) -> None:
        self.by_server: dict[str, MemberOutline] = {}
        self._outlines = Outlines()

    def follow(self, outlines: Outlines) -> set[str]:
        """Apply the changes since the previous call.

        :param outlines: the result of a later read than in the previous call
        :returns: UUIDs of the servers with another member than before, with a
            changed member, or without a member now
        """
        changed = outlines.changed_since(self._outlines)
        before = dict(_servers(self._outlines, changed))
        after = dict(_servers(outlines, changed))
        self._outlines = outlines
        servers = {uuid for uuid in before.keys() | after.keys()
                   if before.get(uuid) != after.get(uuid)}
        for uuid in servers:
            if uuid in after:
                self.by_server[uuid] = after[uuid]
            elif self.by_server.get(uuid) == before[uuid]:
                del self.by_server[uuid]
        return servers

    def outside(self, projects: Collection[str]) -> int:
        """Number of the members whose groups do not belong to these
        projects."""
        if not projects:
            return len(self.by_server)
        groups = self._outlines.groups
        return sum(groups[member.group_uuid].project_id not in projects
                   for member in self.by_server.values())

    def project(self, server: str) -> str:
        """The project of the group to which the member of a server belongs."""
        return self._outlines.groups[
            self.by_server[server].group_uuid].project_id


def _servers(outlines: Outlines, group_uuids: Collection[str]
             ) -> Iterator[tuple[str, MemberOutline]]:
    for group_uuid in group_uuids:
        for member in outlines.members(group_uuid, WITH_SERVER, ACTIVE):
            yield member.instance_uuid, member

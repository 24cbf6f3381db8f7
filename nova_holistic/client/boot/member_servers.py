# SPDX-License-Identifier: Apache-2.0
"""The server of each member of a group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nova_holistic.client.boot.compute import Compute, Server
from nova_holistic.client.groups import Groups
from nova_holistic.documents.servers.create_request import pointer_metadata

PLANNED = 'planned'
RELEASED = 'released'
_LAUNCHED_AT = 'OS-SRV-USG:launched_at'
"""Nova's key of the time when a server became active first."""


@dataclass(frozen=True, slots=True)
class MemberServers:
    """A member and its servers at one point in time.

    :ivar state: of the member
    :ivar server: the server that has the place of the member, or may get it;
        None if a server must be created
    :ivar surplus: UUIDs of servers that failed before they were active, and do
        not have the place
    """

    state: str
    server: str | None
    surplus: tuple[str, ...] = ()


def read_members(groups: Groups, compute: Compute,
                 group_uuid: str) -> Mapping[str, MemberServers]:
    """The members of the group, by path, with their servers.

    A server that has claimed its place is named by the placement. A server
    without a claim is found by its metadata. An interrupted client therefore
    does not create it again.
    """
    # The servers are read first: a server that claims its place after that
    # is in the placements.
    created: dict[str, list[Server]] = {}
    for server in compute.of_group(group_uuid):
        created.setdefault(_key(server['metadata']), []).append(server)
    return {place['member']: _servers(place, created.get(
        _key(pointer_metadata(group_uuid, place['member'])), ()))
        for place in groups.placements(group_uuid)}


def _servers(place: Mapping[str, Any],
             created: Sequence[Server]) -> MemberServers:
    claimed = place['instance_uuid']
    # A server that was active may have data, and may be detached.
    created = [server for server in created
               if server['status'] != 'ERROR' or not was_active(server)]
    if claimed is None:
        # Servers that may still get the place come before failed servers.
        created = sorted(
            created, key=lambda server: server['status'] == 'ERROR')
        claimed = created[0]['id'] if created else None
    return MemberServers(place['state'], claimed, tuple(
        server['id'] for server in created
        if server['id'] != claimed and server['status'] == 'ERROR'))


def was_active(server: Server) -> bool:
    """Whether the server has been active at any time."""
    return bool(server.get(_LAUNCHED_AT))


def _key(metadata: Mapping[str, str]) -> str:
    return '/'.join(metadata.get(key, '') for key in pointer_metadata('', ''))

# SPDX-License-Identifier: Apache-2.0
"""Deletes the servers that were created, after one of them has failed."""

from collections.abc import Callable

from nova_holistic.boot.member_boot import MemberBoots
from nova_holistic import crash_points
from nova_holistic.table.boot_records import BootServer, BootServerState


def roll_back(boots: MemberBoots, release: Callable[[str], object]) -> bool:
    """Delete all servers of a boot, and release the group.

    Servers that the user has created remain. A repeated call continues.

    :param release: releases a group
    :returns: False if it was interrupted
    :raises ServiceFailed: Nova does not answer; call again
    """
    progress = boots.progress
    group = progress.record.group_uuid
    rows = [row for row in progress.boots.servers(group) if row.tries]
    rows = [_with_server(boots, row) if _is_lost(row) else row for row in rows]
    created = [row for row in rows if row.server_uuid is not None]
    for row in created:
        boots.servers.nova.delete(row.server_uuid)
        crash_points.reached('boot.server-deleted')
    for row in created:
        if not boots.remove(row.server_uuid):
            return False
        progress.write_server(
            row, server_uuid=None,
            state=row.state if row.state == BootServerState.FAILED
            else BootServerState.DELETED)
    if boots.halt.is_set():
        return False
    release(group)
    crash_points.reached('boot.group-released')
    return True


def _with_server(boots: MemberBoots, row: BootServer) -> BootServer:
    """The row with the server that Nova has created; without one, the row of a
    server that no engine has created."""
    servers = boots.servers.find(row.path)
    if servers:
        return boots.progress.write_server(row, server_uuid=servers[0])
    if row.state == BootServerState.FAILED:
        return row
    return boots.progress.write_server(row, state=BootServerState.WAITING)


def _is_lost(row: BootServer) -> bool:
    """Whether Nova may have a server that no row names."""
    return row.server_uuid is None and row.state in (
        BootServerState.CREATING, BootServerState.FAILED)

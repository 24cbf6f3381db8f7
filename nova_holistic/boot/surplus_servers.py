# SPDX-License-Identifier: Apache-2.0
"""Deletes servers that were created for a member that has another server.

Two create requests can be sent for one member: Nova did not answer the first
one in time, or another engine continued because the first engine wrote no
heartbeat. Nova puts the second server in ERROR, because the member is taken.
"""

from collections.abc import Sequence
import time

from oslo_log import log as logging

from nova_holistic.boot.member_boot import BUILDING, MemberBoots
from nova_holistic.boot.user_servers import TaggedServer
from nova_holistic import crash_points
from nova_holistic.documents.servers.create_request import pointer_metadata

LOG = logging.getLogger(__name__)


def remove_surplus(boots: MemberBoots) -> None:
    """Delete the surplus servers that are in ERROR, and wait for the end of
    those that Nova is creating. A repeated call continues.

    :raises ServiceFailed: Nova does not answer; call again
    """
    group = boots.progress.record.group_uuid
    until = time.monotonic() + boots.settings.build_timeout
    while not boots.halt.is_set():
        surplus = _surplus(boots)
        for server in surplus:
            if server.status == 'ERROR':
                LOG.warning('Server %s of group %s is deleted: its member has '
                            'another server', server.uuid, group)
                boots.servers.nova.delete(server.uuid)
                crash_points.reached('boot.server-deleted')
        building = [server.uuid for server in surplus
                    if server.status in BUILDING]
        if not building:
            return
        if time.monotonic() > until:
            LOG.error('Nova is still creating servers of group %s whose '
                      'members have other servers. Delete them: %s', group,
                      ', '.join(building))
            return
        boots.halt.wait(boots.settings.poll_interval)


def _surplus(boots: MemberBoots) -> Sequence[TaggedServer]:
    """Servers that name a member of the boot and are not its server."""
    progress = boots.progress
    group = progress.record.group_uuid
    # The servers are read first: a server that becomes the member's after
    # that is in its row.
    servers = boots.servers.nova.of_group(group)
    rows = [row for row in progress.boots.servers(group)
            if row.tries and row.server_uuid is not None]
    own = {row.server_uuid for row in rows}
    unexpected = [server for server in servers if server.uuid not in own]
    return [] if not unexpected else [
        server for row in rows for server in unexpected
        if pointer_metadata(group, row.path).items() <= server.metadata.items()
        and not _is_member(boots, row.path, server.uuid)]


def _is_member(boots: MemberBoots, path: str, uuid: str) -> bool:
    member = boots.progress.boots.member(
        boots.progress.record.group_uuid, path)
    return member is not None and member.instance_uuid == uuid

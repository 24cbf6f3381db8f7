# SPDX-License-Identifier: Apache-2.0
"""Creates the server of one member, at most once at a time."""

from collections.abc import Callable
from dataclasses import dataclass, field
import threading
import time

from oslo_log import log as logging

from nova_holistic.boot.errors import CreateRefused, TooManyRequests
from nova_holistic.boot.group_servers import GroupServers
from nova_holistic.boot.progress import Progress
from nova_holistic.boot.user_servers import UserServer
from nova_holistic import crash_points, exceptions
from nova_holistic.engine.errors import OwnershipLost
from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.table.boot_records import BootServer, BootServerState
from nova_holistic.table.coordination.boots import BootMember
from nova_holistic.table.records import MemberState

LOG = logging.getLogger(__name__)

UNFINISHED = (BootServerState.WAITING, BootServerState.CREATING)
BUILDING = ('BUILD', 'UNKNOWN')
"""Statuses of a server that Nova is creating, or whose cell does not
answer."""
GONE = ('DELETED', 'SOFT_DELETED')


@dataclass(frozen=True, slots=True)
class Settings:
    """
    :ivar poll_interval, build_timeout, place_timeout: seconds, as in [boot]
    """

    poll_interval: float
    build_timeout: float
    place_timeout: float


@dataclass(frozen=True, slots=True)
class MemberBoots:
    """The members of one group. Threads share an instance.

    :ivar changed: reports that a server was created or deleted, so that its
        member is corrected soon
    :ivar halt: if it is set, no method begins a further step
    """

    progress: Progress
    servers: GroupServers
    changed: Callable[[str], None]
    settings: Settings
    halt: threading.Event = field(default_factory=threading.Event)

    def run(self, server: BootServer) -> BootServer:
        """Carry the creation of one server to its end, even if another engine
        has begun it.

        :returns: its row; unfinished only if ``halt`` is set
        :raises RightUnavailable: the service may not act for the user
        :raises ServiceFailed: Nova does not answer; call again
        """
        while server.state in UNFINISHED and not self.halt.is_set():
            if server.server_uuid is not None:
                server = self._follow(server)
            elif server.state == BootServerState.CREATING:
                server = self._recover(server)
            else:
                server = self._create(server)
        return server

    def _create(self, server: BootServer) -> BootServer:
        member, fault = self._place(server.path)
        if fault is not None:
            return self._end(server, fault)
        if member is None:
            return server
        if member.instance_uuid is not None:
            return self.progress.write_server(
                server, state=BootServerState.CREATING,
                server_uuid=member.instance_uuid,
                tries=self._own_tries(server, member.instance_uuid))
        # The intention is written first: an engine that finds the row in this
        # state searches for the server before it creates another one.
        server = self.progress.write_server(
            server, state=BootServerState.CREATING, tries=server.tries + 1)
        try:
            uuid = self.servers.create(server.path)
        except CreateRefused as error:
            # Nova may have carried out an earlier request in the meantime.
            uuids = self.servers.find(server.path)
            return (self._note(server, uuids[0]) if uuids
                    else self._end(server, str(error)))
        except TooManyRequests:
            # The engine repeats its work later. The request does not count as
            # an attempt.
            raise
        except ServiceFailed as error:
            LOG.warning('It is not known whether Nova has created the server '
                        'of member %s of group %s: %s', server.path,
                        self.progress.record.group_uuid, error)
            # Nova may still be processing the request.
            self.halt.wait(self.settings.poll_interval)
            return self._recover(server, str(error))
        crash_points.reached('boot.server-created')
        return self._note(server, uuid)

    def _own_tries(self, server: BootServer, uuid: str) -> int:
        """The number of attempts that may have created the server; 0 for a
        server that the user has created in the meantime."""
        own = server.tries and uuid in self.servers.find(server.path)
        return server.tries if own else 0

    def _recover(self, server: BootServer, fault: str = '') -> BootServer:
        """Find the server of a request whose result is not known."""
        group = self.progress.record.group_uuid
        member = self.progress.boots.member(group, server.path)
        uuids = self.servers.find(server.path)
        if member is not None and member.instance_uuid in uuids:
            return self._note(server, member.instance_uuid)
        if uuids:
            return self._note(server, uuids[0])
        if server.tries > self.progress.record.retries and fault:
            return self._end(server, fault)
        return self.progress.write_server(
            server, state=BootServerState.WAITING,
            tries=server.tries if fault else server.tries - 1)

    def _note(self, server: BootServer, uuid: str) -> BootServer:
        try:
            noted = self.progress.write_server(server, server_uuid=uuid)
        except OwnershipLost:
            self._drop_surplus(server.path, uuid)
            raise
        self.changed(uuid)
        return noted

    def _drop_surplus(self, path: str, uuid: str) -> None:
        """Another engine has created the server of the member, because this
        engine wrote no heartbeat for too long.

        If the other engine has not finished, it finds the surplus server.
        """
        group = self.progress.record.group_uuid
        row = next((server for server in self.progress.boots.servers(group)
                    if server.path == path), None)
        if row is not None and row.server_uuid not in (None, uuid):
            LOG.warning('Server %s of member %s of group %s is deleted: '
                        'another engine has created server %s', uuid, path,
                        group, row.server_uuid)
            try:
                self.servers.nova.delete(uuid)
            except exceptions.HolisticError as error:
                LOG.error('Server %s belongs to no member of group %s, and '
                          'could not be deleted. Delete it: %s', uuid, group,
                          error)

    def _follow(self, server: BootServer) -> BootServer:
        """Wait until Nova has created the server, or has failed."""
        until = time.monotonic() + self.settings.build_timeout
        while not self.halt.is_set():
            current = self._read(server.server_uuid)
            fault = _fault(current)
            if fault is None and current.status not in BUILDING:
                self.changed(current.uuid)
                return self.progress.write_server(
                    server, state=BootServerState.ACTIVE, fault=None)
            if fault is None and time.monotonic() > until:
                fault = (f'the server is not active after '
                         f'{self.settings.build_timeout} seconds')
            if fault is not None:
                return self._failed(server, fault)
            self.halt.wait(self.settings.poll_interval)
        return server

    def _failed(self, server: BootServer, fault: str) -> BootServer:
        """End the attempt, and begin another one if the request allows it."""
        self.changed(server.server_uuid)
        other = self._server_of_member(server)
        if other is not None:
            return self.progress.write_server(server, server_uuid=other)
        # This boot did not create a server without an attempt.
        if not 0 < server.tries <= self.progress.record.retries:
            return self._end(server, fault)
        LOG.info('Server %s of member %s of group %s is created again: %s',
                 server.server_uuid, server.path,
                 self.progress.record.group_uuid, fault)
        if not self.remove(server.server_uuid):
            return server
        until = time.monotonic() + self.settings.place_timeout
        while self._is_taken(server):
            if self.halt.is_set():
                return server
            if time.monotonic() > until:
                return self._end(server, f'{fault}; the capacity of the '
                                         'server is not held again')
            self.halt.wait(self.settings.poll_interval)
        return self.progress.write_server(
            server, state=BootServerState.WAITING, server_uuid=None,
            fault=fault)

    def remove(self, uuid: str) -> bool:
        """Delete a server; returns whether Nova no longer has it.

        :raises ServiceFailed: Nova has not deleted it in time; call again
        """
        until = time.monotonic() + self.settings.build_timeout
        self.servers.nova.delete(uuid)
        crash_points.reached('boot.server-deleted')
        while not self.halt.is_set():
            if _is_gone(self._read(uuid)):
                self.changed(uuid)
                return True
            if time.monotonic() > until:
                raise ServiceFailed('nova', f'/servers/{uuid}',
                                    'the server is not deleted')
            self.halt.wait(self.settings.poll_interval)
        return False

    def _place(self, path: str) -> tuple[BootMember | None, str | None]:
        """The member once a server can be created there; otherwise the fault,
        or nothing if ``halt`` is set."""
        until = time.monotonic() + self.settings.place_timeout
        while not self.halt.is_set():
            member = self.progress.boots.member(
                self.progress.record.group_uuid, path)
            if member is None:
                return None, 'the group no longer has the member'
            if self._is_usable(member):
                return member, None
            if member.state == MemberState.RELEASED:
                return None, 'the member is released'
            if time.monotonic() > until:
                return None, f'the member is {member.state}: it has no place'
            self.halt.wait(self.settings.poll_interval)
        return None, None

    def _is_usable(self, member: BootMember) -> bool:
        """Whether the member can have a server now, or has one."""
        if member.instance_uuid is None:
            return member.state == MemberState.PLANNED
        if not _is_gone(self._read(member.instance_uuid)):
            return True
        # Until the reconciler has noticed it, the member belongs to a server
        # that is deleted.
        self.changed(member.instance_uuid)
        return False

    def _is_taken(self, server: BootServer) -> bool:
        """Whether the member still belongs to its deleted server."""
        member = self.progress.boots.member(
            self.progress.record.group_uuid, server.path)
        return (member is not None
                and member.instance_uuid == server.server_uuid)

    def _server_of_member(self, server: BootServer) -> str | None:
        """The server of another create request, if it has claimed the
        member."""
        member = self.progress.boots.member(
            self.progress.record.group_uuid, server.path)
        uuid = member and member.instance_uuid
        if (not server.tries or uuid in (None, server.server_uuid)
                or uuid not in self.servers.find(server.path)):
            return None
        return uuid

    def _end(self, server: BootServer, fault: str) -> BootServer:
        LOG.warning('Server of member %s of group %s is not created: %s',
                    server.path, self.progress.record.group_uuid, fault)
        return self.progress.write_server(
            server, state=BootServerState.FAILED, fault=fault)

    def _read(self, uuid: str) -> UserServer | None:
        """The server as Nova shows it; in status BUILD if Nova does not
        answer."""
        try:
            return self.servers.nova.get(uuid)
        except ServiceFailed as error:
            LOG.warning('Server %s is read again later: %s', uuid, error)
            return UserServer(uuid, BUILDING[0])


def _is_gone(server: UserServer | None) -> bool:
    return server is None or server.status in GONE


def _fault(server: UserServer | None) -> str | None:
    """Why the attempt has failed; None if the server exists or is being
    created."""
    if _is_gone(server):
        return 'the server was deleted'
    if server.status == 'ERROR':
        return server.fault or 'Nova states no fault'
    return None

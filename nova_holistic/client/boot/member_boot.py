# SPDX-License-Identifier: Apache-2.0
"""Create the server of one member, and wait until it is active."""

from collections.abc import Callable, Iterator, Mapping
import threading
import time
from typing import Any

from nova_holistic.client.boot.compute import Compute, Server
from nova_holistic.client.boot.member_servers import (
    MemberServers, PLANNED, read_members, RELEASED, was_active)
from nova_holistic.client.boot.outcome import (
    AttemptFailed, Outcome, Settings, Stopped)
from nova_holistic.client.boot.server_states import ServerStates
from nova_holistic.client import errors
from nova_holistic.client.groups import Groups
from nova_holistic.documents.servers.create_request import (
    create_body, MemberServer)

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 5.0

Report = Callable[[str, str], None]


class MemberBoot:
    """Threads may share an instance.

    :ivar report: called with the path of a member and its new state
    :ivar stop: set when the user interrupts the boot
    """

    def __init__(self, groups: Groups, compute: Compute,
                 group: Mapping[str, Any], settings: Settings, report: Report):
        """
        :param group: the API's document
        """
        self._groups = groups
        self._compute = compute
        self._states = ServerStates(compute, group['id'])
        self._group = group
        self._settings = settings
        self.report = report
        self.stop = threading.Event()

    def boot(self, member: str, description: Mapping[str, Any],
             servers: MemberServers) -> Outcome:
        """Create the server, unless it exists.

        :param member: path
        :param servers: the servers of the member
        """
        request = MemberServer(self._group['id'], self._group['name'], member,
                               description)
        attempts, uuid = self._settings.retries + 1, servers.server
        while True:
            try:
                uuid = self._usable(member, servers)
                if uuid is None:
                    attempts -= 1
                    uuid = self._created(request)
                self.report(member, 'building')
                self._wait_until_active(uuid)
            except (AttemptFailed, errors.Refused) as error:
                if not attempts or getattr(error, 'final', True):
                    self.report(member, 'failed')
                    return Outcome(member, uuid, str(error))
                self.stop.wait(error.pause)
            else:
                self.report(member, 'active')
                return Outcome(member, uuid)
            servers = self._read(member)

    def _usable(self, member: str, servers: MemberServers) -> str | None:
        """A server that is active or may become active; None if the place of
        the member is held for a new one. Servers that failed before they were
        active are deleted.

        :raises AttemptFailed: the place is not held, or its server is in ERROR
            although it was active before
        """
        deleted = set()
        for _ in self._polls():
            server = servers.server and self._server(servers.server)
            if server and server['status'] != 'ERROR':
                return servers.server
            if server and was_active(server):
                raise AttemptFailed(
                    f'server {servers.server} is in ERROR, but was active '
                    'before: repair or delete it', final=True)
            if servers.state == RELEASED:
                break
            if servers.state == PLANNED and not servers.server:
                return None
            for uuid in {servers.server, *servers.surplus} - deleted - {None}:
                self.report(member, 'deleting')
                self._compute.delete(uuid)
                deleted.add(uuid)
            servers = self._read(member)
        raise AttemptFailed(
            f'the member is {servers.state}, so that no place is held for a '
            'server', final=True)

    def _created(self, request: MemberServer) -> str:
        """The UUID of a new server."""
        self.report(request.path, 'creating')
        try:
            flavor = self._compute.flavor_id(request.flavor)
            uuid = self._compute.create(create_body(request, flavor))
        except LookupError as error:
            raise AttemptFailed(str(error), final=True) from error
        except errors.Refused as error:
            # Nova may have accepted the request nevertheless, or an earlier
            # command has created the server.
            servers = self._read(request.path)
            if servers.server:
                return servers.server
            again = error.is_repeatable or servers.state != PLANNED
            raise AttemptFailed(
                str(error), final=not again,
                pause=self._pause_after(error)) from error
        self.stop.wait(_FIRST_PAUSE)
        return uuid

    def _pause_after(self, error: errors.Refused) -> float:
        """Seconds until Nova receives another create request after an
        error."""
        if not error.is_repeatable:
            return 0
        return min(max(_FIRST_PAUSE, error.retry_after),
                   self._settings.timeout)

    def _wait_until_active(self, uuid: str) -> None:
        """:raises AttemptFailed: the server has failed"""
        for _ in self._polls():
            server = self._server(uuid)
            if server is None:
                raise AttemptFailed('the server was deleted')
            if server['status'] == 'ERROR':
                fault = server.get('fault', {}).get('message')
                raise AttemptFailed(fault or 'the server is in ERROR')
            if server['status'] != 'BUILD':
                return
        raise AttemptFailed(
            f'the server is not active after {self._settings.timeout:g} s',
            final=True)

    def _read(self, member: str) -> MemberServers:
        members = self._with_retries(lambda: read_members(
            self._groups, self._compute, self._group['id']))
        return members.get(member) or MemberServers(RELEASED, None)

    def _server(self, uuid: str) -> Server | None:
        return self._with_retries(lambda: self._states.server(uuid))

    def _with_retries(self, ask: Callable[[], Any]) -> Any:
        """The answer of a service that may be unavailable for a while.

        :raises Refused: it is still unavailable after the timeout
        """
        for _ in self._polls():
            try:
                return ask()
            except errors.Refused as error:
                if not error.is_repeatable:
                    raise
                refused = error
        raise refused

    def _polls(self) -> Iterator[None]:
        """Moments at which a state is read, until the timeout.

        :raises Stopped: the user interrupted the boot
        """
        end = time.monotonic() + self._settings.timeout
        pause = _FIRST_PAUSE
        while True:
            if self.stop.is_set():
                raise Stopped('interrupted')
            yield
            remaining = end - time.monotonic()
            if remaining <= 0:
                return
            self.stop.wait(min(pause, remaining))
            pause = min(_LONGEST_PAUSE, pause * 1.5)

# SPDX-License-Identifier: Apache-2.0
"""Finds existing servers that become members of a group, and their hosts."""

from collections.abc import Callable, Collection, Mapping, Sequence
from collections import Counter
from dataclasses import dataclass, field, replace

from oslo_log import log as logging

from nova_holistic.documents.groups.adoption import position
from nova_holistic.engine.binding.server_match import (
    host_of_server, must_be_settled, must_match, refused, Server)
from nova_holistic.engine.decision.planning_request import PlanningRequest
from nova_holistic.engine import errors
from nova_holistic.engine.proposal import PlannerComponents
from nova_holistic import exceptions
from nova_holistic.exceptions import InvalidDocument, Mistakes
from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.table.queries.memberships import memberships
from nova_holistic.table.records import MemberRecord, MemberState

LOG = logging.getLogger(__name__)

ReadServers = Callable[[Collection[str], str],
                       Mapping[str, Server | None]]
"""Reads servers by UUIDs and project. The result is None for a server that
does not exist. A server that cannot be read is left out."""


@dataclass(frozen=True, slots=True)
class Adopted:
    """A server that becomes a member on its current host.

    :ivar host: name of its host in the snapshot
    """

    uuid: str
    host: str


@dataclass(frozen=True, slots=True)
class AdoptedMembers:
    """Servers that become members.

    :ivar servers: adopted servers by path of the member
    :ivar replaced: current rows of these members by path; a new member has no
        row
    """

    servers: Mapping[str, Adopted] = field(default_factory=FrozenMapping)
    replaced: Mapping[str, MemberRecord] = field(
        default_factory=FrozenMapping)

    @property
    def hosts(self) -> dict[str, str]:
        """The host name of each server by path of the member."""
        return {path: adopted.host for path, adopted in self.servers.items()}

    def built(self, rows: Sequence[MemberRecord]
              ) -> Sequence[tuple[MemberRecord | None, MemberRecord]]:
        """For each adopted member, its current row or None, and its new row
        with the server.

        :param rows: planned rows of all members
        """
        return [(self.replaced.get(path),
                 replace(row, state=MemberState.BUILT, held=False,
                         instance_uuid=self.servers[path].uuid))
                for row in rows for path in [row.member.path]
                if path in self.servers]


class Adopter:
    """Finds the existing servers that one group adopts. It changes nothing."""

    def __init__(self, parts: PlannerComponents, read: ReadServers | None):
        """:param read: None if this engine does not read servers"""
        self._parts = parts
        self._read = read

    def find(self, request: PlanningRequest, wanted: Mapping[str, str]
             ) -> Mapping[str, Adopted]:
        """The servers that become members of the group, and their hosts.

        :param request: the whole group
        :param wanted: UUIDs of servers by path of the member
        :returns: servers by path, without servers that are already these
            members
        :raises InvalidDocument: some servers cannot be adopted, or this engine
            does not read servers; the error lists all mistakes
        :raises UnreadableReference: Nova or Placement does not respond
        """
        known = memberships(self._parts.table.database, wanted.values())
        wanted = {path: uuid for path, uuid in wanted.items()
                  if known.get(uuid) != (request.uuid, path)}
        if not wanted:
            return {}
        servers = self._servers(wanted, request.project_id or '')
        with _CloudErrorTranslator(wanted):
            cloud = self._cloud(servers.values())
            snapshot = self._parts.snapshot_planner.usable(request, cloud)[0]
            allocated = self._allocated(servers.values(), snapshot)
        members = {member.path: member for member
                   in bind(request.group, snapshot).all_members()}
        mistakes, found = Mistakes(), {}
        for path, uuid in wanted.items():
            with mistakes.collected():
                server = servers[path]
                must_be_settled(path, uuid, server, request.project_id)
                if uuid in known:
                    group, member = known[uuid]
                    raise refused(path, f'server {uuid} is member {member!r} '
                                        f'of group {group} already')
                host = host_of_server(server, snapshot)
                if host is None:
                    raise refused(path, f'the host of server {uuid} is not '
                                        f'known to the planner')
                must_match(members[path], server, host, snapshot,
                           allocated.get(uuid, {}))
                found[path] = Adopted(uuid, host.name)
        mistakes.must_be_none()
        return found

    def check_unchanged(self, adopted: Mapping[str, Adopted],
                        project_id: str) -> None:
        """Check that Nova has not begun to move or delete a server since it
        was found.

        :raises OutdatedPlan: a server is deleted, is on another host, or is
            being changed by Nova; the group must be planned again
        :raises UnreadableReference: Nova does not respond
        """
        servers = self._servers(
            {path: adopted_server.uuid
             for path, adopted_server in adopted.items()}, project_id)
        for path, adopted_server in adopted.items():
            server = servers[path]
            if (server is None or server.task is not None
                    or server.may_have_two_hosts
                    or adopted_server.host not in (server.host, server.node)):
                raise errors.OutdatedPlan(
                    f'server {adopted_server.uuid} has changed since the plan')

    def _servers(self, wanted: Mapping[str, str], project_id: str
                 ) -> Mapping[str, Server | None]:
        """The servers by path of the member; None for a server that does not
        exist.

        :raises InvalidDocument: this engine does not read servers
        :raises UnreadableReference: a server cannot be read
        """
        if self._read is None:
            raise InvalidDocument('adopt', 'this engine does not read servers')
        with _CloudErrorTranslator(wanted):
            found = self._read(tuple(wanted.values()), project_id)
        for path, uuid in wanted.items():
            if uuid not in found:
                raise errors.UnreadableReference(
                    position(path), f'server {uuid} cannot be read now')
        return {path: found[uuid] for path, uuid in wanted.items()}

    def _cloud(self, servers: Collection[Server | None]) -> Snapshot:
        """The cached snapshot, or a complete snapshot if the cached snapshot
        lacks the host of a server."""
        kept = self._parts.snapshot_planner.cached_snapshot(())
        if all(server is None or server.host is None
               or host_of_server(server, kept) for server in servers):
            return kept
        return self._parts.snapshot_planner.complete()

    def _allocated(self, servers: Collection[Server | None],
                   snapshot: Snapshot) -> Mapping[str, Mapping[str, int]]:
        """The resources that each consumer has allocated on the hosts of these
        servers, by UUID of the consumer. One request for each host, and one
        for each server whose host uses providers that share their resources.

        :raises HoldsError: Placement does not respond
        """
        found: dict[str, Mapping[str, int]] = {}
        hosts = {server.uuid: host for server in servers
                 if server is not None
                 and (host := host_of_server(server, snapshot)) is not None}
        for uuid in sorted({host.uuid for host in hosts.values()}):
            found.update(self._parts.holds.resources(uuid))
        for server, host in hosts.items():
            providers = {host.uuid, *(each.uuid for each in host.providers
                                      if each.sharing)}
            if len(providers) > 1:
                found[server] = self._amounts(server, providers)
        return found

    def _amounts(self, consumer: str,
                 providers: Collection[str]) -> Mapping[str, int]:
        """The resources that a consumer has allocated from some providers."""
        total: Counter[str] = Counter()
        body = self._parts.holds.exists(consumer)
        for uuid, each in body['allocations'].items() if body else ():
            if uuid in providers:
                total.update(each['resources'])
        return total


class _CloudErrorTranslator:
    """A context manager that raises UnreadableReference in place of errors of
    Nova and Placement.

    :param wanted: UUIDs of servers by path; the error names the first path
    """

    def __init__(self, wanted: Mapping[str, str]):
        self._place = position(next(iter(wanted)))

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind, error, trace) -> None:
        if isinstance(error, exceptions.HolisticError) and not isinstance(
                error, (InvalidDocument, errors.UnreadableReference)):
            LOG.error('Servers cannot be read: %s', error)
            raise errors.UnreadableReference(
                self._place, 'the servers cannot be read now') from error

# SPDX-License-Identifier: Apache-2.0
"""Adds a server to a member if a create finds no planned place.

No integer program is solved. The places that are tried first are in the
placement table: those of members of the same description and their alternates.
A search in Placement follows only if none of them is usable.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
import functools
import uuid

import nova.conf
from nova import objects
from oslo_log import log as logging

from nova_holistic import crash_points, exceptions
from nova_holistic.engine.update.outdated_members import (
    is_any_outdated, is_outdated, is_up_to_date)
from nova_holistic.model.elastic.growth import (
    AtMaximum, Existing, next_server, NotGrown)
from nova_holistic.model.elastic.missing import still_missing
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import Member
from nova_holistic.scheduler.claim.claims import Claims
from nova_holistic.scheduler.claim.grown_providers import with_providers
from nova_holistic.scheduler.claim.host_search import HostSearch
from nova_holistic.scheduler.claim import known_places
from nova_holistic.scheduler.claim import request_check
from nova_holistic.scheduler.claim.request_refusal import RequestRefused
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.hosts.candidates import Candidates
from nova_holistic.scheduler.pointer import Pointer
from nova_holistic.scheduler.policies import deleted_servers, membership
from nova_holistic.scheduler.policies.membership import Membership
from nova_holistic.table.changes import group_growth
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table import group_reasons
from nova_holistic.table.queries.group_members import GroupMembers
from nova_holistic.table.records import (
    GroupRecord, MemberRecord, MemberState, Place, Task)

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)

MAX_ALLOWED_PLACES = 8
"""Number of allowed places after which no further places are checked."""
ATTEMPTS = 10
"""Maximum number of attempts to write a row while the group changes."""

_LIVE = frozenset(MemberState) - {MemberState.RELEASED}


@dataclass(frozen=True, slots=True)
class _Vacancy:
    """The member that the new server becomes.

    :ivar member: the member of the new server
    :ivar reused: a row that the member takes over; None for a new row
    """

    member: Member
    reused: MemberRecord | None


class MemberGrowth:
    """Adds one server to a member; all other members stay on their hosts."""

    def __init__(self, context, spec: 'objects.RequestSpec',
                 connections: Connections, candidates: Candidates,
                 search: HostSearch):
        self._context = context
        self._spec = spec
        self._connections = connections
        self._candidates = candidates
        self._search = search
        self._grown: dict[int, MemberRecord] = {}
        self._others: Sequence[MemberRecord] = ()

    def extended(self, rows: Sequence[MemberRecord]
                 ) -> Sequence[MemberRecord]:
        """The rows of the group, including the rows that this request has
        added.

        :param rows: the rows as they were read before
        """
        if not self._grown:
            return rows
        return [*(row for row in self._others if row.id not in self._grown),
                *self._grown.values()]

    def note(self, row: MemberRecord,
             others: Sequence[MemberRecord]) -> MemberRecord:
        """Remember a row that has taken over a held place.

        :param others: all other rows of the group
        """
        self._others = others
        self._grown[row.id] = row
        return row

    def must_be_possible(self, record: GroupRecord,
                         rows: GroupMembers, path: str) -> None:
        """Check that a create with a pointer to this path may add a server.

        :raises RequestRefused: no member has this path, or the member has its
            maximum number of servers
        """
        try:
            self._vacancy(record, rows, path)
        except AtMaximum as error:
            raise RequestRefused(f'group {record.uuid}: {error}') from error
        except NotGrown as error:
            raise RequestRefused(
                f'group {record.uuid} has no member {path!r}') from error

    def is_redefined(self, record: GroupRecord,
                     rows: Sequence[MemberRecord]) -> bool:
        """Whether any of these members has a server that was resized, or that
        was created before an update changed its definition."""
        return any(row.planned is not None for row in rows) or is_any_outdated(
            rows, membership.parsed_group(
                record, self._connections.policy_types))

    def grow(self, claims: Claims, pointer: Pointer, instance_uuid: str,
             refusal: exceptions.HolisticError) -> MemberRecord:
        """The new row of the member that the server becomes.

        :param refusal: why no planned place can be claimed; it is raised if
            the member cannot have further servers
        :raises RequestRefused: the member has its maximum number of servers,
            or no place was found
        """
        group_uuid = pointer.group
        for _ in range(ATTEMPTS):
            found = self._connections.table.group_cache.read(group_uuid)
            if found is None or found[0].status not in group_growth.GROWING:
                raise refusal
            record, rows = found
            try:
                vacancy = self._vacancy(record, rows, pointer.member)
            except NotGrown as error:
                raise (RequestRefused(f'group {group_uuid}: {error}')
                       if isinstance(error, AtMaximum) else refusal
                       ) from error
            row = self._placed(record, rows, vacancy, instance_uuid)
            number = group_growth.grow(
                self._connections.table.database,
                group_growth.Growth(
                    record, row, vacancy.reused,
                    self._reasons(record, rows, row)), rows,
                self._connections.clock())
            if number is not None:
                self._others = rows
                self._grown[number] = row = replace(row, id=number)
                return claims.add(row, vacancy.reused)
        raise RequestRefused(f'group {group_uuid} is being changed by others')

    def _reasons(self, record: GroupRecord, rows: Sequence[MemberRecord],
                 row: MemberRecord) -> group_reasons.ChangedReasons | None:
        """The reasons for missing members when the group has a further one;
        None if no member is missing."""
        if not group_reasons.about_missing(record.reasons):
            return None
        group = membership.parsed_group(
            record, self._connections.policy_types)
        live = {row.member.path, *(
            each.member.path for each in rows if each.state in _LIVE)}
        return functools.partial(
            group_reasons.reduced,
            remaining=functools.partial(still_missing, group, live))

    def _vacancy(self, record: GroupRecord, rows: GroupMembers,
                 path: str) -> _Vacancy:
        """The member of a further server at the path.

        :raises NotGrown: no further server is allowed
        """
        group = membership.parsed_group(
            record, self._connections.policy_types)
        released = self._released(record, rows)
        existing = Existing(
            {row.member.path for row in rows if row.state in _LIVE},
            {row.member.path for row in released
             if row.returned and not row.unwanted},
            {row.member.path for row in released if row.unwanted})
        try:
            member = next_server(group, path, existing)
        except NotGrown:
            gone = self._without_server(group, rows, path)
            if gone is None:
                raise
            return _Vacancy(gone.member, gone)
        reused = next((row for row in rows if row.member.path == member.path),
                      None)
        return _Vacancy(self._described(member, rows), reused)

    def _released(self, record: GroupRecord, rows: Sequence[MemberRecord]
                  ) -> Sequence[MemberRecord]:
        """Released rows in their current state. Cached rows do not show which
        of them other servers may take over."""
        if not any(row.state == MemberState.RELEASED for row in rows):
            return ()
        return [row for row in self._connections.table.members(record.uuid)
                if row.state == MemberState.RELEASED]

    def _without_server(self, group: Group, rows: GroupMembers,
                        path: str) -> MemberRecord | None:
        """A member at the path whose server is deleted, before the reconciler
        has changed its row. Members that were released, or whose definition
        has changed, are left out."""
        owned = {row.instance_uuid: row for row in rows.pointed_at(path)
                 if row.instance_uuid is not None
                 and row.state in group_growth.REUSED}
        gone = deleted_servers.deleted_servers(self._context, list(owned), [
            uuid for uuid, row in owned.items()
            if row.state != MemberState.CLAIMED])
        return min((row for row in deleted_servers.wanted_again(
            self._connections.table, [owned[each] for each in gone])
            if not is_outdated(row, group)),
            key=lambda row: row.member.path, default=None)

    def _described(self, member: Member,
                   rows: Sequence[MemberRecord]) -> Member:
        """The member with the resources of its flavor."""
        wanted = member.requirements
        # If a server was resized, its row has other resources.
        found = next((row.member.requirements for row in rows
                      if row.member.description == member.description
                      and row.planned is None and is_up_to_date(row, wanted)
                      ), wanted)
        if found is wanted and wanted.flavor:
            found = replace(wanted, resources=FrozenMapping(
                self._candidates.resource_request.merged_resources()))
        return replace(member, requirements=found)

    def _placed(self, record: GroupRecord, rows: Sequence[MemberRecord],
                vacancy: _Vacancy, instance_uuid: str) -> MemberRecord:
        """The row of the new member with its place and its alternates.

        :raises RequestRefused: no place was found, or the request does not
            match the description of the member
        """
        request_check.check_match(
            self._spec, self._candidates.resource_request,
            vacancy.member.requirements)
        unplaced = MemberRecord(
            id=vacancy.reused.id if vacancy.reused else 0,
            group_uuid=record.uuid, member=vacancy.member,
            place=Place('', '', ''), hold=str(uuid.uuid4()), held=False,
            state=MemberState.CLAIMED, instance_uuid=instance_uuid,
            updated_at=self._connections.clock())
        own = Membership(record, unplaced, rows)
        first, *others = self._places(record, rows, vacancy, own) or [None]
        if first is None:
            self._request_plan(record, vacancy)
            raise RequestRefused(
                f'no host has room for a further server of member '
                f'{vacancy.member.description!r} and is allowed by the '
                f'policies of group {record.uuid}')
        return replace(unplaced, place=first,
                       alternates=tuple(others[:CONF.holistic.search_hosts]))

    def _places(self, record: GroupRecord, rows: Sequence[MemberRecord],
                vacancy: _Vacancy, own: Membership) -> Sequence[Place]:
        """Places for a further server, the best first."""
        places = self._candidates.allowed(
            own, known_places.known_places(
                self._connections.table, record, rows, own.own,
                vacancy.reused), MAX_ALLOWED_PLACES)
        wanted = vacancy.member.requirements
        if wanted.request_groups or any(place.allocation for place in places):
            places = with_providers(self._connections.holds, wanted, places)
        limit = CONF.holistic.search_time_limit
        # A limit of 0 disables the search.
        return places or (
            self._search.places(own, (), limit) if limit > 0 else ())

    def _request_plan(self, record: GroupRecord, vacancy: _Vacancy) -> None:
        """Request a plan that moves held places. If an engine finds such a
        plan, the next create gets the place that it holds."""
        member, reused = vacancy.member, vacancy.reused
        if reused is not None and reused.instance_uuid is not None:
            # The reconciler must return its capacity first.
            return
        pending = {
            'document': record.document, 'objective': record.objective,
            'added': [member.path], 'released': [reused.id] if reused else [],
            'request_id': self._context.request_id,
            'user_id': record.user_id, 'project_id': record.project_id}
        if self._connections.table.tasks.request(record.uuid, NewTask(
                Task.UPDATING, pending, group_growth.GROWING,
                record.revision), self._connections.clock()):
            crash_points.reached('claim.plan-asked')
            LOG.info('No host has room for member %(member)s of group '
                     '%(group)s: an engine searches for a plan that moves '
                     'held places',
                     {'member': member.path, 'group': record.uuid})

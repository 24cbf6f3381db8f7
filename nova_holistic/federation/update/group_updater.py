# SPDX-License-Identifier: Apache-2.0
"""Updates a group of the table in its children."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain
import secrets
from typing import Any
import uuid

from oslo_log import log as logging

from nova_holistic import crash_points, exceptions
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.engine import reasons
from nova_holistic.federation.child import Document, UpdateTerms
from nova_holistic.federation.credentials.user import User
from nova_holistic.federation.errors import JournalRefused
from nova_holistic.federation.planners import Planners
from nova_holistic.federation.refresh import Refresh
from nova_holistic.federation.results import Candidate, Placed, Request
from nova_holistic.federation.saga.saga import LONGEST_LEASE, Saga, Terms
from nova_holistic.federation.splitting.cloud_rules import CLOUD
from nova_holistic.federation.table_journal import record_of, TableJournal
from nova_holistic.federation.update.part_settler import (
    definition, HELD, PartSettler)
from nova_holistic.federation.update.update_saga import (
    ExistingPart, PartLease, UpdateSaga)
from nova_holistic.federation.update.updated_child import with_part
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.plan import Reason
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.table.changes import group_revision
from nova_holistic.table.changes.group_revision import Revision
from nova_holistic.table import errors as table_errors
from nova_holistic.table.queries.progress import SETTLING
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState, Place)
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

_GONE = (MemberState.RELEASED, MemberState.LOST, MemberState.FAILED)
"""States of members that an update may plan again."""
Waiting = Mapping[str, Sequence[Reason]]
"""Names of the clouds whose lost members are not planned again now, each with
the reasons."""
_REVISIONS = 5
"""Maximum number of attempts to write the rows, if a child's report changes
one of them at the same time."""


class GroupUpdater:
    """Updates groups. Afterwards, all parts have the new definition, or all
    have the former definition. The journal contains the changes that a child
    has not carried out yet, and they are repeated later."""

    def __init__(self, conf: Any, table: PlacementTable, planners: Planners,
                 settler: PartSettler, refresh: Refresh,
                 policy_types: PolicyTypes, clock: Callable[[], datetime]):
        """
        :param refresh: compares groups with the children
        :param clock: returns naive UTC
        """
        self._conf = conf
        self._table = table
        self._planners = planners
        self._settler = settler
        self._refresh = refresh
        self._policy_types = policy_types
        self._clock = clock

    def perform(self, record: GroupRecord, user: User,
                waiting: Waiting = FrozenMapping()) -> None:
        """Update a group whose task belongs to this process.

        :param record: result of ``table.tasks.take``
        :param waiting: parts that keep their lost members
        :raises TableError: the table does not respond; the update may have
            been written
        """
        try:
            why = self._update(record, user, waiting)
        except JournalRefused as error:
            LOG.warning('This process stops its work on group %s: %s',
                        record.uuid, error)
            return
        except table_errors.TableError:
            raise
        except exceptions.HolisticError as error:
            why = reasons.of_errors(error)
            self._undo(record, user)
        except Exception as error:
            why = [reasons.of_error(error, f'the update failed: {error!r}')]
            self._undo(record, user)
        self._refresh.of_task(user, record, waiting)
        self._table.settle(record.uuid, self._clock())
        self._table.tasks.finish(record.uuid, record.engine, {
            'reasons': [each.to_row() for each in dict.fromkeys(
                [*why, *chain.from_iterable(waiting.values())])],
            'updated_at': self._clock()})

    def _update(self, record: GroupRecord, user: User,
                waiting: Waiting) -> Sequence[Reason]:
        """Update the parts and the rows.

        :returns: why the group keeps its definition; empty: it has the new
            definition
        """
        journal = TableJournal(self._table.parts, record.uuid, record.engine,
                               self._clock)
        self._settler.settle(user, record, journal)
        pending = record.pending or {}
        if record.revision > pending.get('revision', record.revision):
            # Another process wrote the new rows, and stopped before the end.
            return ()
        document = pending.get('document') or definition(record)
        parts = self._existing(record, user, waiting)
        request = self._request(record, document, parts)
        saga = self._saga(request, record, parts, journal)
        answer = self._planners.of(user, lambda each: self._prepared(
            each, parts, request)).place_with(
                request, lambda orders: saga.commit(
                    orders, self._policy_types))
        if not isinstance(answer, Placed):
            return answer.reasons
        crash_points.reached('federation.update-committed')
        clouds = {path: order.child.name for order in saga.orders
                  for path in order.paths}
        self._write(record, request, clouds)
        crash_points.reached('federation.update-written')
        after = self._table.get_group(record.uuid)
        if after is not None:
            self._settler.settle(user, after, journal)
        return ()

    def _undo(self, record: GroupRecord, user: User) -> None:
        """Make the parts agree with the rows again."""
        now = self._table.get_group(record.uuid)
        if now is None:
            return
        try:
            self._settler.settle(user, now, TableJournal(
                self._table.parts, record.uuid, record.engine, self._clock))
        except exceptions.HolisticError as error:
            LOG.warning('The parts of group %s are not settled yet: %s',
                        record.uuid, error)

    def _existing(self, record: GroupRecord, user: User,
                  waiting: Waiting) -> dict[str, ExistingPart]:
        paths = self._settler.paths(record.uuid)
        gone = {row.member.path for row in self._table.members(record.uuid)
                if row.state in _GONE}
        return {part.child: ExistingPart(
            self._settler.child_of(user, record_of(part)),
            replace(record_of(part), paths=tuple(paths[part.child])),
            self._settler.document(record, part.child, paths[part.child]),
            part.child not in waiting
            and not gone.isdisjoint(paths[part.child]))
            for part in self._table.parts.of_group(record.uuid)
            if part.state in HELD and part.child in paths}

    def _request(self, record: GroupRecord, document: Document,
                 parts: Mapping[str, ExistingPart]) -> Request:
        new = {m.path for m in parse_group(
            document, self._policy_types).all_members()}
        kept = {path: name for name, part in parts.items()
                for path in part.record.paths if path in new}
        # A repeated update must not find a part of an earlier update.
        key = (f'{self._conf.federation.parent_id}-{record.uuid}-'
               f'{secrets.token_hex(3)}')
        return Request(
            document, (record.pending or {}).get(
                'objective') or record.objective,
            self._lease(record), key, self._conf.federation.placement_seconds,
            kept)

    def _lease(self, record: GroupRecord) -> int:
        """The lease in seconds; 0: no lease. It does not end earlier than the
        current lease of the group."""
        default = self._conf.planner.lease
        if record.status not in SETTLING:
            return default
        if record.lease_expires_at is None or not default:
            return 0
        left = (record.lease_expires_at - self._clock()).total_seconds()
        return min(LONGEST_LEASE, max(default, int(left)))

    def _part_lease(self, record: GroupRecord, seconds: int) -> PartLease:
        """The lease of parts that gain members.

        :param seconds: result of ``_lease``
        """
        shortest = self._conf.planner.lease
        runs = seconds and record.status in SETTLING
        return PartLease(seconds or LONGEST_LEASE, shortest,
                         record.lease_expires_at if runs else None)

    def _prepared(self, candidate: Candidate,
                  parts: Mapping[str, ExistingPart],
                  request: Request) -> Candidate:
        part = parts.get(candidate.name)
        if part is None:
            return candidate
        loses = any(path not in request.kept for path in part.record.paths)
        return with_part(candidate, loses, self._clock)

    def _saga(self, request: Request, record: GroupRecord,
              parts: Mapping[str, ExistingPart],
              journal: TableJournal) -> UpdateSaga:
        lease, seconds = self._planners.commit_terms
        return UpdateSaga(
            parts, UpdateTerms(request.objective, seconds, bool(
                (record.pending or {}).get('actions'))),
            self._part_lease(record, request.lease), journal,
            Saga(Terms(request.objective, request.lease, lease, seconds),
                 journal, self._clock))

    def _write(self, record: GroupRecord, request: Request,
               clouds: Mapping[str, str]) -> None:
        """Write the rows of the new definition.

        :param clouds: path of each member to its cloud
        :raises JournalRefused: the group belongs to another process, which
            undoes the changes
        """
        for _ in range(_REVISIONS):
            now = self._clock()
            if group_revision.revise(
                    self._table.database, record.uuid, record.engine or '',
                    self._revision(record, request, clouds, now), now):
                return
        raise JournalRefused(
            f'group {record.uuid} belongs to another process, or keeps '
            'changing')

    def _revision(self, record: GroupRecord, request: Request,
                  clouds: Mapping[str, str], now: datetime) -> Revision:
        group = parse_group(request.document, self._policy_types)
        known = {row.member.path: row
                 for row in self._table.members(record.uuid)}
        members = {member.path: member for member in group.all_members()
                   if member.path in clouds}
        changes: dict[str, Any] = {
            'name': group.name, 'document': request.document,
            'objective': request.objective, 'levels': (CLOUD,)}
        if record.status not in SETTLING:
            changes['status'] = GroupStatus.PLANNED
        moved = {path for path in members if path in known
                 and known[path].place.host != clouds[path]}
        added = [_row(record, members[path], clouds[path], now)
                 for path in members if path not in known or path in moved]
        if added or record.status not in SETTLING:
            changes['lease_expires_at'] = request.lease and now + timedelta(
                seconds=request.lease) or None
        return Revision(
            changes, {path: m.description for path, m in members.items()},
            renewed=[(known[path], replace(known[path], member=member,
                                           updated_at=now))
                     for path, member in members.items()
                     if path in known and path not in moved
                     and known[path].member != member],
            removed=[row for path, row in known.items()
                     if path not in members or path in moved], added=added)


def _row(record: GroupRecord, member: Any, cloud: str,
         now: datetime) -> MemberRecord:
    return MemberRecord(
        id=0, group_uuid=record.uuid, member=member, place=_place(cloud),
        hold=str(uuid.uuid4()), held=False, state=MemberState.PLANNED,
        updated_at=now)


def _place(cloud: str) -> Place:
    return Place(cloud, cloud, '', (cloud,))

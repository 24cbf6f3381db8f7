# SPDX-License-Identifier: Apache-2.0
"""Places a group of the table in children, and writes the clouds of its
members."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
import secrets
from typing import Any
import uuid

from oslo_log import log as logging

from nova_holistic import crash_points, exceptions
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.engine import reasons
from nova_holistic.federation.credentials.user import User
from nova_holistic.federation.credentials.user_children import UserChildren
from nova_holistic.federation.errors import JournalRefused
from nova_holistic.federation.planners import Planners
from nova_holistic.federation.results import Placed, Refused, Request
from nova_holistic.federation.splitting.cloud_rules import CLOUD
from nova_holistic.federation.table_journal import TableJournal
from nova_holistic.federation.undo import undo_parts
from nova_holistic.federation import unfinished_task
from nova_holistic.model.plan import Reason
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.table import errors as table_errors
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState, Place)
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)


class GroupPlacer:
    """Places groups. After a placement, either all parts of the group exist in
    children with the requested lease, or the parts that exist are undone or
    expire."""

    def __init__(self, conf: Any, table: PlacementTable,
                 children: UserChildren, planners: Planners,
                 policy_types: PolicyTypes, clock: Callable[[], datetime]):
        """:param clock: returns naive UTC"""
        self._conf = conf
        self._table = table
        self._children = children
        self._planners = planners
        self._policy_types = policy_types
        self._clock = clock

    def perform(self, record: GroupRecord, user: User) -> None:
        """Place a group whose task belongs to this process.

        :param record: result of ``table.tasks.take``
        :raises TableError: the table does not respond; the placement may have
            been written
        """
        journal = TableJournal(self._table.parts, record.uuid, record.engine,
                               self._clock)
        try:
            undo_parts(journal.read(),
                       lambda part: self._children.child_of(user, part),
                       journal, self._clock())
            answer = self._planners.of(user).place(
                self._request(record), journal)
            if isinstance(answer, Placed):
                if not self._accept(record, answer):
                    self._withdraw(answer, user)
            else:
                self._give_up(record, GroupStatus.UNPLACEABLE if isinstance(
                    answer, Refused) else GroupStatus.ERROR, answer.reasons)
        except JournalRefused as error:
            LOG.warning('This process stops its work on group %s: %s',
                        record.uuid, error)
        except table_errors.TableError:
            raise
        except exceptions.HolisticError as error:
            self._give_up(record, GroupStatus.ERROR,
                          reasons.of_errors(error))
        except Exception as error:
            self._give_up(record, GroupStatus.ERROR, [reasons.of_error(
                error, f'the placement failed: {error!r}')])

    def _request(self, record: GroupRecord) -> Request:
        # A repeated placement must not find a group of an earlier placement.
        key = (f'{self._conf.federation.parent_id}-{record.uuid}-'
               f'{secrets.token_hex(3)}')
        return Request(
            _definition(record), record.objective, self._lease(record), key,
            self._conf.federation.placement_seconds)

    def _lease(self, record: GroupRecord) -> int:
        lease = (record.pending or {}).get('lease')
        return self._conf.planner.lease if lease is None else lease

    def _accept(self, record: GroupRecord, placed: Placed) -> bool:
        """Write the placement; False: the group belongs to another process,
        or no longer exists."""
        crash_points.reached('federation.placed')
        if not self._table.write_members(
                record.uuid, self._members(record, placed), record.engine):
            return False
        crash_points.reached('federation.members-written')
        return self._table.tasks.finish(record.uuid, record.engine, {
            'status': GroupStatus.PLANNED, 'reasons': (),
            'levels': (CLOUD,), 'updated_at': self._clock(),
            'lease_expires_at': self._lease_end(record, placed)})

    def _withdraw(self, placed: Placed, user: User) -> None:
        """Delete the parts of a placement whose group belongs to another
        process now, or does not exist. The journal may already have the parts
        of the other process, which must remain."""
        for part in placed.parts:
            refusal = self._children.child(user, part.child).delete(
                part.group.uuid)
            if refusal is not None:
                LOG.warning(
                    'Group %s in child %s is not deleted: %s',
                    part.group.uuid, part.child, '; '.join(
                        str(each.message) for each in refusal.reasons))

    def _lease_end(self, record: GroupRecord,
                   placed: Placed) -> datetime | None:
        ends = [part.group.lease_end for part in placed.parts
                if part.group.lease_end is not None]
        if not self._lease(record):
            return None
        return min(ends, default=self._clock() + timedelta(
            seconds=self._lease(record)))

    def _members(self, record: GroupRecord,
                 placed: Placed) -> Sequence[MemberRecord]:
        """The rows of the placed members, in the order of the document."""
        clouds: Mapping[str, str] = {
            path: part.child for part in placed.parts for path in part.paths}
        group = parse_group(_definition(record), self._policy_types)
        known = {member.path: member for member in group.all_members()}
        now = self._clock()
        return [MemberRecord(
            id=0, group_uuid=record.uuid, member=known[path],
            place=Place(clouds[path], clouds[path], '', (clouds[path],)),
            hold=str(uuid.uuid4()), held=False, state=MemberState.PLANNED,
            updated_at=now) for path in known if path in clouds]

    def _give_up(self, record: GroupRecord, status: GroupStatus,
                 why: Sequence[Reason]) -> None:
        unfinished_task.end(self._table, record, why, self._clock(), status)


def _definition(record: GroupRecord) -> Mapping[str, Any]:
    return record.document.get('group', record.document)

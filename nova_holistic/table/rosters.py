# SPDX-License-Identifier: Apache-2.0
"""Groups that are read again for each of their members."""

from collections.abc import Sequence
from collections import OrderedDict
from dataclasses import dataclass, replace
import threading

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.database import Database
from nova_holistic.table.models import GroupRow, MemberRow
from nova_holistic.table.records import (
    GroupRecord, MemberRecord, MemberState)
from nova_holistic.table import rows

REMEMBERED = 50_000
"""Members of all groups together: about half a kilobyte each."""

_LIGHT = tuple(column for column in GroupRow.__table__.columns
               if column.name not in ('document', 'pending'))
_HEAVY = (*(column for column in rows.BARE if column.name != 'updated_at'),
          sa.null().label('updated_at'))
_CHANGING = (MemberRow.id, MemberRow.hold, MemberRow.host, MemberRow.state,
             MemberRow.held, MemberRow.instance_uuid)

Found = tuple[GroupRecord, Sequence[MemberRecord]]


@dataclass(frozen=True, slots=True)
class _Known:
    """:ivar members: by id, in the order of the document"""

    record: GroupRecord
    members: dict[int, MemberRecord]


class Rosters:
    """Groups with their members. Of a group that was read before, only what
    may have changed is read: states and owners, and where members are.

    A group's document, and the order and the requirements of its members,
    change with its revision; a member's place with its hold, or with its host
    once it is built. Safe to share between threads.
    """

    def __init__(self, database: Database, limit: int = REMEMBERED):
        """:param limit: members that are remembered"""
        self._database = database
        self._limit = limit
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, group_uuid: str) -> Found | None:
        """A group and its members in the order of its document, both as of
        one moment, in two queries; without the members' alternates and times
        of change, and without what the group's task is told.
        """
        with self._lock:
            known = self._known.get(group_uuid)
        with self._database.view() as session:
            found = ((known and _again(session, known))
                     or _anew(session, group_uuid))
        self._remember(group_uuid, found)
        return found and (found.record, tuple(found.members.values()))

    def _remember(self, group_uuid: str, found: _Known | None) -> None:
        with self._lock:
            self._known.pop(group_uuid, None)
            if found is not None:
                self._known[group_uuid] = found
            while sum(len(each.members) for each
                      in self._known.values()) > self._limit:
                self._known.popitem(last=False)


def _anew(session: orm.Session, group_uuid: str) -> _Known | None:
    row = session.execute(
        sa.select(*_LIGHT, GroupRow.document).where(
            GroupRow.uuid == group_uuid)).first()
    if row is None:
        return None
    record = replace(rows.light_group_record(row), document=row.document)
    return _Known(record, _members(session, group_uuid))


def _again(session: orm.Session, known: _Known) -> _Known | None:
    """None where more has changed than is looked at."""
    row = session.execute(sa.select(*_LIGHT).where(
        GroupRow.uuid == known.record.uuid)).first()
    if row is None or row.revision != known.record.revision:
        return None
    members = {}
    for number, hold, host, *now in session.execute(
            sa.select(*_CHANGING).where(MemberRow.group_uuid == row.uuid)
            .order_by(MemberRow.position)):
        was = known.members.get(number)
        if was is None or (was.hold, was.place.host) != (hold, host):
            members = _members(session, row.uuid)
            break
        members[number] = _updated(was, *now)
    return _Known(replace(rows.light_group_record(row),
                          document=known.record.document), members)


def _updated(was: MemberRecord, state: str, held: bool,
             instance_uuid: str | None) -> MemberRecord:
    if (was.state, was.held, was.instance_uuid) == (
            state, held, instance_uuid):
        return was
    return replace(was, state=MemberState(state), held=held,
                   instance_uuid=instance_uuid)


def _members(session: orm.Session, group_uuid: str
             ) -> dict[int, MemberRecord]:
    """What is equal is kept in memory once."""
    places, wanted = {}, {}
    found = {}
    for row in session.execute(
            sa.select(*_HEAVY).where(MemberRow.group_uuid == group_uuid)
            .order_by(MemberRow.position)):
        record = rows.bare_member(row)
        requirements = record.member.requirements
        found[record.id] = replace(
            record, place=places.setdefault(record.place, record.place),
            member=replace(record.member, requirements=wanted.setdefault(
                requirements, requirements)))
    return found

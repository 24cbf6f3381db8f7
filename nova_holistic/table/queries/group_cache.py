# SPDX-License-Identifier: Apache-2.0
"""A cache of groups, which are read for each of their members."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections import OrderedDict
from dataclasses import dataclass, replace
import threading
import time
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.database import Database
from nova_holistic.table.records import (
    GroupRecord, MemberRecord, MemberState, Place)
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow, MemberRow

REMEMBERED = 50_000
"""Maximum number of cached members of all groups. A member takes about a
kilobyte; other data are counted in this unit."""
UNREAD = 600
"""Seconds after which a group that was not read again is forgotten, so that
deleted groups do not occupy memory."""
FEW = 16
"""Maximum number of members that are read completely because they are new or
have another place. If there are more, the whole group is read."""
GROUP = 4
"""Memory of a group in addition to its members and its document, in units of
members."""

LIGHT = tuple(column for column in GroupRow.__table__.columns
              if column.name not in ('document', 'pending', 'changed_at',
                                     'places_version', 'uses_links',
                                     'links_version')
              and not column.name.startswith('alternates_'))
"""Columns of a group that are read at each access."""

_HEAVY = (*(column for column in rows.BARE if column.name != 'updated_at'),
          sa.null().label('updated_at'))
_MEMBER = MemberRow.__table__.c
CHANGING = (_MEMBER.id, _MEMBER.hold, _MEMBER.host, _MEMBER.state,
            _MEMBER.held, _MEMBER.instance_uuid, _MEMBER.destination)
"""Columns of a member that are read at each access."""


def _nulls(columns: Iterable[sa.ColumnElement]) -> Iterator[Any]:
    """Columns without values, with the types of the other rows."""
    return (sa.type_coerce(sa.null(), column.type).label(None)
            for column in columns)


# One statement, built once: it is sent for each looked-up server. It sees the
# group and its members as of one moment at any level of isolation.
_AGAIN = sa.union_all(
    sa.select(*LIGHT, *_nulls((*CHANGING, _MEMBER.alternates))).where(
        GroupRow.__table__.c.uuid == sa.bindparam('group')),
    sa.select(*_nulls(LIGHT), *CHANGING, sa.case(
        (_MEMBER.path == sa.bindparam('path'), _MEMBER.alternates))).where(
            _MEMBER.group_uuid == sa.bindparam('group')))

Found = tuple[GroupRecord, Sequence[MemberRecord]]


@dataclass(frozen=True, slots=True)
class Known:
    """The last read state of a group.

    :ivar members: members by ID, in the order of the document
    :ivar text: approximate number of characters of the document
    """

    record: GroupRecord
    members: dict[int, MemberRecord]
    text: int = 0

    @property
    def found(self) -> Found:
        return self.record, tuple(self.members.values())


class GroupCache:
    """Groups with their members. Of a group that was read before, only what
    may have changed is read: states and owners, and where members are.

    A group's document, and the order and the requirements of its members,
    change with its ``version``; a member's place with its hold, or with its
    host once it is built. The resources of a built member, which change when
    its server is resized, are those that were read with its host. Safe to
    share between threads.
    """

    def __init__(self, database: Database, limit: int = REMEMBERED,
                 clock: Callable[[], float] = time.monotonic):
        """
        :param limit: members that are remembered, or as much else
        :param clock: in seconds
        """
        self._database = database
        self._limit, self._clock = limit, clock
        self._known: OrderedDict[str, Known] = OrderedDict()
        # Of each, in members, and of all.
        self._weights: dict[str, int] = {}
        self._weight = 0
        self._read_at: dict[str, float] = {}
        self._lock = threading.Lock()

    def read(self, group_uuid: str) -> Found | None:
        """A group and its members in the order of its document, both as of one
        moment; without the members' alternates and times of change, and
        without the arguments of the group's task. One query if it was read
        before and has not been revised or planned again.
        """
        return self.read_for(group_uuid, '')[0]

    def read_for(self, group_uuid: str, path: str
                 ) -> tuple[Found | None, Sequence[Place] | None]:
        """The group and its members, and the alternates of the member at a
        path.

        :returns: None instead of alternates if they were not read
        """
        with self._lock:
            known = self._known.get(group_uuid)
        found, alternates = None, None
        if known is not None:
            with self._database.link() as link:
                found, alternates = _read_changes(link, known, path)
        if found is None:
            alternates = None
            with self._database.view() as session:
                if known is not None:
                    found, alternates = _read_changes(
                        session.connection(), known, path, FEW)
                if found is None:
                    found = _read_completely(session, group_uuid)
        self._remember(group_uuid, found)
        return found and found.found, alternates

    def _remember(self, group_uuid: str, found: Known | None) -> None:
        # A group without members is read once, for all pointers to missing
        # members.
        weight = _weight(found) if found and found.members else 0
        with self._lock:
            now = self._clock()
            self._forget(group_uuid)
            if weight:
                self._known[group_uuid] = found
                self._weights[group_uuid] = weight
                self._weight += weight
                self._read_at[group_uuid] = now
            while self._known:
                oldest = next(iter(self._known))
                if self._weight <= self._limit and (
                        self._read_at[oldest] >= now - UNREAD):
                    break
                self._forget(oldest)

    def _forget(self, group_uuid: str) -> None:
        self._known.pop(group_uuid, None)
        self._read_at.pop(group_uuid, None)
        self._weight -= self._weights.pop(group_uuid, 0)


def _weight(known: Known) -> int:
    """What a group takes, in members."""
    return GROUP + len(known.members) + known.text // 512


def _characters(value: Any) -> int:
    """About as many as the text of a document has."""
    if isinstance(value, Mapping):
        return sum(len(key) + 4 + _characters(part)
                   for key, part in value.items())
    if isinstance(value, (list, tuple)):
        return sum(map(_characters, value)) + 2
    return len(value) if isinstance(value, str) else 4


def _read_completely(session: orm.Session, group_uuid: str) -> Known | None:
    row = session.execute(
        sa.select(*LIGHT, GroupRow.document).where(
            GroupRow.uuid == group_uuid)).first()
    if row is None:
        return None
    record = replace(rows.light_group_record(row), document=row.document)
    return Known(record, members(
        session, MemberRow.group_uuid == group_uuid),
        _characters(record.document))


def _read_changes(link: sa.Connection, known: Known, path: str,
                  few: int = 0
                  ) -> tuple[Known | None, Sequence[Place] | None]:
    """None if more has changed than this read covers.

    :param few: how many members are read completely, in the same view:
        those that are new, or have another place
    """
    row, changing, alternates = None, {}, None
    for each in link.execute(
            _AGAIN, {'group': known.record.uuid, 'path': path}).all():
        if each.uuid is not None:
            row = each
            continue
        *values, places = each[len(LIGHT):]
        changing[values[0]] = values
        if places is not None:
            alternates = rows.places(places)
    if row is None or version(row) != version(known.record):
        return None, None
    unknown = _unknown(known.members, changing)
    if len(unknown) > few:
        return None, None
    members_now = {**known.members, **(members(
        link, MemberRow.id.in_(unknown)) if unknown else {})}
    found = again(members_now, changing)
    if found is None:
        return None, None
    return Known(replace(rows.light_group_record(row),
                         document=known.record.document),
                 found, known.text), alternates


def _unknown(known: Mapping[int, MemberRecord],
             changing: Mapping[int, Sequence[Any]]) -> list[int]:
    """Ids of members that are new, or have another place or hold."""
    return [number for number, (_, hold, host, *_) in changing.items()
            if number not in known or (
                known[number].hold, known[number].place.host) != (hold, host)]


def version(group: GroupRecord | sa.Row) -> tuple:
    """What differs between two documents that a group of one UUID has had.

    The revision counts the changes of one group. A group that is deleted and
    created again with the same UUID begins at the same revision, and was
    created at another time or by another request.
    """
    return group.revision, group.created_at, group.fingerprint


def again(known: Mapping[int, MemberRecord],
          changing: Mapping[int, Sequence[Any]]
          ) -> dict[int, MemberRecord] | None:
    """Members in their current state, in the known order, which changes with
    the group's version. None if more than their state has changed.

    :param changing: ``CHANGING`` of each, by its id
    """
    if not changing.keys() <= known.keys():
        return None
    found = {}
    for number, was in known.items():
        if number in changing:
            _, hold, host, *now = changing[number]
            if (was.hold, was.place.host) != (hold, host):
                return None
            found[number] = _updated(was, *now)
    return found


def _updated(was: MemberRecord, state: str, held: bool,
             instance_uuid: str | None, destination: Mapping | None
             ) -> MemberRecord:
    place = rows.destination(state, destination)
    if (was.state, was.held, was.instance_uuid, was.destination) == (
            state, held, instance_uuid, place):
        return was
    return replace(was, state=MemberState(state), held=held,
                   instance_uuid=instance_uuid, destination=place)


def members(session: orm.Session | sa.Connection, *where
            ) -> dict[int, MemberRecord]:
    """Members by id, group by group, in the order of the document. What is
    equal is kept in memory once."""
    places, wanted = {}, {}
    found = {}
    for row in session.execute(sa.select(*_HEAVY).where(*where).order_by(
            MemberRow.group_uuid, MemberRow.position)):
        record = rows.bare_member(row)
        requirements = record.member.requirements
        found[record.id] = replace(
            record, place=places.setdefault(record.place, record.place),
            member=replace(record.member, requirements=wanted.setdefault(
                requirements, requirements)))
    return found

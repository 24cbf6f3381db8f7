# SPDX-License-Identifier: Apache-2.0
"""A cache of groups, because a group is read for each of its servers."""

from collections.abc import Callable, Mapping, Sequence
from collections import OrderedDict
from dataclasses import dataclass, replace
import threading
import time
from types import SimpleNamespace
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.database import Database
from nova_holistic.table.queries.exclusive_state import ExclusiveState
from nova_holistic.table.queries import group_state
from nova_holistic.table.queries.group_state import LIGHT
from nova_holistic.table.records import (
    GroupRecord, MemberRecord, MemberState, Place)
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow, MemberRow

REMEMBERED = 50_000
"""Maximum number of cached members of all groups. A member takes about a
kilobyte; other data are counted in this unit."""
MAX_IDLE_SECONDS = 600
"""Seconds after which a group that was not read again is removed, so that
deleted groups do not occupy memory."""
MAX_REREAD_MEMBERS = 16
"""Maximum number of members that are read completely because they are new or
have another place. If there are more, the whole group is read."""
GROUP_WEIGHT = 4
"""Memory of a group in addition to its members and its document, in units of
members."""

_HEAVY = (*(column for column in rows.BARE if column.name != 'updated_at'),
          sa.null().label('updated_at'))
Found = tuple[GroupRecord, Sequence[MemberRecord]]


class Read(NamedTuple):
    """The result of ``GroupCache.read_for``.

    :ivar found: the group and its members; None if it does not exist
    :ivar alternates: alternates of the member at the path; None if they were
        not read
    :ivar exclusive: state of all exclusive groups; None if it was not read
    """

    found: Found | None = None
    alternates: Sequence[Place] | None = None
    exclusive: ExclusiveState | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """The last read state of a group.

    :ivar members: members by ID, in the order of the document
    :ivar text: approximate number of characters of the document
    :ivar values: the columns from which the record was made: see
        ``GroupState.group``; None if they were not kept
    """

    record: GroupRecord
    members: dict[int, MemberRecord]
    text: int = 0
    values: tuple[Any, ...] | None = None

    @property
    def found(self) -> Found:
        """The group and its members, as ``GroupCache.read`` returns them."""
        return self.record, tuple(self.members.values())


class GroupCache:
    """A cache of groups with their members. If a group is cached, only the
    columns in ``LIGHT`` and ``group_state.CHANGING`` are read again.

    The document of a group, and the order and the requirements of its members,
    change only with its ``version``. The place of a member changes only with
    its hold, or with its host when it is built. The resources of a built
    member also change when its server is resized. The cache then contains the
    resources that were read with the host. Threads may share an instance.
    """

    def __init__(self, database: Database, limit: int = REMEMBERED,
                 clock: Callable[[], float] = time.monotonic):
        """
        :param limit: maximum number of cached members: see ``REMEMBERED``
        :param clock: returns seconds since any point in time
        """
        self._database = database
        self._limit, self._clock = limit, clock
        self._known: OrderedDict[str, Known] = OrderedDict()
        # Memory of each group and of all groups, in units of members.
        self._weights: dict[str, int] = {}
        self._weight = 0
        self._read_at: dict[str, float] = {}
        self._lock = threading.Lock()

    def read(self, group_uuid: str) -> Found | None:
        """A group and its members in the order of its document, both at one
        point in time; None if it does not exist.

        The members have no alternates and no times of change, and the group
        has no parameters of its task. This takes one query if the group is
        cached and was not revised or planned again.
        """
        return self.read_for(group_uuid, '').found

    def read_for(self, group_uuid: str, path: str) -> Read:
        """The group and its members, the alternates of the member at a path,
        and the state of all exclusive groups.

        If the group is not cached, or if more has changed than one statement
        reads, only the group and its members are read.
        """
        with self._lock:
            known = self._known.get(group_uuid)
        found, read = None, Read()
        if known is not None:
            with self._database.link() as link:
                found, read = _read_changes(link, known, path)
        if found is None:
            read = Read()
            with self._database.view() as session:
                if known is not None:
                    found, read = _read_changes(
                        session.connection(), known, path, MAX_REREAD_MEMBERS)
                if found is None:
                    found = _read_completely(session, group_uuid)
        self._remember(group_uuid, found)
        return read._replace(found=found and found.found)

    def _remember(self, group_uuid: str, found: Known | None) -> None:
        # A group without members is not cached.
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
                        self._read_at[oldest] >= now - MAX_IDLE_SECONDS):
                    break
                self._forget(oldest)

    def _forget(self, group_uuid: str) -> None:
        self._known.pop(group_uuid, None)
        self._read_at.pop(group_uuid, None)
        self._weight -= self._weights.pop(group_uuid, 0)


def _weight(known: Known) -> int:
    """The memory of a group in units of members."""
    return GROUP_WEIGHT + len(known.members) + known.text // 512


def _characters(value: Any) -> int:
    """Approximate number of characters of the text of a document."""
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
                  few: int = 0) -> tuple[Known | None, Read]:
    """The current state of a cached group, and what else was read with it.
    The group is None if more has changed than this read covers.

    :param few: maximum number of members that are read completely, because
        they are new or have another place
    """
    state = group_state.read(link, known.record.uuid, path)
    record = _record(known, state.group)
    unknown = _unknown(known.members, state.members)
    if record is None or len(unknown) > few:
        return None, Read()
    members_now = {**known.members, **(members(
        link, MemberRow.id.in_(unknown)) if unknown else {})}
    found = updated_members(members_now, state.members)
    if found is None:
        return None, Read()
    return Known(record, found, known.text, state.group), Read(
        alternates=(None if state.alternates is None
                    else rows.places(state.alternates)),
        exclusive=state.exclusive)


def _record(known: Known, values: tuple[Any, ...] | None
            ) -> GroupRecord | None:
    """The current record of a cached group; None if the group no longer has
    the same version."""
    if values is None:
        return None
    if values == known.values:
        return known.record
    row = group_state.named(values)
    if version(row) != version(known.record):
        return None
    return replace(rows.light_group_record(row),
                   document=known.record.document)


def _unknown(known: Mapping[int, MemberRecord],
             changing: Mapping[int, Sequence[Any]]) -> list[int]:
    """IDs of members that are new, or have another place or hold."""
    return [number for number, (_, hold, host, *_) in changing.items()
            if number not in known or (
                known[number].hold, known[number].place.host) != (hold, host)]


def version(group: GroupRecord | sa.Row | SimpleNamespace) -> tuple:
    """Values that identify a version of the document of a group.

    The revision counts the changes of one group. If a group is deleted and
    created again with the same UUID, it begins with the same revision, but it
    was created at another time or by another request.
    """
    return group.revision, group.created_at, group.fingerprint


def updated_members(known: Mapping[int, MemberRecord],
                    changing: Mapping[int, Sequence[Any]]
                    ) -> dict[int, MemberRecord] | None:
    """Members in their current state, in the known order, which changes with
    the group's version. None if more than their state has changed.

    :param changing: values of ``group_state.CHANGING`` by the ID of the member
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
    """Members by ID, group by group, in the order of the document. Equal
    places and equal requirements share one object."""
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

# SPDX-License-Identifier: Apache-2.0
"""The last read state of a group, and the changes since then."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
import heapq
from types import SimpleNamespace
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.model.layered_mapping import LayeredMapping
from nova_holistic.table.queries.exclusive_state import ExclusiveState
from nova_holistic.table.queries.group_members import GroupMembers
from nova_holistic.table.queries import group_state
from nova_holistic.table.queries.group_state import (
    GroupState, LIGHT, MODULUS)
from nova_holistic.table.records import (
    GroupRecord, MemberRecord, MemberState, Place)
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow, MemberRow

MAX_REREAD_MEMBERS = 16
"""Maximum number of members that are read completely because they are new or
have another place. If there are more, the whole group is read."""
OVERLAP = timedelta(seconds=1)
"""Time before the last known change of a group from which its members
are read again. Most transactions are shorter. A change that is committed later
changes the sum of the times, so that all members are read again."""

MAX_RECENT_MEMBERS = 32
"""Number of known members above which ``OVERLAP`` is shortened, so that a
group is not read again and again after its plan was written. Each change after
the last known one has a later time, or is found by the sum of the times."""

_EPOCH = datetime(1970, 1, 1)
_HEAVY = (*(column for column in rows.BARE if column.name != 'updated_at'),
          sa.null().label('updated_at'))
Found = tuple[GroupRecord, GroupMembers]


@dataclass(frozen=True, slots=True)
class MemberTimes:
    """Times of the last changes of the members of a group.

    :ivar by_id: microseconds by the ID of the member
    :ivar newest: the largest of them
    :ivar settled: members with this time, or with an earlier one, are not read
        again as long as ``newest`` is later
    :ivar total: see ``GroupState.total``
    """

    by_id: LayeredMapping[int, int] = field(
        default_factory=LayeredMapping)
    newest: int = 0
    settled: int = 0
    total: tuple[int, int] = (0, 0)

    def updated(self, times: Mapping[int, int]) -> 'MemberTimes':
        """The times with those of changed members."""
        number, total = self.total
        for each, time in times.items():
            before = self.by_id.get(each)
            number += before is None
            total += time % MODULUS - (before or 0) % MODULUS
        # If a clock is set back, this is too large until the sum shows that
        # changes were missed, so that all members are read again.
        newest = max(self.newest, *times.values()) if times else self.newest
        settled = self.settled
        if len(times) > MAX_RECENT_MEMBERS:
            settled = max(settled, heapq.nlargest(
                MAX_RECENT_MEMBERS + 1, times.values())[-1])
        return MemberTimes(
            self.by_id.updated(times) if self.by_id else LayeredMapping(times),
            newest, settled, (number, total))

    @property
    def since(self) -> datetime:
        """The time from which members are read again, in naive UTC."""
        newest = _EPOCH + timedelta(microseconds=self.newest)
        if self.settled == self.newest:
            # Another change may have the same time.
            return newest - OVERLAP
        return max(newest - OVERLAP, _EPOCH + timedelta(
            microseconds=self.settled + 1))


NO_TIMES = MemberTimes()


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

    :ivar text: approximate number of characters of the document
    :ivar values: the columns from which the record was made: see
        ``GroupState.group``; None if they were not kept
    :ivar times: times of the last changes of the members; empty if they were
        not read
    """

    record: GroupRecord
    members: GroupMembers
    text: int = 0
    values: tuple[Any, ...] | None = None
    times: MemberTimes = NO_TIMES

    @property
    def found(self) -> Found:
        """The group and its members, as ``GroupCache.read`` returns them."""
        return self.record, self.members


def read_completely(session: orm.Session, group_uuid: str) -> Known | None:
    """A group with its document and its members; None if it does not exist.
    The times of the members are not read."""
    row = session.execute(
        sa.select(*LIGHT, GroupRow.document).where(
            GroupRow.uuid == group_uuid)).first()
    if row is None:
        return None
    record = replace(rows.light_group_record(row), document=row.document)
    found = members(session, MemberRow.group_uuid == group_uuid)
    return Known(record, GroupMembers.of(found.values()),
                 _characters(record.document))


def read_changes(link: sa.Connection, known: Known, path: str,
                 few: int = 0) -> tuple[Known | None, Read]:
    """The current state of a cached group, and what else was read with it.
    The group is None if more has changed than this read covers.

    :param few: maximum number of members that are read completely, because
        they are new or have another place
    """
    state, times = _read_state(link, known, path)
    record = _record(known, state.group)
    unknown = _unknown(known.members.by_id, state.members)
    if record is None or len(unknown) > few:
        return None, Read()
    members_now = known.members
    # Only members without a time are no longer there.
    if unknown or len(known.members.by_id) != len(times.by_id):
        by_id = {number: each for number, each in known.members.by_id.items()
                 if number in times.by_id}
        by_id.update(members(link, MemberRow.id.in_(unknown))
                     if unknown else {})
        members_now = GroupMembers.of(by_id.values())
    found = updated_members(members_now, state.members)
    if found is None:
        return None, Read()
    return Known(record, found, known.text, state.group, times), Read(
        alternates=(None if state.alternates is None
                    else rows.places(state.alternates)),
        exclusive=state.exclusive)


def _read_state(link: sa.Connection, known: Known, path: str
                ) -> tuple[GroupState, MemberTimes]:
    """The state of a group with its changed members, and the times of the
    last changes of all members by ID.

    Only recent changes are read. All members are read if the number of
    members and the sum of their times show that this has missed any change: a
    deletion, or a transaction that was committed long after its statement.
    """
    if known.times.newest:
        state = group_state.read(
            link, known.record.uuid, path, known.times.since)
        times = known.times.updated(state.times)
        if times.total == state.total:
            return state, times
    state = group_state.read(link, known.record.uuid, path)
    return state, NO_TIMES.updated(state.times)


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


def updated_members(known: GroupMembers, changing: Mapping[int, Sequence[Any]]
                    ) -> GroupMembers | None:
    """Members in their current state, in the known order, which changes with
    the group's version. None if more than the state of a member has changed.

    :param changing: values of ``group_state.CHANGING`` by the ID of the
        member, of members that may have changed
    """
    if not all(number in known.by_id for number in changing):
        return None
    found = []
    for number, (_, hold, host, *now) in changing.items():
        was = known.by_id[number]
        if (was.hold, was.place.host) != (hold, host):
            return None
        row = _updated(was, *now)
        if row is not was:
            found.append(row)
    return known.updated(found) if found else known


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


def _characters(value: Any) -> int:
    """Approximate number of characters of the text of a document."""
    if isinstance(value, Mapping):
        return sum(len(key) + 4 + _characters(part)
                   for key, part in value.items())
    if isinstance(value, (list, tuple)):
        return sum(map(_characters, value)) + 2
    return len(value) if isinstance(value, str) else 4

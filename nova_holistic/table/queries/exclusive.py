# SPDX-License-Identifier: Apache-2.0
"""Exclusive groups, which are read for every server that Nova places."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from collections import defaultdict
from dataclasses import dataclass, field, replace

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.model.layered_mapping import (
    differences, LayeredMapping)
from nova_holistic.table.batches import batches
from nova_holistic.table.database import Database
from nova_holistic.table.queries.cached_group import Found, members, version
from nova_holistic.table.queries import exclusive_state
from nova_holistic.table.queries.exclusive_state import (
    Claims, ExclusiveState, Sums)
from nova_holistic.table.queries.group_cache import REMEMBERED
from nova_holistic.table.queries.group_members import GroupMembers
from nova_holistic.table.queries.group_state import LIGHT
from nova_holistic.table.records import GroupRecord, MemberRecord, MemberState
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow, MemberRow

# MariaDB does not use the index for "is true".
_IS_EXCLUSIVE = GroupRow.exclusive == sa.true()

_HEADS = (GroupRow.uuid, GroupRow.revision, GroupRow.created_at,
          GroupRow.fingerprint, GroupRow.places_version)

CHANGED = 100
"""Maximum number of groups whose changed members one statement reads."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """The last read state of one group.

    :ivar members: members by ID, read with this places version
    """

    places_version: int
    record: GroupRecord
    members: LayeredMapping[int, MemberRecord]


@dataclass(frozen=True, slots=True)
class _Known:
    """The state of the cache.

    :ivar sums: None if ``groups`` does not contain all groups
    :ivar groups: groups by UUID
    :ivar claims: claims of all groups, by UUID
    :ivar shown: the last result for each group and its inputs, by UUID
    :ivar found: the result of the last read
    """

    sums: Sums | None = None
    groups: Mapping[str, _Kept] = field(default_factory=dict)
    claims: Mapping[str, Claims] = field(default_factory=dict)
    shown: Mapping[str, tuple[_Kept, Claims, Found]] = field(
        default_factory=dict)
    found: Sequence[Found] = ()


class ExclusiveGroups:
    """Exclusive groups with their members that count at hosts.

    Only changed rows are read again: see ``changes.places_versions``. Threads
    may share an instance.

    The UUID, owner, document and levels of a group are current, and so are the
    place, destination, state and server of a member. Other fields may be
    older.
    """

    def __init__(self, database: Database, counted: Collection[MemberState],
                 limit: int = REMEMBERED):
        """
        :param counted: states of members that count at hosts
        :param limit: maximum number of cached members
        """
        self._database = database
        self._counted = MemberRow.state.in_(counted)
        self._states = frozenset(counted)
        self._limit = limit
        # The object is replaced and never changed, so that threads need no
        # lock.
        self._known = _Known()

    def read(self, state: ExclusiveState | None = None) -> Sequence[Found]:
        """All exclusive groups in any order.

        This takes one statement if nothing has changed. Its result has one
        row, and another one for each claimed member whose server is being
        built. If an object has not changed since the last read, the same
        object is returned: a record of a member, the members of a group, or
        the complete result.

        :param state: the result of this statement if the caller has just read
            it. The statement is then sent only if a group has changed
        """
        if state is None or state.sums[0] and state.sums != self._known.sums:
            with self._database.link() as link:
                state = exclusive_state.read(link)
        sums: Sums = state.sums
        claims: Mapping[str, Claims] = state.claims
        known = self._known
        if not sums[0]:
            self._known = _Known()
            return ()
        fresh: Collection[int] = ()
        groups = known.groups
        if sums != known.sums:
            with self._database.view() as session:
                sums, groups, fresh = self._changed(session, known)
        elif claims == known.claims:
            return known.found
        # A member that was read after its claim is up to date.
        claims = {uuid: {number: server for number, server in some.items()
                         if number not in fresh}
                  for uuid, some in claims.items()}
        shown = {uuid: _shown(each, claims.get(uuid, {}),
                              known.shown.get(uuid))
                 for uuid, each in groups.items() if each.members}
        found = tuple(each[-1] for each in shown.values())
        self._remember(_Known(sums, groups, claims, shown, found))
        return found

    def _changed(self, session: orm.Session, known: _Known
                 ) -> tuple[Sums, dict[str, _Kept], Collection[int]]:
        """The current groups, and the IDs of members that were read again."""
        heads = {row.uuid: row for row in session.execute(
            sa.select(*_HEADS).where(_IS_EXCLUSIVE))}
        kept = {uuid: known.groups[uuid] for uuid, head in heads.items()
                if uuid in known.groups
                and version(known.groups[uuid].record) == version(head)}
        changed = [head for uuid, head in heads.items() if uuid in kept
                   and kept[uuid].places_version != head.places_version]
        fresh: set[int] = set()
        for batch in batches(changed, CHANGED):
            fresh |= self._merge(session, batch, kept)
        added = [heads[uuid] for uuid in heads.keys() - kept.keys()]
        for group in _read_completely(session, self._counted, added):
            kept[group.record.uuid] = group
            fresh.update(group.members)
        return (len(heads), sum(row.places_version for row in heads.values()),
                sum(row.revision for row in heads.values())), kept, fresh

    def _merge(self, session: orm.Session, heads: Sequence[sa.Row],
               kept: dict[str, _Kept]) -> set[int]:
        """Update the cached groups. If members of a group were deleted, the
        group is removed, because deleted rows have no version.

        :returns: IDs of the members that were read
        """
        found = members(session, sa.or_(*(sa.and_(
            MemberRow.group_uuid == head.uuid,
            MemberRow.places_version > kept[head.uuid].places_version)
            for head in heads)))
        numbers = {group: number for group, number in session.execute(
            sa.select(MemberRow.group_uuid, sa.func.count()).where(
                MemberRow.group_uuid.in_([head.uuid for head in heads]),
                self._counted).group_by(MemberRow.group_uuid))}
        for head in heads:
            mine = {number: member for number, member in found.items()
                    if member.group_uuid == head.uuid}
            left = [number for number, member in mine.items()
                    if member.state not in self._states]
            for number in left:
                del mine[number]
            now = kept[head.uuid].members.updated(mine, left)
            if len(now) == numbers.get(head.uuid, 0):
                kept[head.uuid] = replace(
                    kept[head.uuid], places_version=head.places_version,
                    members=now)
            else:
                del kept[head.uuid]
        return set(found)

    def _remember(self, known: _Known) -> None:
        groups, number = {}, 0
        for uuid, group in known.groups.items():
            number += len(group.members)
            if number > self._limit:
                known = replace(known, sums=None, groups=groups, found=(),
                                shown={uuid: known.shown[uuid] for uuid
                                       in groups if uuid in known.shown})
                break
            groups[uuid] = group
        self._known = known


def _shown(kept: _Kept, claims: Claims,
           before: tuple[_Kept, Claims, Found] | None
           ) -> tuple[_Kept, Claims, Found]:
    """The result for a group: the cached members, with the claims that were
    made after they were read. Unchanged parts of the previous result are
    returned again. If the group has the same members as in that result, only
    changed members are visited."""
    last_members = before[0].members if before is not None else {}
    different = differences(last_members, kept.members)
    if before is None or before[0].record is not kept.record or any(
            number not in last_members or number not in kept.members
            for number in different):
        known = {} if before is None else before[-1][1].by_id
        return kept, claims, (kept.record, GroupMembers.of([
            _same_or_new(known.get(number), _with_claim(member, claims))
            for number, member in kept.members.items()]))
    last_kept, last_claims, (_, last) = before
    if last_kept is kept and last_claims == claims:
        return before
    changed = {number for number, _ in claims.items() ^ last_claims.items()
               if number in kept.members}
    changed.update(different)
    found = [_with_claim(kept.members[number], claims) for number in changed]
    rows = [row for row in found if row != last.by_id[row.id]]
    return kept, claims, (kept.record, last.updated(rows) if rows else last)


def _with_claim(member: MemberRecord, claims: Claims) -> MemberRecord:
    if member.id in claims and member.state == MemberState.PLANNED:
        return replace(member, state=MemberState.CLAIMED, held=False,
                       instance_uuid=claims[member.id])
    return member


def _same_or_new(before: MemberRecord | None,
                 now: MemberRecord) -> MemberRecord:
    return before if before == now and before is not None else now


def _read_completely(session: orm.Session, counted, heads: Sequence[sa.Row]
                     ) -> Iterator[_Kept]:
    for batch in batches(heads):
        versions = {head.uuid: head.places_version for head in batch}
        by_group: dict[str, dict[int, MemberRecord]] = defaultdict(dict)
        for number, member in members(
                session, MemberRow.group_uuid.in_(versions),
                counted).items():
            by_group[member.group_uuid][number] = member
        for row in session.execute(
                sa.select(*LIGHT, GroupRow.document).where(
                    GroupRow.uuid.in_(versions))):
            yield _Kept(versions[row.uuid], replace(
                rows.light_group_record(row), document=row.document),
                LayeredMapping(by_group[row.uuid]))

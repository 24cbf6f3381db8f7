# SPDX-License-Identifier: Apache-2.0
"""Writes groups of a parent that are missing in its table."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
import uuid

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.federation.recovery.found_parts import FoundPart
from nova_holistic.federation.recovery.merged_document import merged_document
from nova_holistic.federation.recovery.selection import select, Selected
from nova_holistic.federation.saga.journal import PartState
from nova_holistic.federation.saga.saga import is_longest
from nova_holistic.federation.splitting.cloud_rules import CLOUD
from nova_holistic.model.members.member import Member
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.table.changes import recovered_groups
from nova_holistic.table.coordination.parts import GroupPart
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState, Place)
from nova_holistic.table.store import PlacementTable

RECOVERED, KNOWN, LEFT = 'recovered', 'known', 'left'


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of the recovered groups in the parent's keystone."""

    project_id: str
    user_id: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of the recovery of one group.

    :ivar group: UUID of the group
    :ivar members: number of members in the children
    :ivar result: ``recovered``, ``known`` (the table has the group), or
        ``left`` (the group cannot be recovered)
    :ivar why: why the group cannot be recovered
    """

    group: str
    name: str
    project_id: str
    clouds: tuple[str, ...]
    members: int
    result: str
    why: str = ''


class Recovery:
    """Writes missing groups. It never changes groups that the table has, so
    that the command may be repeated."""

    def __init__(self, table: PlacementTable, policy_types: PolicyTypes,
                 commit_lease: int, clock: Callable[[], datetime],
                 own_keystone: Collection[str] = (),
                 owner: Owner | None = None):
        """
        :param commit_lease: seconds; the lease of a part that is not committed
        :param clock: returns naive UTC
        :param own_keystone: names of children whose users are not those of
            the parent
        :param owner: owner of all groups; None: the owner in the children
        """
        self._table = table
        self._policy_types = policy_types
        self._commit_lease = timedelta(seconds=commit_lease)
        self._clock = clock
        self._own_keystone = own_keystone
        self._owner = owner

    def run(self, parts: Collection[FoundPart],
            dry_run: bool) -> Iterator[Outcome]:
        """Recover groups, and return one outcome for each group.

        :param parts: parts in all children
        :param dry_run: whether nothing is written
        """
        for each in select(parts, self._clock() + self._commit_lease):
            yield self._outcome(each, dry_run)

    def _outcome(self, selected: Selected, dry_run: bool) -> Outcome:
        if self._table.get_group(selected.group) is not None:
            return self._answer(selected, KNOWN)
        if selected.obstacle:
            return self._answer(selected, LEFT, selected.obstacle)
        try:
            record, members = self._records(selected)
        except InvalidDocument as error:
            return self._answer(selected, LEFT, str(error))
        if not dry_run and not recovered_groups.write(
                self._table.database, record, members,
                [self._part(each) for each in selected.parts]):
            return self._answer(selected, KNOWN)
        if not dry_run:
            self._table.settle(record.uuid, self._clock())
        return self._answer(selected, RECOVERED)

    def _answer(self, selected: Selected, result: str,
                why: str = '') -> Outcome:
        first = selected.parts[0]
        return Outcome(
            selected.group, first.name,
            self._owner.project_id if self._owner else first.project_id,
            tuple(sorted({part.key.child for part in selected.parts})),
            sum(len(part.group.members or ()) for part in selected.parts),
            result, why)

    def _records(self, selected: Selected
                 ) -> tuple[GroupRecord, list[MemberRecord]]:
        """The rows of the group and of its members.

        :raises InvalidDocument: the parts contradict each other
        """
        for part in selected.parts:
            # The parent does not trust the documents of a child.
            parse_group(part.document, self._policy_types)
        document = merged_document([
            (part.key.child, part.document) for part in selected.parts])
        known = {member.path: member for member in parse_group(
            document, self._policy_types).all_members()}
        found = {
            member.path: (part.key.child, member.state)
            for part in selected.parts for member in part.group.members or ()}
        _must_be_equal(known, found)
        owner, now = self._owner_of(selected), self._clock()
        # Parts with the longest lease belong to a group without a lease.
        ends = [part.lease_end for part in selected.parts
                if part.lease_end is not None
                and not is_longest(part.lease_end, now)]
        record = GroupRecord(
            selected.group, selected.parts[0].name, owner.project_id,
            owner.user_id, GroupStatus.PLANNED, {'group': document},
            selected.parts[0].objective, (CLOUD,), created_at=now,
            updated_at=now, lease_expires_at=min(ends, default=None))
        return record, [MemberRecord(
            id=0, group_uuid=record.uuid, member=known[path],
            place=Place(cloud, cloud, '', (cloud,)), hold=str(uuid.uuid4()),
            held=False, state=MemberState(state), updated_at=now)
            for path in known for cloud, state in [found[path]]]

    def _owner_of(self, selected: Selected) -> Owner:
        if self._owner is not None:
            return self._owner
        owners = {Owner(part.project_id, part.user_id)
                  for part in selected.parts
                  if part.key.child not in self._own_keystone}
        if len(owners) != 1:
            raise InvalidDocument(
                '', 'its clouds name several owners' if owners else
                'its clouds have their own keystone: give --project-id and '
                '--user-id')
        return owners.pop()

    def _part(self, part: FoundPart) -> GroupPart:
        """The row of a part. The parent reads the servers and the clouds below
        the child when a user shows the group."""
        return GroupPart(
            part.text, part.key.group, part.key.child, part.name,
            tuple(each.path for each in part.group.members or ()),
            str(PartState.COMMITTED), self._clock(), part.group.uuid,
            part.lease_end, child_project=part.project_id)


def _must_be_equal(known: dict[str, Member], found: Collection[str]) -> None:
    missing = [path for path in known if path not in found]
    if missing:
        raise InvalidDocument('', 'no cloud that was read has member '
                              f'{missing[0]} of its definition')
    others = [path for path in found if path not in known]
    if others:
        raise InvalidDocument('', f'a cloud reports member {others[0]}, which '
                              'is not in its definition')

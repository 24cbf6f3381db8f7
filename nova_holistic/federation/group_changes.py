# SPDX-License-Identifier: Apache-2.0
"""Releases, extends, repairs and deletes the parts of a group in the children.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from nova_holistic import crash_points
from nova_holistic.documents.validation import brief
from nova_holistic.engine.named_paths import named_paths
from nova_holistic.federation.child import Document, Refusal
from nova_holistic.federation.credentials.user import User
from nova_holistic.federation.credentials.user_children import UserChildren
from nova_holistic.federation.errors import (
    ChildFailed, JournalRefused, MemberNotBuilt)
from nova_holistic.federation import parent_path
from nova_holistic.federation.refresh import Refresh
from nova_holistic.federation.table_journal import record_of, TableJournal
from nova_holistic.federation.undo import undo_parts
from nova_holistic.federation.update import kept_members
from nova_holistic.federation.update.part_settler import definition, HELD
from nova_holistic.messaging import errors
from nova_holistic.messaging.results import Released
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.table.changes import group_deletion
from nova_holistic.table.coordination.parts import GroupPart
from nova_holistic.table import errors as table_errors
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState)
from nova_holistic.table.store import PlacementTable

LEASED = (GroupStatus.PLANNED, GroupStatus.BUILDING, GroupStatus.COMPLETE)


class GroupChanges:
    """Changes the parts of a group in all children that have a part. If a
    child fails, the other children still receive the request, and the error
    names those that failed. Each operation may be repeated."""

    def __init__(self, table: PlacementTable, children: UserChildren,
                 refresh: Refresh, policy_types: PolicyTypes,
                 clock: Callable[[], datetime]):
        """:param clock: returns naive UTC"""
        self._table = table
        self._children = children
        self._refresh = refresh
        self._policy_types = policy_types
        self._clock = clock

    def release(self, user: User, group_uuid: str,
                names: Collection[str] | None,
                revision: int | None = None) -> Released:
        """Release planned members in their children.

        :param names: paths of members, of counted members, or of nested
            groups; None: all
        :param revision: required revision of the group; None means any
        :raises StaleRevision: the group has another revision
        :raises GroupUnknown: there is no such group
        :raises GroupBusy: the group has a task
        :raises MemberUnknown: the group does not have one of the names;
            nothing is released
        :raises ChildFailed: a child did not release its part
        """
        group = self._settled(group_uuid, revision)
        before = self._named(group, names)
        chosen = {row.member.path for row in before}
        failed = []
        for part in self._parts(group_uuid):
            paths = [path for path in part.paths if path in chosen]
            if paths:
                failed.append(self._child(user, part).release(
                    part.child_group, None if names is None else paths))
        crash_points.reached('federation.released')
        self._refresh.settled(user, group_uuid)
        _must_succeed(failed)
        after = {row.member.path: row.state
                 for row in self._table.members(group_uuid)}
        return Released(
            tuple(row.member.path for row in before
                  if row.state != MemberState.RELEASED
                  and after.get(row.member.path) == MemberState.RELEASED),
            tuple(path for path in after if path in chosen and after[path] in (
                MemberState.CLAIMED, MemberState.BUILT)))

    def extend(self, user: User, group_uuid: str, seconds: int,
               revision: int | None = None) -> None:
        """Extend the leases of all parts.

        :param seconds: time from now to the end of the leases
        :param revision: required revision of the group; None means any
        :raises StaleRevision: the group has another revision
        :raises GroupUnknown: there is no such group
        :raises GroupBusy: the group has a task
        :raises LeaseRefused: no part has members whose lease could be extended
        :raises ChildFailed: a child did not extend the lease of its part
        """
        group = self._settled(group_uuid, revision)
        answers = [self._child(user, part).extend(part.child_group, seconds)
                   for part in self._parts(group_uuid)]
        _must_succeed(answers)
        now = self._clock()
        if not any(answers) or not self._table.update_group(
                group_uuid, LEASED, revision, updated_at=now,
                lease_expires_at=now + timedelta(seconds=seconds)):
            # The group may have been updated in the meantime.
            self._settled(group_uuid, revision)
            raise errors.LeaseRefused(
                f'group {group_uuid} is {group.status}: no member is planned '
                'whose lease could be extended')

    def must_accept(self, parents: Sequence[str]) -> None:
        """Check the parents of a request.

        :raises ParentsRefused: they form a cycle, or they are too many
        """
        parent_path.must_be_possible(parents, self._children.own_name)

    def must_be_updatable(self, record: GroupRecord,
                          document: Document) -> None:
        """Check an update before any child receives a request.

        :param document: the new document
        :raises InvalidDocument: the update is not possible in the clouds of
            the members, at its position in the document
        """
        held = {part.child for part in self._parts(record.uuid)}
        kept_members.must_be_possible(
            definition(record), document, {
                row.member.path: row.place.host
                for row in self._table.members(record.uuid)
                if row.place.host in held},
            self._children.entries, self._policy_types)

    def propose_repair(self, user: User, group_uuid: str) -> dict[str, Any]:
        """The live migrations that the children propose, as in the response of
        the API.

        :raises GroupUnknown: there is no such group
        :raises GroupBusy: the group has a task
        :raises ChildFailed: a child makes no proposal
        """
        self._settled(group_uuid)
        parts = self._parts(group_uuid)
        answers = [self._child(user, part).propose_repair(part.child_group)
                   for part in parts]
        _must_succeed(answers)
        proposed: dict[str, Any] = {
            'moves': [], 'planned_again': [], 'reasons': []}
        for part, answer in zip(parts, answers, strict=True):
            # A child proposes nothing for the members of other children.
            paths = set(part.paths)
            for key in proposed if answer else ():
                proposed[key] += [
                    each for each in answer[key]
                    if key == 'reasons' or _member(each) in paths]
        return proposed

    def detach(self, user: User, group_uuid: str, path: str,
               revision: int | None = None) -> None:
        """Remove a server from the group in its cloud.

        :param revision: required revision of the group; None means any
        :raises StaleRevision: the group has another revision
        :raises GroupUnknown: there is no such group
        :raises GroupBusy: the group has a task
        :raises MemberUnknown: there is no such member
        :raises MemberNotBuilt: it has no server that is built
        :raises ChildFailed: the child did not carry it out
        """
        self._settled(group_uuid, revision)
        self._refresh.settled(user, group_uuid)
        row = next((row for row in self._table.members(group_uuid) if path in (
            row.member.path, row.member.description)), None)
        if row is None:
            raise table_errors.MemberUnknown(group_uuid, path)
        if row.state != MemberState.BUILT:
            raise MemberNotBuilt(
                f'member {brief(path)} has no server, or its server is not '
                'built')
        _must_succeed([
            self._child(user, part).detach(part.child_group, row.member.path)
            for part in self._parts(group_uuid)
            if part.child == row.place.host])
        self._refresh.settled(user, group_uuid)

    def delete(self, user: User, group_uuid: str,
               revision: int | None = None) -> None:
        """Delete the group in all children, then in the table.

        :param revision: required revision of the group; None means any
        :raises StaleRevision: the group has another revision
        :raises GroupUnknown: there is no such group
        :raises GroupBusy: the group has a task, or had a task since the
            deletion began
        :raises ChildFailed: a part may still exist; ask again
        """
        record = self._settled(group_uuid, revision)
        journal = TableJournal(self._table.parts, group_uuid, None,
                               self._clock, record.revision)
        try:
            refusals = undo_parts(
                journal.read(),
                lambda part: self._children.child_of(user, part),
                journal, self._clock(), forget_missing=True)
        except JournalRefused as error:
            raise _changed(group_uuid) from error
        if refusals:
            raise ChildFailed(
                'these clouds have not deleted their part of the group: '
                + ', '.join(sorted({each.child for each in refusals}))
                + ' (' + '; '.join(map(_public, refusals)) + ')')
        crash_points.reached('federation.parts-deleted')
        if not group_deletion.delete_without_parts(
                self._table.database, group_uuid) and (
                    self._table.get_group(group_uuid) is not None):
            raise _changed(group_uuid)

    def _child(self, user: User, part: GroupPart):
        return self._children.child_of(user, record_of(part))

    def _parts(self, group_uuid: str) -> Sequence[GroupPart]:
        return [part for part in self._table.parts.of_group(group_uuid)
                if part.state in HELD and part.child_group]

    def _settled(self, group_uuid: str,
                 revision: int | None = None) -> GroupRecord:
        group = self._table.get_group(group_uuid)
        if group is None:
            raise table_errors.GroupUnknown(group_uuid)
        errors.must_have_revision(group_uuid, group.revision, revision)
        if group.task is not None:
            raise errors.GroupBusy(f'group {group_uuid} is being placed')
        return group

    def _named(self, group: GroupRecord, names: Collection[str] | None
               ) -> Sequence[MemberRecord]:
        members = self._table.members(group.uuid)
        if names is None:
            return members
        paths = named_paths(group, members, names)
        return [row for row in members if row.member.path in paths]


def _changed(group_uuid: str) -> errors.GroupBusy:
    return errors.GroupBusy(
        f'group {group_uuid} has changed since its deletion began; delete it '
        'again')


def _must_succeed(answers: Collection[object]) -> None:
    refusals = [each for each in answers if isinstance(each, Refusal)]
    if refusals:
        raise ChildFailed('; '.join(
            _public(each) for each in refusals))


def _public(refusal: Refusal) -> str:
    """The message for users about the refusal of a child."""
    return '; '.join(
        reason.message if reason.public is None else reason.public
        for reason in refusal.reasons) or (
            f'cloud {refusal.child}: {refusal.kind}')


def _member(proposed: Mapping[str, Any] | str) -> str:
    """The path of the member of a move, or of a member that is planned
    again."""
    return proposed if isinstance(proposed, str) else proposed['member']

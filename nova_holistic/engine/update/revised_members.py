# SPDX-License-Identifier: Apache-2.0
"""What a revised definition means for each member of the group."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nova_holistic.documents.group import parse_group
from nova_holistic.engine.member_rows import host_of
from nova_holistic.engine import moving_members
from nova_holistic.engine.questions import Question
from nova_holistic.engine.refused_hosts import Refused
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.marked import tell
from nova_holistic.model.plan import Reason
from nova_holistic.model.requirements import Requirements
from nova_holistic.table.changes.claim import OWNED
from nova_holistic.table.records import GroupRecord, MemberRecord, MemberState
from nova_holistic.table.store import SITTING


@dataclass(frozen=True, slots=True)
class RevisedMembers:
    """Every member of the revised group is fixed, movable or to be planned,
    unless it is left out; every row of any other member will be removed.

    :ivar revised: the group after the update
    :ivar fixed: rows of members that a server has, by path
    :ivar movable: rows of planned members that may stay, by path
    :ivar anew: rows of members that are planned as if they had no row, by path
    :ivar removed: rows of members that are not in the revised group
    :ivar left_out: paths of members released since the update was requested
    :ivar refused: hosts that Nova refused for members
    :ivar wanted_again: ids of rows of servers that were released before the
        update was requested
    :ivar server_groups: see ``Question``
    """

    revised: Group
    fixed: Mapping[str, MemberRecord]
    movable: Mapping[str, MemberRecord]
    anew: Mapping[str, MemberRecord]
    removed: Sequence[MemberRecord]
    left_out: frozenset[str] = frozenset()
    refused: Refused = field(default_factory=FrozenMapping)
    wanted_again: Collection[int] = ()
    server_groups: Mapping[str, str] = field(default_factory=FrozenMapping)

    def vacated(self, freed: Collection[str]) -> Sequence[MemberRecord]:
        """Planned members that give up their holds.

        :param freed: paths of movable members that are to move
        """
        given_up = (*self.anew.values(), *self.removed,
                    *(self.movable[path] for path in freed))
        return [m for m in given_up if m.state == MemberState.PLANNED]

    def question(self, record: GroupRecord, objective: str,
                 freed: Collection[str] = ()) -> Question:
        """The question for the members without a fixed place.

        Servers that leave the group with their members, and servers that
        failed on their hosts, still use these hosts; but they do not count as
        servers from outside the group.
        """
        staying = [row for path, row
                   in (*self.fixed.items(), *self.movable.items())
                   if path not in freed]
        guests = [m.place.host for m in (*self.anew.values(), *self.removed)
                  if m.state in OWNED
                  or m.state == MemberState.FAILED and m.instance_uuid]
        guests.extend(moving_members.sources(self.fixed.values()).values())
        wanted = {m.path for m in self.revised.all_members()}
        return Question(
            self.revised.only(wanted - self.left_out), objective,
            record.uuid, moving_members.placed(staying), guests,
            self.vacated(freed),
            [host_of(place) for row in staying
             for place in {row.place, row.next_place}], self.refused,
            record.project_id, moving_members.sources(staying),
            self.server_groups)


def revised_members(record: GroupRecord, revised: Group,
                    members: Sequence[MemberRecord],
                    earlier: Collection[int]) -> RevisedMembers:
    """
    :param record: the group before it is revised
    :param earlier: ids of rows that were released when the update was
        requested; rows released since then stay released
    """
    before = _requirements(record.document)
    wanted = {m.path: m.requirements for m in revised.all_members()}
    fixed, movable, anew, left_out = {}, {}, {}, set()
    for row in members:
        path = row.member.path
        if path not in wanted:
            continue
        if row.state in OWNED:
            fixed[path] = row
        elif (row.state == MemberState.PLANNED
                and before.get(path) == wanted[path]):
            movable[path] = row
        elif row.state == MemberState.RELEASED and row.id not in earlier:
            left_out.add(path)
        else:
            anew[path] = row
    return RevisedMembers(
        revised, fixed, movable, anew,
        [m for m in members if m.member.path not in wanted],
        frozenset(left_out), wanted_again=[
            row.id for row in fixed.values()
            if row.unwanted and row.id in earlier])


def released(record: GroupRecord,
             members: Sequence[MemberRecord]) -> frozenset[int]:
    """Ids of rows that were released when the group's task was requested, or,
    if the task does not name them, of rows that now use no capacity.

    :param members: the rows now
    """
    told = (record.pending or {}).get('released')
    if told is not None:
        return frozenset(told)
    return frozenset(m.id for m in members
                     if m.unwanted or m.state not in SITTING)


def changed_servers(record: GroupRecord,
                    where: RevisedMembers) -> Sequence[Reason]:
    """Members that a server has, and that the revision would have be
    something else."""
    before = _requirements(record.document)
    why = tell('a server has been created for this member: its resources can '
               'no longer be changed')
    return [Reason.told(member.path, why)
            for member in where.revised.all_members()
            if member.path in where.fixed
            and before.get(member.path) != member.requirements]


def _requirements(document: Mapping[str, Any]) -> Mapping[str, Requirements]:
    """What each member asks for, flavors unresolved."""
    group = parse_group(_bare(document.get('group', document)), {})
    return {m.path: m.requirements for m in group.all_members()}


def _bare(document: Mapping[str, Any]) -> dict[str, Any]:
    """A group without any rules, since the types of its rules may no longer be
    installed."""
    return {**dict(_unruled(document)),
            **({'groups': [_bare(g) for g in document['groups']]}
               if 'groups' in document else {})}


def _unruled(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    return (item for item in document.items()
            if item[0] not in ('policies', 'relationships'))

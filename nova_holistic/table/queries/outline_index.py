# SPDX-License-Identifier: Apache-2.0
"""Outlines of groups and members, with indexes of those that a pass of the
reconciler needs.

The indexes are changed together with the groups, so a pass does not go over
groups or members that have not changed.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from nova_holistic.table.changes.claim import CLAIMABLE
from nova_holistic.table.queries.overview import (
    ACTIVE, GroupOutline, MemberOutline)
from nova_holistic.table.queries.progress import settled_status
from nova_holistic.table.records import GroupStatus, MemberState

GIVEN_UP = (GroupStatus.ERROR, GroupStatus.UNPLACEABLE)
"""Statuses of groups without a plan."""

Members = Mapping[int, MemberOutline]
"""Members by their IDs."""

PlannedMembers = Mapping[tuple[str, int], MemberOutline]
"""Members by the UUID of the group and their IDs. SQLite gives the ID of a
deleted row to a new row, so members of two groups may have the same ID until
both groups are read."""


@dataclass(frozen=True, slots=True)
class Outlines:
    """Groups with their members, at one point in time.

    A group, the members of a group and the members on a provider or host are
    the same objects as in an earlier read if they have not changed. If nothing
    has changed, the whole is the same object.

    :ivar groups: groups by UUID
    :ivar by_group: members by the UUID of the group
    :ivar planned: planned members of groups that can be claimed, by the UUID
        of the resource provider
    :ivar planned_hosts: the same members by the name of the host
    :ivar planning: UUIDs of groups in the status planning
    :ivar unsettled: UUIDs of active groups whose status does not follow from
        the states of their members
    :ivar stray: UUIDs of groups that were given up, and have planned members
    """

    groups: Mapping[str, GroupOutline] = field(default_factory=dict)
    by_group: Mapping[str, Members] = field(default_factory=dict)
    planned: Mapping[str, PlannedMembers] = field(default_factory=dict)
    planned_hosts: Mapping[str, PlannedMembers] = field(default_factory=dict)
    planning: frozenset[str] = frozenset()
    unsettled: frozenset[str] = frozenset()
    stray: frozenset[str] = frozenset()

    def active(self, uuids: Iterable[str]) -> tuple[GroupOutline, ...]:
        """Those of the groups that are in one of the statuses ``ACTIVE``."""
        return tuple(self.groups[uuid] for uuid in sorted(uuids)
                     if uuid in self.groups
                     and self.groups[uuid].status in ACTIVE)

    def members(self, group_uuid: str, states: Collection[MemberState],
                statuses: Collection[GroupStatus]
                ) -> tuple[MemberOutline, ...]:
        """Members of a group in one of the states; none if the group is in
        another status than these."""
        group = self.groups.get(group_uuid)
        return _members(group, self.by_group.get(group_uuid, {}), states,
                        statuses)

    def changed_since(self, before: 'Outlines') -> Collection[str]:
        """UUIDs of the groups that differ from an earlier read, that have
        other members, or that only one of the two reads contains.

        If nothing has changed, this goes over no group.
        """
        if before is self:
            return ()
        return {uuid for uuid in self.groups.keys() | before.groups.keys()
                if self.groups.get(uuid) is not before.groups.get(uuid)
                or self.by_group.get(uuid) is not before.by_group.get(uuid)}


class OutlineIndex:
    """The current outlines, which change one group at a time. Only one thread
    at a time may use an instance."""

    def __init__(self) -> None:
        self._outlines: Outlines | None = None
        self.groups: dict[str, GroupOutline] = {}
        # The members of a group, provider or host are replaced, never changed.
        self.by_group: dict[str, Members] = {}
        self._planned: dict[str, PlannedMembers] = {}
        self._planned_hosts: dict[str, PlannedMembers] = {}
        self._planning: set[str] = set()
        self._unsettled: set[str] = set()
        self._stray: set[str] = set()

    def outlines(self) -> Outlines:
        """All groups and members. Later changes do not change the result."""
        if self._outlines is None:
            self._outlines = Outlines(
                dict(self.groups), dict(self.by_group), dict(self._planned),
                dict(self._planned_hosts), frozenset(self._planning),
                frozenset(self._unsettled), frozenset(self._stray))
        return self._outlines

    def put(self, uuid: str, group: GroupOutline | None,
            members: Members) -> None:
        """Replace a group and all its members.

        :param group: None if the group is no longer kept
        :param members: never changed afterwards
        """
        if group is None:
            members = {}
        group_before, before = self.groups.get(uuid), self.by_group.get(uuid)
        if group == group_before and members == (before or {}):
            return
        self._outlines = None
        if group != group_before:
            _set(self.groups, uuid, group)
        if members != (before or {}):
            _set(self.by_group, uuid, members)
        self._put_planned(_claimable(group_before, before or {}),
                          _claimable(group, members))
        states = {member.state for member in members.values()}
        for uuids, applies in (
                (self._planning, _is_planning(group)),
                (self._unsettled, _is_unsettled(group, states)),
                (self._stray, _is_stray(group, states))):
            (uuids.add if applies else uuids.discard)(uuid)

    def _put_planned(self, before: PlannedMembers,
                     after: PlannedMembers) -> None:
        """Replace planned members of a group."""
        gone = [member for number, member in before.items()
                if after.get(number) != member]
        new = [member for number, member in after.items()
               if before.get(number) != member]
        for index, key in ((self._planned, _provider),
                           (self._planned_hosts, _host)):
            changed: dict[str, dict[tuple[str, int], MemberOutline]] = {}
            for member in (*gone, *new):
                place = key(member)
                if place not in changed:
                    changed[place] = dict(index.get(place, {}))
            for member in gone:
                del changed[key(member)][_identity(member)]
            for member in new:
                changed[key(member)][_identity(member)] = member
            for place, members in changed.items():
                _set(index, place, members)


def _set(values: dict, key: str, value: object) -> None:
    """Set a value, or delete it if it is None or empty."""
    if value:
        values[key] = value
    else:
        values.pop(key, None)


def _members(group: GroupOutline | None, members: Members,
             states: Collection[MemberState],
             statuses: Collection[GroupStatus]) -> tuple[MemberOutline, ...]:
    if group is None or group.status not in statuses:
        return ()
    return tuple(member for _, member in sorted(members.items())
                 if member.state in states)


def _claimable(group: GroupOutline | None,
               members: Members) -> PlannedMembers:
    """The planned members of a group, if servers can claim them."""
    return {_identity(member): member for member in _members(
        group, members, (MemberState.PLANNED,), CLAIMABLE)}


def _is_planning(group: GroupOutline | None) -> bool:
    return group is not None and group.status == GroupStatus.PLANNING


def _is_unsettled(group: GroupOutline | None,
                  states: Collection[MemberState]) -> bool:
    return group is not None and group.status in ACTIVE and (
        settled_status(group.status, states) is not None)


def _is_stray(group: GroupOutline | None,
              states: Collection[MemberState]) -> bool:
    return group is not None and group.status in GIVEN_UP and (
        MemberState.PLANNED in states)


def _identity(member: MemberOutline) -> tuple[str, int]:
    return member.group_uuid, member.id


def _provider(member: MemberOutline) -> str:
    return member.provider


def _host(member: MemberOutline) -> str:
    return member.host

# SPDX-License-Identifier: Apache-2.0
"""The members of a group, with indexes."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections import defaultdict
from typing import Self

from nova_holistic.model.members.requirements import Requirements
from nova_holistic.table.records import MemberRecord

_Paths = Mapping[str, Sequence[int]]
"""IDs of members by a path."""


class GroupMembers(tuple[MemberRecord, ...]):
    """The members of a group at one point in time, in the order of the
    document. It never changes, so that threads may share it.

    Each create reads the group, and asks for one of many members. So the
    indexes are made once, and :meth:`updated` adjusts them to changes.

    :ivar by_id: the members by the IDs of their rows
    :ivar requirements: requirements by the path of the member description
    """

    by_id: Mapping[int, MemberRecord]
    requirements: Mapping[str, Requirements]
    _paths: _Paths
    _descriptions: _Paths
    _owned: Mapping[str, int]

    @classmethod
    def of(cls, members: Iterable[MemberRecord]) -> Self:
        """The members with new indexes."""
        found = cls(members)
        paths, descriptions = defaultdict(list), defaultdict(list)
        for row in found:
            paths[row.member.path].append(row.id)
            descriptions[row.member.description].append(row.id)
        found.by_id = {row.id: row for row in found}
        found.requirements = {row.member.description: row.member.requirements
                              for row in found}
        found._paths, found._descriptions = dict(paths), dict(descriptions)
        found._owned = {row.instance_uuid: row.id for row in found
                        if row.instance_uuid is not None}
        return found

    def updated(self, rows: Iterable[MemberRecord]) -> Self:
        """The members with other states or servers of some of them.

        :param rows: members with known IDs and unchanged paths
        """
        by_id, owned = dict(self.by_id), dict(self._owned)
        rows = list(rows)
        for row in rows:
            owned.pop(by_id[row.id].instance_uuid, None)
            by_id[row.id] = row
        owned.update({row.instance_uuid: row.id for row in rows
                      if row.instance_uuid is not None})
        found = type(self)(by_id.values())
        found.by_id, found._owned = by_id, owned
        found.requirements, found._paths = self.requirements, self._paths
        found._descriptions = self._descriptions
        return found

    def pointed_at(self, path: str) -> list[MemberRecord]:
        """The member with this path, or else all members of the member
        description with this path."""
        return [self.by_id[number] for number in self._paths.get(path)
                or self._descriptions.get(path, ())]

    def have_any_of(self, servers: Collection[str]) -> bool:
        """Whether one of the servers belongs to a member.

        :param servers: UUIDs
        """
        return not self._owned.keys().isdisjoint(servers)

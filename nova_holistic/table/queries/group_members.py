# SPDX-License-Identifier: Apache-2.0
"""The members of a group, with indexes."""

from collections.abc import (
    Collection, Iterable, Iterator, Mapping, Sequence)
from collections import defaultdict
import functools
from typing import Self

from nova_holistic.model.layered_mapping import LayeredMapping
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.table.records import MemberRecord

_Paths = Mapping[str, Sequence[int]]
"""IDs of members by a path."""


class GroupMembers(Sequence[MemberRecord]):
    """The members of a group at one point in time, in the order of the
    document. It never changes, so that threads may share it.

    Each create reads the group, and asks for one of many members. So the
    indexes are made once, and :meth:`updated` adjusts them to changes.

    :ivar by_id: the members by the IDs of their rows
    :ivar requirements: requirements by the path of the member description
    """

    by_id: LayeredMapping[int, MemberRecord]
    requirements: Mapping[str, Requirements]
    _paths: _Paths
    _descriptions: _Paths
    _owned: LayeredMapping[str, int]

    @classmethod
    def of(cls, members: Iterable[MemberRecord]) -> Self:
        """The members with new indexes."""
        found = cls()
        rows = found._rows = tuple(members)
        paths, descriptions = defaultdict(list), defaultdict(list)
        for row in rows:
            paths[row.member.path].append(row.id)
            descriptions[row.member.description].append(row.id)
        found.by_id = LayeredMapping({row.id: row for row in rows})
        found.requirements = {row.member.description: row.member.requirements
                              for row in rows}
        found._paths, found._descriptions = dict(paths), dict(descriptions)
        found._owned = LayeredMapping({
            row.instance_uuid: row.id for row in rows
            if row.instance_uuid is not None})
        return found

    def updated(self, rows: Iterable[MemberRecord]) -> Self:
        """The members with other states or servers of some of them.

        :param rows: members with known IDs and unchanged paths
        """
        now = {row.id: row for row in rows}
        found = type(self)()
        found.by_id = self.by_id.updated(now)
        found._owned = self._owned.updated(
            {row.instance_uuid: row.id for row in now.values()
             if row.instance_uuid is not None},
            [self.by_id[number].instance_uuid for number in now])
        found.requirements, found._paths = self.requirements, self._paths
        found._descriptions = self._descriptions
        return found

    @functools.cached_property
    def _rows(self) -> tuple[MemberRecord, ...]:
        return tuple(self.by_id.copied().values())

    def __getitem__(self, index):
        return self._rows[index]

    def __iter__(self) -> Iterator[MemberRecord]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self.by_id)

    def __eq__(self, other: object) -> bool:
        # A tuple of the same members is equal, too.
        return self._rows == (
            other._rows if isinstance(other, GroupMembers) else other)

    def __repr__(self) -> str:
        return repr(self._rows)

    __hash__ = None  # type: ignore[assignment]

    def pointed_at(self, path: str) -> list[MemberRecord]:
        """The member with this path, or else all members of the member
        description with this path."""
        return [self.by_id[number] for number in self._paths.get(path)
                or self._descriptions.get(path, ())]

    def have_any_of(self, servers: Collection[str]) -> bool:
        """Whether one of the servers belongs to a member.

        :param servers: UUIDs
        """
        return any(server in self._owned for server in servers)

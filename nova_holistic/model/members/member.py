# SPDX-License-Identifier: Apache-2.0
"""Member descriptions, and the members that they describe."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from nova_holistic.model.members.bounds import Bounds, numbered
from nova_holistic.model.members.requirements import Requirements


@dataclass(frozen=True, slots=True)
class Member:
    """One server of a group, planned or existing.

    :ivar path: names from below the top-level group down to the server
    :ivar description: path of its description; equal to ``path`` if the
        description has no count
    """

    path: str
    description: str
    requirements: Requirements


@dataclass(frozen=True, slots=True)
class MemberDescription:
    """The description of one server of a group, or of ``count`` equal servers.

    :ivar count: number of servers; None for a single server with the plain
        name
    :ivar absent: names of servers that no longer belong to the group
    :ivar bounds: bounds of the number of servers; None if it is fixed
    :ivar numbers: numbers of the existing servers, if their number may change
    :ivar place: its position in the document, for error messages
    """

    name: str
    requirements: Requirements
    count: int | None = None
    absent: frozenset[str] = frozenset()
    place: str = field(default='', compare=False)
    bounds: Bounds | None = None
    numbers: tuple[int, ...] = ()

    def server_names(self) -> tuple[str, ...]:
        names = (self.name,) if self.count is None else (
            f'{self.name}-{index}' for index in self._indexes())
        return tuple(name for name in names if name not in self.absent)

    def _indexes(self) -> Collection[int]:
        return self.numbers if self.bounds else range(self.count or 0)

    def at(self, names: Collection[str]) -> 'MemberDescription':
        """The description with these servers, if their number may change; the
        same description otherwise."""
        if self.bounds is None:
            return self
        found = sorted(number for name in names
                       if (number := numbered(self.name, name)) is not None)
        return replace(self, count=len(found), numbers=tuple(found))

    def with_count(self, count: int) -> 'MemberDescription':
        """The description with the first servers only.

        :param count: at most the number of servers
        """
        return replace(self, count=count, numbers=self.numbers[:count])

    def members(self, prefix: str) -> tuple[Member, ...]:
        """The described servers. ``prefix`` is '' or ends with a slash."""
        return tuple(
            Member(prefix + name, prefix + self.name, self.requirements)
            for name in self.server_names())

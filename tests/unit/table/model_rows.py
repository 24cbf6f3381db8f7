# SPDX-License-Identifier: Apache-2.0
"""Groups and members of the model of the placement table."""

from dataclasses import dataclass, field

PATHS = {'web': 'web', 'node-0': 'node', 'node-1': 'node', 'node-2': 'node'}
"""The description of each member that a group may have, by path and in
order."""


@dataclass
class Member:
    """``id`` is None until it is read from the database. ``position`` is the
    order of the rows of a group."""

    state: str
    hold: str
    held: bool
    host: str
    id: int | None = None
    instance: str | None = None
    unwanted: bool = False
    position: int = 0


@dataclass
class Group:
    lease: int | None
    status: str = 'planning'
    task: str | None = 'planning'
    engine: str | None = None
    engine_at: int | None = None
    attempts: int = 0
    revision: int = 1
    members: dict[str, Member] = field(default_factory=dict)

    def in_order(self):
        """Paths and members in the order of their rows."""
        return sorted(self.members.items(),
                      key=lambda item: item[1].position)

    def order_by_document(self):
        """Move all rows to their positions in the document."""
        for position, path in enumerate(PATHS):
            if path in self.members:
                self.members[path].position = position


def seen_by(row, member):
    """Return whether a member has not changed since a row was read."""
    return member is not None and (row.id, row.state, row.hold) == (
        member.id, member.state, member.hold)

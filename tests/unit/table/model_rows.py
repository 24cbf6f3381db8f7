# SPDX-License-Identifier: Apache-2.0
"""Groups and members of the model of the placement table."""

from dataclasses import dataclass, field

PATHS = {'web': 'web', 'node-0': 'node', 'node-1': 'node', 'node-2': 'node'}
"""Path to description of every member that a group may have, in order."""


@dataclass
class Member:
    """``id`` is None until the database has told it."""

    state: str
    hold: str
    held: bool
    host: str
    id: int | None = None
    instance: str | None = None
    unwanted: bool = False


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
        """Paths and members, as in the document."""
        return [(path, self.members[path]) for path in PATHS
                if path in self.members]


def seen_by(row, member):
    """Whether a member is as it was when a row was read."""
    return member is not None and (row.id, row.state, row.hold) == (
        member.id, member.state, member.hold)

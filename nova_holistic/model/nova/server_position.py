# SPDX-License-Identifier: Apache-2.0
"""The hosts at which a server counts according to Nova's records.

A server counts at its host. While Nova moves it, it counts at its source and
at its destination, since the move may succeed or fail. After a resize or a
cold migration it counts at both until the move is confirmed or reverted. A
server that is being built counts at its planned host.

A scheduler reads the records from Nova's databases, and an engine through
Nova's API. Both use this module to determine the positions, so that they
agree. States are Nova's own: see nova.compute.vm_states and
nova.objects.migration.
"""

from collections.abc import Collection
from dataclasses import dataclass

BUILDING = 'building'
RESIZED = 'resized'

MOVING = ('accepted', 'queued', 'preparing', 'running', 'pre-migrating',
          'migrating', 'post-migrating')
"""Statuses of migrations that have not ended."""

TO_CONFIRM = ('finished', 'confirming', 'reverting')
"""Statuses of a migration of a server that is resized: until the move is
confirmed or reverted, Nova keeps its capacity on both hosts."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One of Nova's records of the move of a server.

    :ivar number: its ID; the newest record has the highest
    :ivar source: name of the host of the server before the move
    :ivar destination: name of the new host; None until Nova has chosen one
    """

    number: int
    status: str
    source: str | None
    destination: str | None


@dataclass(frozen=True, slots=True)
class ServerRecord:
    """A server that exists.

    :ivar host: name of its host; None while the server is on no host
    :ivar task_state: Nova's current task for it; None if it has none
    """

    host: str | None
    vm_state: str
    task_state: str | None = None

    @property
    def statuses(self) -> tuple[str, ...]:
        """Statuses of the migrations that count. If a server has no such
        migration, it is not moving, and nothing more must be read."""
        if self.host is None:
            return ()
        if self.vm_state == RESIZED:
            return TO_CONFIRM
        return MOVING if self.task_state else ()


@dataclass(frozen=True, slots=True)
class Position:
    """The hosts on which a server uses capacity.

    :ivar host: its host; during a move, the destination
    :ivar source: the source of a move, to which the server may return
    """

    host: str
    source: str | None = None

    @property
    def hosts(self) -> frozenset[str]:
        """Every host at which the server counts."""
        return frozenset({self.host, self.source or self.host})


def server_position(server: ServerRecord, planned: str,
                    migrations: Collection[Migration] = (),
                    destination: str | None = None) -> Position | None:
    """The position of a member's server; None if it is on no host and is not
    being built.

    :param planned: name of the member's host in the table
    :param migrations: migrations of the server, at least those with one of its
        statuses
    :param destination: name of the destination that a scheduler has chosen; it
        counts until Nova's records name one
    """
    if server.host is None:
        if server.vm_state == BUILDING:
            return Position(planned)
        # A server without a host gets one when it is unshelved.
        return (Position(destination) if destination and server.task_state
                else None)
    moves = [each for each in migrations
             if each.status in server.statuses and each.destination]
    if not moves:
        # Once a server is resized, Nova's records are complete.
        if destination is None or server.statuses != MOVING:
            return Position(server.host)
        return Position(destination, server.host)
    newest = max(moves, key=lambda each: each.number)
    return Position(newest.destination, newest.source)

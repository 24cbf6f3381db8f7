# SPDX-License-Identifier: Apache-2.0
"""The journal of a saga, which contains every step before it is performed."""

from dataclasses import dataclass
from datetime import datetime
import enum
from typing import Protocol

from nova_holistic.federation.child import KnownGroup


class PartState(enum.StrEnum):
    """States of a part, in the order of a commit.

    ``CREATING``: the request to create it may have been sent; the child may
    have a group with the key.
    ``CREATED``: the child has the group, with a short lease.
    ``EXTENDING``: the lease may already be the requested lease.
    ``COMMITTED``: the child confirmed the extended lease.
    ``CHANGING``: the child may have a definition of the part that does not
    follow from the definition of the group.
    ``UNDOING``: the part is not needed; the child may still have the group.
    ``UNDONE``: the child has no such group, or no longer has it.
    """

    CREATING = 'creating'
    CREATED = 'created'
    EXTENDING = 'extending'
    COMMITTED = 'committed'
    CHANGING = 'changing'
    UNDOING = 'undoing'
    UNDONE = 'undone'


@dataclass(frozen=True, slots=True)
class PartRecord:
    """One part of a group of the parent, in one child.

    :ivar key: idempotency key of the create request; unique
    :ivar child: name of the child
    :ivar name: name of the group in the child
    :ivar paths: paths of the members, in the parent's group and in the child's
    :ivar lease_end: time in naive UTC at which the child frees the planned
        members if the lease is not extended; None: not known
    :ivar group_uuid: UUID of the group in the child; None: not known yet
    :ivar project_id: project of the group in the child; None: not known
    """

    key: str
    child: str
    name: str
    paths: tuple[str, ...]
    state: PartState
    lease_end: datetime | None
    group_uuid: str | None = None
    project_id: str | None = None

    @property
    def known_group(self) -> KnownGroup | None:
        """The group in the child, as far as it is known."""
        return self.group_uuid and KnownGroup(
            self.group_uuid, self.project_id) or None


class Journal(Protocol):
    """The durable record of the parts of one group of the parent."""

    def write(self, part: PartRecord) -> None:
        """Insert or replace the record with the part's key.

        :raises JournalRefused: the group no longer exists, has changed, or
            belongs to another process
        """

# SPDX-License-Identifier: Apache-2.0
"""Immutable records of the rows of the placement table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
import enum
from typing import Any

from nova_holistic.model.members.member import Member
from nova_holistic.table.provider_allocation import ProviderAllocation


class GroupStatus(enum.StrEnum):
    """Status of a group: see ``states.GROUPS``."""
    PLANNING = 'planning'
    PLANNED = 'planned'
    BUILDING = 'building'
    COMPLETE = 'complete'
    DEGRADED = 'degraded'
    UNPLACEABLE = 'unplaceable'
    RELEASED = 'released'
    ERROR = 'error'


class Task(enum.StrEnum):
    """A task that an engine must perform for a group and has not finished."""

    PLANNING = 'planning'
    UPDATING = 'updating'
    REPLANNING = 'replanning'
    REPAIRING = 'repairing'


class PlanStatus(enum.StrEnum):
    """Status of a dry run."""
    PLANNING = 'planning'
    PLANNED = 'planned'
    UNPLACEABLE = 'unplaceable'
    UNKNOWN = 'unknown'
    ERROR = 'error'


class MemberState(enum.StrEnum):
    """State of a member: see ``states.MEMBERS``."""
    PLANNED = 'planned'
    CLAIMED = 'claimed'
    BUILT = 'built'
    FAILED = 'failed'
    RELEASED = 'released'
    LOST = 'lost'


@dataclass(frozen=True, slots=True)
class Place:
    """A place for a member: a host as the table stores it.

    :ivar provider: UUID of the root resource provider, which is also the UUID
        of the compute node
    :ivar location: one name for each level above host, coarse to fine
    :ivar allocation: resources of the member by provider; None if the root
        provider provides all of them
    """

    host: str
    node: str
    provider: str
    location: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    allocation: ProviderAllocation | None = None


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """A top-level group.

    :ivar document: the group document, with unresolved flavors
    :ivar levels: levels of the snapshot with which the group was planned,
        coarse to fine
    :ivar reasons: reasons why the group is unplaceable or in error, each
        {at, message}
    :ivar lease_expires_at: naive UTC; None means no lease
    :ivar exclusive: whether the group keeps other servers out of domains of
        its members
    :ivar revision: number that rises with each change of the definition
    :ivar idempotency_key: key with which the client can repeat the request
    :ivar fingerprint: hash of the request with this key
    :ivar task: task that waits for an engine or that an engine performs; None
        if the group has no task
    :ivar pending: parameters of the task
    :ivar engine: UUID of the engine that works on the task
    :ivar engine_at: naive UTC of the engine's last heartbeat
    :ivar attempts: number of engines that have taken the task, without those
        that returned it without an unexpected error
    :ivar asked: number of members after the task; None if unknown
    :ivar violations: hard policies that the servers of a degraded group
        violate at their current places, each {at, message}
    :ivar holds_written: number of the holds of the task that exist in
        Placement; None if the task writes no holds
    :ivar objective_value: ``name``, ``value``, ``bound`` and ``gap`` of the
        objective of the latest plan, and the number of members that the plan
        ``kept`` at their places. The bound and the gap are None if no bound
        is proved. None if the group has no plan, or if an earlier release
        wrote the plan
    """

    uuid: str
    name: str
    project_id: str
    user_id: str
    status: GroupStatus
    document: Mapping[str, Any]
    objective: str
    levels: tuple[str, ...] = ()
    reasons: tuple[Mapping[str, str], ...] = ()
    lease_expires_at: datetime | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    exclusive: bool = False
    revision: int = 1
    idempotency_key: str | None = None
    fingerprint: str | None = None
    task: Task | None = None
    pending: Mapping[str, Any] | None = None
    engine: str | None = None
    engine_at: datetime | None = None
    attempts: int = 0
    asked: int | None = None
    violations: tuple[Mapping[str, str], ...] = ()
    holds_written: int | None = None
    objective_value: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class MemberRecord:
    """A member's row.

    :ivar member: path, description path, and requirements with the resolved
        flavor
    :ivar place: place of the member in the plan, or of its server
    :ivar hold: UUID of the consumer that reserves the place in Placement
    :ivar held: True from before the hold is written until its deletion is
        confirmed or the member is claimed. The hold of a claimed member is
        exchanged, or is about to be exchanged, for the allocation of the
        instance
    :ivar alternates: other places that the member could have when they were
        computed; empty before that, and in a record that was read without them
    :ivar unwanted: whether the member was released while it had a server, so
        that it is not planned again when this server is deleted
    :ivar returned: whether another server may become the released member,
        because its server was deleted or its place was given to an equal
        server
    :ivar planned: planned amounts by resource class if the server was resized;
        None otherwise
    :ivar destination: place to which Nova is moving the server of a built
        member; ``place`` is then the source. The server needs both until the
        move ends or is confirmed. None if the server is not moving
    """

    id: int
    group_uuid: str
    member: Member
    place: Place
    hold: str
    held: bool
    state: MemberState
    instance_uuid: str | None = None
    alternates: tuple[Place, ...] = ()
    updated_at: datetime | None = None
    unwanted: bool = False
    returned: bool = False
    planned: Mapping[str, int] | None = None
    destination: Place | None = None

    @property
    def next_place(self) -> Place:
        """The place of the member after the current move of its server
        succeeds; the current place if the server is not moving."""
        return self.destination or self.place


EXTRAS = ('relaxations', 'headroom')
"""Additional answers that a client can request with a plan without holds."""


@dataclass(frozen=True, slots=True)
class PlanRecord:
    """A dry run: a request for a plan without holds.

    :ivar document: the group document
    :ivar answer: the result document; None until an engine has finished
    :ivar engine: UUID of the engine that makes the plan
    :ivar engine_at: naive UTC of the engine's last heartbeat
    :ivar attempts: number of engines that have taken the dry run, without
        those that returned it without an unexpected error
    :ivar extras: the requested additional answers, a subset of ``EXTRAS``
    """

    uuid: str
    project_id: str
    user_id: str
    name: str
    status: PlanStatus
    document: Mapping[str, Any]
    objective: str
    answer: Mapping[str, Any] | None = None
    engine: str | None = None
    engine_at: datetime | None = None
    attempts: int = 0
    created_at: datetime | None = None
    updated_at: datetime | None = None
    extras: Sequence[str] = ()

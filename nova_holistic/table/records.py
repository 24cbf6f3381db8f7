# SPDX-License-Identifier: Apache-2.0
"""Rows of the placement table, as values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
import enum
from typing import Any

from nova_holistic.model.members.member import Member
from nova_holistic.table.provider_allocation import ProviderAllocation


class GroupStatus(enum.StrEnum):
    PLANNING = 'planning'
    PLANNED = 'planned'
    BUILDING = 'building'
    COMPLETE = 'complete'
    DEGRADED = 'degraded'
    UNPLACEABLE = 'unplaceable'
    RELEASED = 'released'
    ERROR = 'error'


class Task(enum.StrEnum):
    """A task that an engine has to perform for a group and has not
    finished."""

    PLANNING = 'planning'
    UPDATING = 'updating'
    REPLANNING = 'replanning'
    REPAIRING = 'repairing'


class PlanStatus(enum.StrEnum):
    PLANNING = 'planning'
    PLANNED = 'planned'
    UNPLACEABLE = 'unplaceable'
    UNKNOWN = 'unknown'
    ERROR = 'error'


class MemberState(enum.StrEnum):
    PLANNED = 'planned'
    CLAIMED = 'claimed'
    BUILT = 'built'
    FAILED = 'failed'
    RELEASED = 'released'
    LOST = 'lost'


@dataclass(frozen=True, slots=True)
class Place:
    """A host as the table remembers it.

    :ivar provider: UUID of its root resource provider (and compute node)
    :ivar allocation: of a member's place: what each provider gives to the
        member; None if the root provider gives all
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

    :ivar document: the group document it was made from, flavors unresolved
    :ivar levels: of the snapshot it was planned on, coarse to fine
    :ivar reasons: why it is unplaceable or in error: {at, message} each
    :ivar lease_expires_at: naive UTC; None means no lease
    :ivar exclusive: whether it keeps servers of others out of the domains
        that its members are in
    :ivar revision: raised by each change of the definition
    :ivar idempotency_key: with this key, its client can repeat the request
    :ivar fingerprint: hash of the request with that key
    :ivar task: the task that an engine has or performs; None if there is no
        task
    :ivar pending: parameters of the task
    :ivar engine: who works on the task
    :ivar engine_at: naive UTC of the engine's last heartbeat
    :ivar attempts: number of engines that have taken the task, without those
        that returned it
    :ivar asked: number of its members after the task; None if unknown
    :ivar violations: of a degraded group: which hard policies its servers do
        not satisfy where they are now, {at, message} each
    :ivar holds_written: how many of the holds that its task needs are already
        in Placement; None if its task writes none
    :ivar objective_value: of its latest plan: ``name``, ``value``, ``bound``
        and ``gap`` of the objective, and the number of members that the plan
        ``kept`` at their places. The bound and the gap are None if nothing is
        proved. None if the group has no plan, or one of an earlier release
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

    :ivar member: path, description path, and requirements with the flavor
        resolved
    :ivar place: where it is planned
    :ivar hold: UUID of the consumer that keeps its place in Placement
    :ivar held: True from before the hold is put until it is known to be gone,
        or the member is claimed: its hold is then the instance's, or about to
        be
    :ivar alternates: other hosts that could have held it when it was planned
    :ivar unwanted: whether it was released while a server had it, and is not
        planned again when that server is gone
    :ivar returned: whether the member is released because its server was
        deleted: another server may become the member
    :ivar planned: the planned resources if the server was resized to others;
        None otherwise
    :ivar destination: of a built member whose server Nova is moving: where
        the server is going, while ``place`` is where it comes from. Until
        the move ends or is confirmed, the server needs both.
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
        """Where the member is once the move that Nova has begun succeeds."""
        return self.destination or self.place


EXTRAS = ('relaxations', 'headroom')
"""Additional answers that a client can request with a plan without holds."""


@dataclass(frozen=True, slots=True)
class PlanRecord:
    """A request for a plan without holds.

    :ivar document: the group document
    :ivar answer: the plan document, once there is one
    :ivar extras: the additional answers: some of ``EXTRAS``
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

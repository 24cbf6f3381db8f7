# SPDX-License-Identifier: Apache-2.0
"""A plan before it is accepted, and the components that make and hold it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from nova_holistic.engine.decision.planning_request import (
    CheckedPlan, PlanningRequest)
from nova_holistic.engine.decision.snapshot_planner import SnapshotPlanner
from nova_holistic.holds.client import HoldClient
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.table.records import MemberRecord
from nova_holistic.table.store import PlacementTable
from nova_holistic.table.volume_records import VolumeRecord


@dataclass(frozen=True, slots=True)
class PlannerComponents:
    """The components that all changes use.

    :ivar conf: the configuration
    :ivar clock: returns naive UTC
    """

    conf: Any
    snapshot_planner: SnapshotPlanner
    table: PlacementTable
    holds: HoldClient
    policy_types: PolicyTypes
    clock: Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A plan, before it is accepted.

    :ivar request: the request that was planned
    :ivar decision: the checked plan
    :ivar members: rows of the members that get a place, with their new holds
    :ivar volumes: rows of the volumes that get a pool
    """

    request: PlanningRequest
    decision: CheckedPlan
    members: Sequence[MemberRecord]
    volumes: Sequence[VolumeRecord] = field(default=(), kw_only=True)

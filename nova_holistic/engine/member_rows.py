# SPDX-License-Identifier: Apache-2.0
"""Conversion of a plan to rows of the placement table."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
import uuid

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan
from nova_holistic.table.provider_allocation import ProviderAllocation
from nova_holistic.table.records import MemberRecord, MemberState, Place
from nova_holistic.table.states import OCCUPYING


def planned_members(group_uuid: str, group: Group, snapshot: Snapshot,
                    plan: Plan, now: datetime) -> tuple[MemberRecord, ...]:
    """One row for each server, in the order of the document, each with a new
    hold and without alternates.

    The rows state that the members are held before the holds exist, so that a
    crash leaves no hold without a row.
    """
    hosts = plan.hosts()
    used = set(hosts.values())
    places = {host.name: place_of(host) for host in snapshot.hosts
              if host.name in used}
    return tuple(
        MemberRecord(
            id=0, group_uuid=group_uuid, member=member,
            place=places[hosts[member.path]], hold=str(uuid.uuid4()),
            held=True, state=MemberState.PLANNED, updated_at=now)
        for member in group.all_members()
        if not member.requirements.volume)


def renewed_members(lost: Sequence[MemberRecord], group: Group,
                    snapshot: Snapshot, plan: Plan,
                    now: datetime) -> tuple[MemberRecord, ...]:
    """The rows of lost members with their places in the plan. They are still
    lost."""
    planned = {row.member.path: row for row in planned_members(
        '', group, snapshot, plan, now)}
    return tuple(
        replace(row, place=found.place, hold=found.hold, held=True,
                alternates=(), updated_at=now,
                member=replace(row.member,
                               requirements=found.member.requirements))
        for row in lost for found in [planned[row.member.path]])


def place_of(host: Host,
             allocation: ProviderAllocation | None = None) -> Place:
    """A host in the form that the table stores.

    :param allocation: as in ``Place``
    """
    return Place(host.name, host.node, host.uuid, host.location,
                 tuple(sorted(host.labels.items())), allocation)


def host_of(place: Place) -> Host:
    """A host with the data that the table stores, without capacity. Its
    location is that at the time of the plan."""
    return Host(place.host, place.node, place.provider, place.location,
                FrozenMapping(), labels=FrozenMapping(place.labels))


def current(members: Iterable[MemberRecord]) -> frozenset[str]:
    """Paths of the current members of a group, without released members."""
    return frozenset(row.member.path for row in members
                     if row.state != MemberState.RELEASED)


def has_failed_server(row: MemberRecord) -> bool:
    """Whether a failed member still has its server, which uses the capacity of
    the place: it may run later, and the place is held again after it is
    deleted."""
    return row.state == MemberState.FAILED and bool(row.instance_uuid)


def uses_capacity(row: MemberRecord) -> bool:
    """Whether a member, or its failed server, uses the capacity of a host.
    """
    return row.state in OCCUPYING or has_failed_server(row)

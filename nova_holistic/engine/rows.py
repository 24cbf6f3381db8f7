# SPDX-License-Identifier: Apache-2.0
"""A plan as rows of the placement table."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime

from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan
from nova_holistic.model.snapshot import Host, Snapshot
from nova_holistic.table.records import MemberRecord, MemberState, Place


def planned_members(group_uuid: str, group: Group, snapshot: Snapshot,
                    plan: Plan, alternates: Mapping[str, Sequence[str]],
                    now: datetime) -> tuple[MemberRecord, ...]:
    """A row a member, in the document's order, each with a new hold.

    They say that they are held before they are: so a crash leaves no hold
    that no row tells of.
    """
    places = {host.name: place_of(host) for host in snapshot.hosts}
    hosts = plan.hosts()
    return tuple(
        MemberRecord(
            id=0, group_uuid=group_uuid, member=member,
            place=places[hosts[member.path]], hold=str(uuid.uuid4()),
            held=True, state=MemberState.PLANNED,
            alternates=tuple(places[name]
                             for name in alternates.get(member.path, ())),
            updated_at=now)
        for member in group.all_members())


def place_of(host: Host) -> Place:
    """A host as the table remembers it."""
    return Place(host.name, host.node, host.uuid, host.location,
                 tuple(sorted(host.labels.items())))

# SPDX-License-Identifier: Apache-2.0
"""Planning requests for groups whose members have rows in the placement
table."""

from collections.abc import Sequence

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.engine.decision import moving_members, refused_hosts
from nova_holistic.engine.decision.planning_request import PlanningRequest
from nova_holistic.engine import member_rows
from nova_holistic.engine.member_rows import has_failed_server, uses_capacity
from nova_holistic.engine.proposal import PlannerComponents
from nova_holistic.engine import volume_rows
from nova_holistic.model.group import Group
from nova_holistic.table.records import GroupRecord, MemberRecord


def request_for_members(parts: PlannerComponents, record: GroupRecord,
                        members: Sequence[MemberRecord],
                        wanted: Sequence[MemberRecord],
                        vacated: Sequence[
                            MemberRecord] = ()) -> PlanningRequest:
    """The request for new places of some members of a group. The other members
    with capacity stay, and so do all volumes. A failed member has capacity
    while its server exists: the server may run later, and its place is held
    again after it is deleted. Released members, and volumes without capacity,
    are left out.

    :param members: all rows of the group
    :param wanted: rows of members that need a place
    :param vacated: members whose capacity the group may use
    :raises InvalidDocument: the document is no longer accepted
    """
    occupying = [m for m in members if uses_capacity(m)]
    moving = {m.id for m in wanted}
    unmoved = [m for m in occupying if m.id not in moving]
    group = parsed(parts, record)
    volumes = volume_rows.staying(parts.table, record.uuid, group)
    return PlanningRequest(
        group.only({m.member.path for m in (*occupying, *wanted)}.union(
            row.path for row in volumes)),
        record.objective, record.uuid,
        {**moving_members.placed(unmoved), **volume_rows.pools(volumes)},
        moving_members.extra_servers(
            [m for m in members if not has_failed_server(m)]), vacated=vacated,
        remembered=[member_rows.host_of(place) for m in occupying
                    for place in {m.place, m.next_place}],
        refused=refused_hosts.read(
            parts.conf, parts.table, record.uuid, parts.clock()),
        project_id=record.project_id,
        sources=moving_members.sources(unmoved),
        server_groups=parts.table.bindings.server_groups(record.uuid),
        volumes=volumes)


def parsed(parts: PlannerComponents, record: GroupRecord) -> Group:
    """The group of a record.

    :raises InvalidDocument: the document is no longer accepted
    """
    return parse_group(record.document, parts.policy_types)

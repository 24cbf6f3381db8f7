# SPDX-License-Identifier: Apache-2.0
"""Questions about groups whose members have rows in the placement table."""

from collections.abc import Sequence

from nova_holistic.documents.group import parse_group
from nova_holistic.engine.executor import Parts
from nova_holistic.engine import member_rows, moving_members, refused_hosts
from nova_holistic.engine.questions import Question
from nova_holistic.table.records import GroupRecord, MemberRecord
from nova_holistic.table.store import SITTING


def question(parts: Parts, record: GroupRecord,
             members: Sequence[MemberRecord],
             wanted: Sequence[MemberRecord],
             vacated: Sequence[MemberRecord] = ()) -> Question:
    """Where some members of a group can be. The other members that take up
    room stay. Released and failed members are left out.

    :param members: all rows of the group
    :param wanted: those of the rows whose members need a place
    :param vacated: members whose room the group may use
    :raises InvalidDocument: the document is no longer accepted
    """
    sitting = [m for m in members if m.state in SITTING]
    moving = {m.id for m in wanted}
    staying = [m for m in sitting if m.id not in moving]
    group = parse_group(record.document, parts.policy_types)
    return Question(
        group.only({m.member.path for m in (*sitting, *wanted)}),
        record.objective, record.uuid, moving_members.placed(staying),
        moving_members.guests(members), vacated=vacated,
        remembered=[member_rows.host_of(place) for m in sitting
                    for place in {m.place, m.next_place}],
        refused=refused_hosts.read(
            parts.conf, parts.table, record.uuid, parts.clock()),
        project_id=record.project_id,
        sources=moving_members.sources(staying),
        server_groups=parts.table.bindings.server_groups(record.uuid))

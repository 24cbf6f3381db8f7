# SPDX-License-Identifier: Apache-2.0
"""Members of a group, as clients see them."""

from typing import Any

from nova_holistic.table.coordination.parts import GroupPart
from nova_holistic.table.records import MemberRecord


def placement(record: MemberRecord, hosts: bool) -> dict[str, Any]:
    """
    :param hosts: whether the user may see the host
    """
    place = {'host': record.place.host, 'node': record.place.node,
             'location': list(record.place.location)} if hosts else {}
    return {'member': record.member.path, 'state': str(record.state),
            'instance_uuid': record.instance_uuid, **place}


def pointer(record: MemberRecord, part: GroupPart) -> dict[str, Any]:
    """The cloud of a member, and the hints with which its server is created
    there.

    :param part: the part of the group that contains the member
    """
    return {'cloud': part.child, 'pointer': part.child_group and {
        'holistic_group': part.child_group,
        'holistic_member': record.member.path}}

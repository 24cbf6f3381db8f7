# SPDX-License-Identifier: Apache-2.0
"""Members of a group, as clients see them."""

from typing import Any

from nova_holistic.table.records import MemberRecord


def placement(record: MemberRecord, hosts: bool) -> dict[str, Any]:
    """
    :param hosts: whether the user may see the host
    """
    place = {'host': record.place.host, 'node': record.place.node,
             'location': list(record.place.location)} if hosts else {}
    return {'member': record.member.path, 'state': str(record.state),
            'instance_uuid': record.instance_uuid, **place}

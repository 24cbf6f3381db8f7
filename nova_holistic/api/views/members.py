# SPDX-License-Identifier: Apache-2.0
"""Members of a group, as clients see them."""

from typing import Any

from nova_holistic.table.coordination.parts import GroupPart
from nova_holistic.table.records import MemberRecord
from nova_holistic.table.volume_records import VolumeRecord


def placement(record: MemberRecord, hosts: bool,
              part: GroupPart | None = None,
              clouds: bool = False) -> dict[str, Any]:
    """
    :param hosts: whether the user may see the host
    :param part: the part of the group that a child of this service has, and
        that contains the member
    :param clouds: whether the version of the request shows the cloud of a
        member, and the hints with which its server is created there
    """
    place = {'host': record.place.host, 'node': record.place.node,
             'location': list(record.place.location)} if hosts else {}
    document = {'member': record.member.path, 'state': str(record.state),
                'instance_uuid': record.instance_uuid, **place}
    if part is None:
        return document
    document['instance_uuid'] = part.instances.get(record.member.path)
    return {**document, **(_pointer(record, part) if clouds else {})}


def volume(record: VolumeRecord, pools: bool,
           **creation: Any) -> dict[str, Any]:
    """
    :param pools: whether the user may see the pool
    :param creation: the creation of the volume by an engine, if the version
        of the request shows it
    """
    place = {'pool': record.pool,
             'location': list(record.location)} if pools else {}
    return {'member': record.path, 'state': str(record.state),
            'volume_id': record.volume_uuid, 'size': record.volume.size_gb,
            'volume_type': record.volume.volume_type, **creation, **place}


def _pointer(record: MemberRecord, part: GroupPart) -> dict[str, Any]:
    """The pointer in the cloud of the member. A cloud below other parents has
    a path of several names."""
    path = record.member.path
    below, group = part.pointers.get(path, (None, part.child_group))
    return {'cloud': part.child if below is None else f'{part.child}/{below}',
            'pointer': {'holistic_group': group, 'holistic_member': path}}

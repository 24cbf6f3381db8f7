# SPDX-License-Identifier: Apache-2.0
"""Groups with the rows that a planner would have written."""

from datetime import datetime
import uuid

import sqlalchemy as sa

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.members.volume import Volume
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState, Place)
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table.volume_records import VolumeRecord

NOON = datetime(2030, 1, 1, 12)

SMALL = Requirements(
    resources=FrozenMapping({'VCPU': 1, 'MEMORY_MB': 512}), flavor='m1.small',
    required_traits=frozenset({'HW_CPU_X86_AVX2', 'COMPUTE_NODE'}),
    forbidden_traits=frozenset({'CUSTOM_SLOW'}), availability_zone='az1',
    aggregates=frozenset({'ssd'}), location=('az1', 'rack2'))


def new_uuid():
    return str(uuid.uuid4())


def a_group(status=GroupStatus.PLANNED, **fields):
    fields = {'uuid': new_uuid(), 'name': 'shop', 'project_id': 'blue',
              'user_id': 'ann', 'document': {'group': {'name': 'shop'}},
              'objective': 'spread', 'levels': ('rack', 'host'),
              'created_at': NOON, 'updated_at': NOON, **fields}
    return GroupRecord(status=status, **fields)


def members_of(group, counts):
    """The rows of a member description for each ``name=count``."""
    return [
        MemberRecord(
            id=0, group_uuid=group.uuid, member=member, hold=new_uuid(),
            place=Place(f'cmp-{position}', f'cmp-{position}.example.org',
                        new_uuid(), ('rack1',), (('power', 'A'),)),
            held=True, state=MemberState.PLANNED,
            alternates=(Place('cmp-9', 'cmp-9', new_uuid(), ('rack2',)),),
            updated_at=NOON)
        for name, count in counts.items()
        for position, member in enumerate(
            MemberDescription(name, SMALL, count).members('db/'))]


def volumes_of(group, count, size=10, pool='disks@lvm#1'):
    return [VolumeRecord(
        group.uuid, f'data-{number}', 'data', Volume(size, 'fast'), pool,
        ('rack1',), (('power', 'A'),), created_at=NOON, updated_at=NOON)
        for number in range(count)]


def force_state(table, member_id, state):
    """Set the state of a member without the checks of the state machine."""
    _force(table, sa.update(MemberRow).where(
        MemberRow.id == member_id).values(state=state))


def force_status(table, group_uuid, status):
    """Set the status of a group without the checks of the state machine."""
    _force(table, sa.update(GroupRow).where(
        GroupRow.uuid == group_uuid).values(status=status))


def _force(table, statement):
    with table.database.writer() as session:
        session.execute(
            statement.execution_options(synchronize_session=False))


def planned(table, group=None, **counts):
    group = group or a_group()
    table.create_group(group)
    table.write_members(group.uuid, members_of(group, counts))
    return group

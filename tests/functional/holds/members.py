# SPDX-License-Identifier: Apache-2.0
"""Members whose places are held for user ann of project blue."""

import uuid

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.table.records import MemberRecord, MemberState, Place

EMPTY = {'VCPU': 0, 'MEMORY_MB': 0}
ONE = {'VCPU': 1, 'MEMORY_MB': 512}


def new_uuid():
    return str(uuid.uuid4())


def member(provider, **resources):
    """A member that is planned on a host; it is small unless stated."""
    wanted = Requirements(resources=FrozenMapping(resources or ONE))
    return MemberRecord(
        id=1, group_uuid=new_uuid(), member=Member('web', 'web', wanted),
        place=Place('cmp-1', 'cmp-1', provider), hold=new_uuid(), held=True,
        state=MemberState.PLANNED)


def put(holds, *members):
    holds.put(members, 'blue', 'ann')


def swap(holds, row, instance):
    holds.swap(row, instance, 'blue', 'ann')

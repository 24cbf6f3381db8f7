# SPDX-License-Identifier: Apache-2.0
"""A group whose number of members may change has its current members after
each change, and is another object only then."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from nova_holistic.model.layered_mapping import LayeredMapping
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.policies import load_policy_types
from nova_holistic.scheduler.policies.membership import sized_group
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState, Place)
from tests.effort import examples

TYPES = load_policy_types()
NUMBERS = range(6)


def row(number, state=MemberState.PLANNED):
    return MemberRecord(
        id=number, group_uuid='group', member=Member(
            f'node-{number}', 'node', Requirements()),
        place=Place('h', 'h', 'p'), hold='hold', held=True, state=state,
        instance_uuid=None)


def record():
    """A group that was not parsed before."""
    return GroupRecord(
        uuid='group', name='web', project_id='blue', user_id='ann',
        status=GroupStatus.PLANNED, objective='spread', document={
            'name': 'web', 'members': [{
                'name': 'node', 'resources': {'VCPU': 1},
                'count': {'desired': 2, 'max': 6}}]})


@given(st.lists(st.tuples(
    st.lists(st.tuples(st.sampled_from(NUMBERS),
                       st.sampled_from(MemberState)), max_size=3),
    st.lists(st.sampled_from(NUMBERS), max_size=2),
    st.sampled_from(NUMBERS)), max_size=8))
@examples(150)
def test_the_size_follows_each_change(steps):
    known, rows, last = record(), LayeredMapping(), None
    for changed, gone, number in steps:
        rows = rows.updated({number: row(number, state)
                             for number, state in changed}, gone)
        own = replace(row(number), state=MemberState.CLAIMED)
        paths = {f'node-{number}'} | {
            each.member.path for number, each in rows.items()
            if each.state != MemberState.RELEASED and number != own.id}
        found = sized_group(known, TYPES, rows, own)
        assert {each.path for each in found.all_members()} == paths
        now = found, paths
        if last is not None:
            assert (found is last[0]) == (paths == last[1])
        last = now

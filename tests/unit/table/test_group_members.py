# SPDX-License-Identifier: Apache-2.0
"""The indexes of the members of a group give what a search would find."""

import dataclasses

from hypothesis import given, strategies as st

from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.table.queries.group_members import GroupMembers
from nova_holistic.table.records import MemberRecord, MemberState, Place

GROUP = 'b2b7a2a8-9f0a-4f3c-8a47-1f2f3c6b7d55'
SERVERS = ('s1', 's2', 's3')


def row(number, path, description, server=None):
    return MemberRecord(
        id=number, group_uuid=GROUP, member=Member(
            path, description, Requirements()),
        place=Place('h', 'h', 'p'), hold='hold', held=True,
        state=MemberState.PLANNED, instance_uuid=server)


ROWS = [row(9, 'db/node-0', 'db/node'), row(4, 'db/node-1', 'db/node'),
        row(5, 'web', 'web')]


def test_a_pointer_names_one_member_or_a_counted_member():
    members = GroupMembers.of(ROWS)
    assert members.pointed_at('db/node-1') == [ROWS[1]]
    assert members.pointed_at('db/node') == ROWS[:2]
    assert members.pointed_at('web') == [ROWS[2]]
    assert members.pointed_at('db') == []


@given(st.lists(st.permutations([*SERVERS, None, None, None])))
def test_indexes_follow_the_servers_of_the_members(steps):
    """In each step, some members lose a server, get one or exchange them."""
    members, now = GroupMembers.of(ROWS), ROWS
    for servers in steps:
        before, last = members, now
        now = [dataclasses.replace(each, instance_uuid=server)
               for each, server in zip(ROWS, servers)]
        members = before.updated([
            each for each, old in zip(now, last) if each != old])
        assert [list(before), list(members)] == [last, now]
        assert members.by_id == {each.id: each for each in now}
        assert [each for each in SERVERS
                if members.have_any_of([each, 'other'])] == [
                    each for each in SERVERS if each in servers[:len(now)]]
        for each in now:
            assert members.pointed_at(each.member.path) == [each]

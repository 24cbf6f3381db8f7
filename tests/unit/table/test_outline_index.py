# SPDX-License-Identifier: Apache-2.0
"""The indexes of outlines after random changes, compared with a search of all
groups and members."""

from hypothesis import given, strategies as st

from nova_holistic.reconcile.members_with_servers import MembersWithServers
from nova_holistic.table.queries.outline_index import OutlineIndex, Outlines
from nova_holistic.table.queries.overview import GroupOutline, MemberOutline
from nova_holistic.table.records import GroupStatus, MemberState

# What the statuses mean is written here again, without the project's code.
ACTIVE = {'planning', 'planned', 'building', 'complete', 'degraded'}
CLAIMABLE = {'planned', 'building', 'degraded'}
WITH_SERVER = {'claimed', 'built', 'failed'}


@st.composite
def changes(draw):
    """A group or None, and its members. Members of two groups may have the
    same ID, but not the same server."""
    uuid = draw(st.sampled_from('abc'))
    if draw(st.integers(0, 4)) == 0:
        return uuid, None, {}
    group = GroupOutline(
        uuid, draw(st.sampled_from(['blue', 'green'])), 'user',
        draw(st.sampled_from(GroupStatus)), None, None,
        draw(st.integers(1, 2)))
    members = {}
    for number in draw(st.sets(st.integers(1, 3))):
        state = draw(st.sampled_from(MemberState))
        host = draw(st.sampled_from(['h1', 'h2']))
        members[number] = MemberOutline(
            number, uuid, state, host, f'provider of {host}',
            f'hold {uuid}{number}',
            f'server {uuid}{number}' if state in WITH_SERVER else None)
    return uuid, group, members


def outlined(groups):
    """Put the groups into an index, each for the first time."""
    index = OutlineIndex()
    for uuid, (group, members) in groups.items():
        index.put(uuid, group, members)
    return index.outlines()


def by(place, groups):
    """The planned members that can be claimed, by the value of a field."""
    found = {}
    for uuid, (group, members) in groups.items():
        for number, member in members.items():
            if group.status in CLAIMABLE and member.state == 'planned':
                found.setdefault(getattr(member, place), {})[
                    uuid, number] = member
    return found


@given(st.lists(changes(), max_size=12))
def test_the_indexes_are_those_of_the_current_groups(steps):
    index, groups, before = OutlineIndex(), {}, Outlines()
    for uuid, group, members in steps:
        known = groups.pop(uuid, None)
        if group is not None:
            groups[uuid] = group, members
        index.put(uuid, group, members)
        now = index.outlines()
        assert now.groups == {each: group for each, (group, _)
                              in groups.items()}
        assert now.by_group == {each: those for each, (_, those)
                                in groups.items() if those}
        assert now.planned == by('provider', groups)
        assert now.planned_hosts == by('host', groups)
        assert now.planning == {each for each, (group, _) in groups.items()
                                if group.status == 'planning'}
        assert now.stray == {
            each for each, (group, those) in groups.items()
            if group.status in ('error', 'unplaceable')
            and any(m.state == 'planned' for m in those.values())}
        assert now.unsettled == outlined(groups).unsettled
        is_changed = known != groups.get(uuid)
        assert set(now.changed_since(before)) == ({uuid} if is_changed
                                                  else set())
        assert (now is before) <= (not is_changed)
        before = now


@given(st.lists(st.lists(changes(), max_size=4), max_size=6))
def test_members_with_servers_are_those_of_active_groups(reads):
    index, groups, members = OutlineIndex(), {}, MembersWithServers()
    before = {}
    for steps in reads:
        for uuid, group, those in steps:
            groups.pop(uuid, None)
            if group is not None:
                groups[uuid] = group, those
            index.put(uuid, group, those)
        changed = members.follow(index.outlines())
        now = {member.instance_uuid: member
               for group, those in groups.values() for member in those.values()
               if group.status in ACTIVE and member.state in WITH_SERVER}
        assert members.by_server == now
        assert changed == {server for server in before.keys() | now.keys()
                           if before.get(server) != now.get(server)}
        assert members.outside(()) == len(now)
        assert members.outside({'blue'}) == sum(
            groups[member.group_uuid][0].project_id == 'green'
            for member in now.values())
        before = now

# SPDX-License-Identifier: Apache-2.0
"""Updates of a parent's groups, over clouds in memory."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nova_holistic.federation.saga.journal import PartState
from nova_holistic.federation.update.part_settler import PartSettler
from nova_holistic.table.changes import mirrored_members
from nova_holistic.table.coordination.parts import GroupPart
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import GroupStatus, MemberState, Task
from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.api.service import refusal
from tests.unit.federation.changing_cloud import ChangingChild, ChangingCloud
from tests.unit.federation.clouds import Lost, member, small, TYPES
from tests.unit.federation.parent import LATEST, Parent

APART = {'type': 'anti-affinity', 'level': 'cloud'}


def pair(count=2, vcpus=2, **more):
    """Return a group of servers, no two of which may be in the same cloud."""
    return {'name': 'pair', 'policies': [APART], 'members': [
        {**member('node', vcpus), 'count': count}], **more}


def parts(*groups, **more):
    """Return a group of nested groups, which may be in different clouds unless
    rules tie them."""
    return {'name': 'shop', 'groups': [*groups], **more}


def nested(name, *members, **more):
    return {'name': name, 'members': [*members], **more}


HOME = nested('home', member('a', 2, location='ams'))
AWAY = nested('away', member('b', 2, location='dfw'))


@pytest.fixture
def parent(tmp_path):
    """A parent of three clouds with 32, 16 and 16 VCPUs."""
    found = Parent(PlacementTable(new_table(tmp_path)), {
        'ams': small('a1', 'a2'), 'dfw': small('b1'), 'lon': small('c1')},
        make=lambda name, cloud, time: ChangingChild(
            name, ChangingCloud(cloud, TYPES, time.now), time))
    yield found
    found.engines.stop()


def updated(parent, group, document, **more):
    """Update the group, and return it after the update."""
    answer = parent.ask('PUT', f'/v1/groups/{group["id"]}', {
        'group': document, **more}, headers={
            **LATEST, 'If-Match': f'"{group["revision"]}"'})
    assert answer.status_int == 202, answer.text
    return parent.settled(group['id'])


def clouds_of(parent, group):
    return {path: each['cloud']
            for path, each in parent.members(group['id']).items()}


def updates(parent):
    return {name: len(child.updates())
            for name, child in parent.clouds.children.items()
            if child.updates()}


def states(parent, group):
    return {part.child: part.state
            for part in parent.table.parts.of_group(group['id'])}


def test_a_member_is_added_to_the_part_of_one_cloud(parent):
    group = parent.post(parts(HOME, AWAY))
    after = updated(parent, group, parts(
        nested('home', member('a', 2, location='ams'),
               member('c', 3, location='ams')), AWAY))
    assert (after['reasons'], after['revision']) == ([], 2)
    assert clouds_of(parent, group) == {
        'home/a': 'ams', 'home/c': 'ams', 'away/b': 'dfw'}
    assert updates(parent) == {'ams': 1}
    assert parent.clouds.held() == {'ams': 5, 'dfw': 2}
    assert parent.members(group['id'])['home/c']['state'] == 'planned'
    assert states(parent, group) == {'ams': 'committed', 'dfw': 'committed'}


def test_members_are_added_and_removed(parent):
    group = parent.post(parts(HOME, AWAY))
    url = f'/v1/groups/{group["id"]}/members'
    assert parent.ask('POST', url, {'members': [{
        'group': 'away', **member('c', 1)}]}).status_int == 202
    assert parent.settled(group['id'])['reasons'] == []
    assert parent.clouds.held() in ({'ams': 2, 'dfw': 3},
                                    {'ams': 3, 'dfw': 2},
                                    {'ams': 2, 'dfw': 2, 'lon': 1})
    assert parent.ask('DELETE', f'{url}/away/c').status_int == 202
    assert parent.settled(group['id'])['reasons'] == []
    assert parent.clouds.held() == {'ams': 2, 'dfw': 2}
    assert set(clouds_of(parent, group)) == {'home/a', 'away/b'}


def test_a_nested_group_is_placed_in_a_further_cloud(parent):
    group = parent.post(pair(2))
    before = clouds_of(parent, group)
    after = updated(parent, group, pair(3))
    assert after['reasons'] == []
    clouds = clouds_of(parent, group)
    assert set(clouds.values()) == {'ams', 'dfw', 'lon'}
    assert {path: clouds[path] for path in before} == before
    assert parent.clouds.held() == {'ams': 2, 'dfw': 2, 'lon': 2}
    # The documents of the two other clouds are unchanged.
    assert updates(parent) == {}
    assert parent.get(group['id'])['members'] == {'planned': 3}


def test_a_part_without_members_is_deleted_in_its_cloud(parent):
    group = parent.post(pair(3))
    after = updated(parent, group, pair(2))
    assert after['reasons'] == []
    assert len(states(parent, group)) == 2
    assert sorted(parent.clouds.held().values()) == [2, 2]


def test_an_update_that_fits_nowhere_changes_nothing(parent):
    group = parent.post(pair(3))
    before = parent.members(group['id'])
    after = updated(parent, group, pair(4))
    assert after['status'] == 'planned'
    assert (after['revision'], len(after['reasons']) > 0) == (1, True)
    assert parent.members(group['id']) == before
    assert parent.clouds.held() == {'ams': 2, 'dfw': 2, 'lon': 2}
    assert set(states(parent, group).values()) == {'committed'}


def test_a_refused_part_restores_the_others(parent):
    group = parent.post(parts(HOME, AWAY))
    # The first cloud gets another member. The second cloud has no room for the
    # larger member.
    after = updated(parent, group, parts(
        nested('home', member('a', 2, location='ams'),
               member('c', 3, location='ams')),
        nested('away', member('b', 17, location='dfw'))))
    assert 'dfw' in str(after['reasons'])
    assert after['revision'] == 1
    assert parent.clouds.held() == {'ams': 2, 'dfw': 2}
    assert updates(parent)['ams'] % 2 == 0
    assert set(clouds_of(parent, group)) == {'home/a', 'away/b'}
    assert set(states(parent, group).values()) == {'committed'}


def test_a_part_that_is_gone_before_its_lease_is_extended_is_a_refusal(parent):
    group = parent.post(parts(HOME))
    child = parent.clouds.children['ams']
    child.extend = lambda group_uuid, seconds: None
    after = updated(parent, group, parts(nested(
        'home', member('a', 2, location='ams'),
        member('c', 3, location='ams'))))
    assert 'cloud ams: the group disappeared' in str(after['reasons'])
    assert after['revision'] == 1
    assert set(clouds_of(parent, group)) == {'home/a'}


def test_updates_do_not_extend_a_lease_by_the_difference_of_clocks(parent):
    """The clock of one cloud is an hour ahead."""
    time, cloud = parent.clouds.time, parent.clouds.children['ams'].cloud
    cloud.clock = lambda: time.now() + timedelta(hours=1)
    group = parent.post(parts(HOME))
    assert parent.ask('POST', f'/v1/groups/{group["id"]}/extend', {
        'extend': {'seconds': 20000}}).status_int == 200
    (uuid,) = cloud.groups
    end = cloud.groups[uuid].lease_end
    names = ['a']
    for name in 'cde':
        time.sleep(60)
        names.append(name)
        group = updated(parent, parent.get(group['id']), parts(nested(
            'home', *(member(each, 2, location='ams') for each in names))))
        assert group['reasons'] == []
        assert cloud.groups[uuid].lease_end == end
        assert parent.get(group['id'])['lease_expires_at'] == (
            f'{end.isoformat()}Z')
    # Shortly before the end, an update gives the new members a whole lease.
    time.sleep(19000)
    names.append('f')
    assert updated(parent, parent.get(group['id']), parts(nested(
        'home', *(member(each, 2, location='ams') for each in names))))[
            'reasons'] == []
    assert cloud.groups[uuid].lease_end == cloud.clock() + timedelta(
        seconds=parent.conf.planner.lease)


def test_a_larger_member_takes_the_room_of_a_removed_one(parent):
    group = parent.post(parts(nested(
        'away', member('b', 10, location='dfw'))))
    after = updated(parent, group, parts(nested(
        'away', member('c', 15, location='dfw'))))
    assert after['reasons'] == []
    assert parent.clouds.held() == {'dfw': 15}


def test_changes_of_two_clouds_are_refused_at_their_position(parent):
    group = parent.post(pair(2))
    answer = parent.ask('PUT', f'/v1/groups/{group["id"]}', {
        'group': pair(2, vcpus=3)}, headers={**LATEST, 'If-Match': '"1"'})
    status, code, detail = refusal(answer)
    assert (status, code) == (400, 'holistic.invalid_document')
    assert detail.startswith('members[0]: ')
    assert 'change the members of one cloud at a time' in detail
    assert parent.get(group['id'])['task'] is None
    assert updates(parent) == {}


def test_a_rule_that_would_move_a_member_is_refused_at_its_position(parent):
    group = parent.post(parts(HOME, AWAY))
    tied = {'type': 'affinity', 'level': 'rack'}
    document = parts(nested('home', member('a', 2)),
                     nested('away', member('b', 2)), policies=[tied])
    url, headers = f'/v1/groups/{group["id"]}', {**LATEST, 'If-Match': '"1"'}
    status, _, detail = refusal(parent.ask(
        'PUT', url, {'group': document}, headers=headers))
    assert (status, detail.partition(':')[0]) == (400, 'policies[0]')
    moved = parts(nested('home', member('a', 2, location='lon')), AWAY)
    status, _, detail = refusal(parent.ask(
        'PUT', url, {'group': moved}, headers=headers))
    assert (status, detail.partition(':')[0]) == (
        400, 'groups[0].members[0].location')
    assert updates(parent) == {}


def test_a_stale_revision_is_refused(parent):
    group = parent.post(pair(2))
    answer = parent.ask('PUT', f'/v1/groups/{group["id"]}', {
        'group': pair(3)}, headers={**LATEST, 'If-Match': '"7"'})
    assert refusal(answer)[0] == 412


def test_a_group_without_a_place_is_updated_to_one_that_fits(parent):
    group = parent.post(pair(4))
    assert group['status'] == 'unplaceable'
    after = updated(parent, group, pair(3))
    assert (after['status'], after['reasons']) == ('planned', [])
    assert parent.clouds.held() == {'ams': 2, 'dfw': 2, 'lon': 2}


def test_a_cloud_that_does_not_answer_gets_its_definition_later(parent):
    group = parent.post(pair(3))
    silent = clouds_of(parent, group)['node-2']
    child = parent.clouds.children[silent]

    def lost(method, when):
        raise Lost
    child.fault = lost
    after = updated(parent, group, pair(2))
    # Nothing in this update can be refused, so it is carried out.
    assert (after['reasons'], after['revision']) == ([], 2)
    assert parent.clouds.held()[silent] == 2
    assert states(parent, group)[silent] == PartState.UNDOING
    child.fault = lambda method, when: None
    parent.get(group['id'])
    assert silent not in parent.clouds.held()
    assert silent not in states(parent, group)


def test_a_lost_answer_to_an_update_changes_nothing_twice(parent):
    group = parent.post(parts(HOME, AWAY))
    child, left = parent.clouds.children['ams'], ['update']

    def lost(method, when):
        if method in left and when == 'after':
            left.remove(method)
            raise Lost
    child.fault = lost
    after = updated(parent, group, parts(
        nested('home', member('a', 2, location='ams'),
               member('c', 3, location='ams')), AWAY))
    assert after['reasons'] == []
    assert parent.clouds.held() == {'ams': 5, 'dfw': 2}
    assert updates(parent) == {'ams': 1}


def changed_in_the_cloud(parent, group, times):
    """Add a member to the group. A user of the cloud changes the part this
    number of times, each time after the parent has read it.

    :returns: the group after the update
    """
    child = parent.clouds.children['ams']
    (uuid,) = child.cloud.groups
    left = [*range(times)]

    def change(method, when):
        if (method, when) == ('definition', 'after') and left:
            revision = child.cloud.revisions[uuid]
            assert child.cloud.update(uuid, {'name': 'shop', 'groups': [
                nested('home', member('a', 2), member(f'x{left.pop()}', 1))]},
                revision) == ()
    child.fault = change
    return updated(parent, group, parts(nested(
        'home', member('a', 2, location='ams'),
        member('c', 3, location='ams'))))


def test_a_part_that_changes_in_its_cloud_at_the_same_time_is_read_again(
        parent):
    group = parent.post(parts(HOME))
    after = changed_in_the_cloud(parent, group, 2)
    assert (after['reasons'], after['revision']) == ([], 2)
    assert parent.clouds.held() == {'ams': 5}
    assert states(parent, group) == {'ams': 'committed'}


def test_a_part_that_keeps_changing_in_its_cloud_is_a_refusal(parent):
    group = parent.post(parts(HOME))
    after = changed_in_the_cloud(parent, group, 100)
    assert ('cloud ams: the definition of its part keeps changing in the '
            'cloud; try again') in [
                each['message'] for each in after['reasons']]
    assert (after['status'], after['revision']) == ('planned', 1)
    # The next request restores the definition.
    parent.clouds.children['ams'].fault = keep_answers
    parent.get(group['id'])
    assert parent.clouds.held() == {'ams': 2}
    assert states(parent, group) == {'ams': 'committed'}


def test_lost_parts_are_placed_again_by_a_replan(parent):
    group = parent.post(pair(2))
    lost = clouds_of(parent, group)['node-1']
    cloud = parent.clouds.children[lost].cloud
    for uuid in list(cloud.groups):
        cloud.delete(uuid)
    assert parent.get(group['id'])['members'] == {'planned': 1, 'lost': 1}
    answer = parent.ask('POST', f'/v1/groups/{group["id"]}/replan',
                        {'replan': {}})
    assert answer.status_int == 202
    after = parent.settled(group['id'])
    assert (after['reasons'], after['members']) == ([], {'planned': 2})
    assert sorted(parent.clouds.held().values()) == [2, 2]


def replanned(parent, group):
    """Replan the group, and return it afterwards."""
    assert parent.ask('POST', f'/v1/groups/{group["id"]}/replan',
                      {'replan': {}}).status_int == 202
    return parent.settled(group['id'])


def test_a_built_member_whose_part_is_deleted_is_not_placed_again(parent):
    """A user has deleted the group in the cloud; its servers still run."""
    group = parent.post(parts(nested(
        'home', member('a', 2, location='ams'),
        member('c', 3, location='ams')), AWAY))
    lose(parent, group, 'home/a', state=MemberState.BUILT)
    cloud = parent.clouds.children['ams'].cloud
    cloud.delete(*cloud.groups)
    before = parent.get(group['id'])['members']
    assert before == {'built': 1, 'lost': 1, 'planned': 1}
    after = replanned(parent, group)
    assert [each['message'] for each in after['reasons']] == [
        'cloud ams: the cloud no longer has its part of the group, and these '
        'members have servers there, which may still run: home/a; remove '
        'these members from the group before you replan it']
    assert parent.get(group['id'])['members'] == before
    assert parent.clouds.held() == {'dfw': 2}
    assert set(states(parent, group)) == {'ams', 'dfw'}
    # The user does what the reason demands.
    assert parent.ask('DELETE', f'/v1/groups/{group["id"]}/members/home/a'
                      ).status_int == 202
    assert parent.settled(group['id'])['reasons'] == []
    assert replanned(parent, group)['reasons'] == []
    assert parent.get(group['id'])['members'] == {'planned': 2}
    assert parent.clouds.held() == {'ams': 3, 'dfw': 2}


def lose(parent, group, *paths, state=MemberState.LOST):
    """Let members be lost, or have another state."""
    mirrored_members.write(parent.table.database, group['id'],
                           dict.fromkeys(paths, state),
                           parent.clouds.time.now())


def test_other_members_are_replanned_while_a_part_with_servers_waits(parent):
    """Users have deleted the group in two clouds; a server in one of them may
    still run."""
    group = parent.post(parts(nested(
        'home', member('a', 2, location='ams'),
        member('c', 3, location='ams')), AWAY))
    lose(parent, group, 'home/a', state=MemberState.BUILT)
    for name in 'ams', 'dfw':
        cloud = parent.clouds.children[name].cloud
        cloud.delete(*cloud.groups)
    assert parent.get(group['id'])['members'] == {'built': 1, 'lost': 2}
    after = replanned(parent, group)
    (reason,) = after['reasons']
    assert 'home/a; remove these members' in reason['message']
    assert parent.get(group['id'])['members'] == {
        'built': 1, 'lost': 1, 'planned': 1}
    assert parent.clouds.held() == {'dfw': 2}
    assert states(parent, group) == {'ams': 'committed', 'dfw': 'committed'}
    # Clouds that have their part get the request, too.
    replanned(parent, group)
    assert [method for method, _ in parent.clouds.children['dfw'].calls
            ][-1] == 'replan'


def test_other_members_are_replanned_while_a_cloud_does_not_answer(parent):
    group = parent.post(parts(nested(
        'home', member('a', 2, location='ams'),
        member('c', 3, location='ams')), AWAY))
    cloud = parent.clouds.children['dfw'].cloud
    cloud.delete(*cloud.groups)
    parent.clouds.children['ams'].fault = lose_answers
    lose(parent, group, 'home/c')
    after = replanned(parent, group)
    assert [each['message'] for each in after['reasons']] == [
        'cloud ams: no answer']
    assert parent.get(group['id'])['members'] == {'planned': 2, 'lost': 1}
    assert parent.clouds.held() == {'ams': 5, 'dfw': 2}
    assert updates(parent) == {}


def test_a_member_that_its_cloud_no_longer_has_is_lost_and_planned_again(
        parent):
    """A user has removed the member from the group in the cloud, and not from
    the group of the parent."""
    document = parts(nested('home', member('a', 2, location='ams'),
                            member('c', 3, location='ams')), AWAY)
    group = parent.post(document)
    cloud = parent.clouds.children['ams'].cloud
    (uuid,) = cloud.groups
    assert cloud.update(uuid, {'name': 'shop', 'groups': [
        nested('home', member('a', 2))]}, 1) == ()
    assert parent.clouds.held() == {'ams': 2, 'dfw': 2}
    assert parent.members(group['id'])['home/c']['state'] == 'lost'
    answer = parent.ask('POST', f'/v1/groups/{group["id"]}/replan',
                        {'replan': {}})
    assert answer.status_int == 202
    assert parent.settled(group['id'])['reasons'] == []
    assert parent.get(group['id'])['members'] == {'planned': 3}
    assert parent.clouds.held() == {'ams': 5, 'dfw': 2}


def test_children_replan_the_members_of_their_parts(parent):
    group = parent.post(pair(2))
    parent.ask('POST', f'/v1/groups/{group["id"]}/replan', {'replan': {}})
    assert parent.settled(group['id'])['reasons'] == []
    assert sum(method == 'replan' for child in
               parent.clouds.children.values()
               for method, _ in child.calls) == 2


@pytest.mark.parametrize('is_known', [True, False])
def test_members_are_planned_as_soon_as_their_replan_ends(parent, is_known):
    """The parent has compared the group shortly before. The cloud may know
    its lost member, or a user has removed it there."""
    group = parent.post(parts(nested(
        'home', member('a', 2, location='ams'),
        member('c', 3, location='ams')), AWAY))
    lose(parent, group, 'home/c')
    if not is_known:
        cloud = parent.clouds.children['ams'].cloud
        (uuid,) = cloud.groups
        assert cloud.update(uuid, {'name': 'shop', 'groups': [
            nested('home', member('a', 2))]}, 1) == ()
    parent.options['refresh_interval'] = 3600.0
    parent.renew()
    parent.get(group['id'])
    lose(parent, group, 'home/c')
    assert replanned(parent, group)['members'] == {'planned': 3}


def test_members_of_a_waiting_part_stay_lost_after_a_replan(parent):
    """The cloud answers again before the task ends. It has had no request to
    plan the member again."""
    group = parent.post(parts(HOME, AWAY))
    lose(parent, group, 'home/a')
    child = parent.clouds.children['ams']

    def answer_once(method, when):
        child.fault = keep_answers
        raise Lost

    parent.options['refresh_interval'] = 3600.0
    parent.renew()
    parent.get(group['id'])
    lose(parent, group, 'home/a')
    child.fault = answer_once
    after = replanned(parent, group)
    assert after['members'] == {'planned': 1, 'lost': 1}
    assert [each['message'] for each in after['reasons']] == [
        'cloud ams: no answer']


def lose_answers(method, when):
    raise Lost


def keep_answers(method, when):
    pass


def with_a_part_to_delete(parent):
    """Return a group whose former part in dfw is not deleted yet."""
    group = parent.post(parts(HOME, AWAY))
    child = parent.clouds.children['dfw']
    child.fault = lose_answers
    after = updated(parent, group, parts(HOME))
    assert (after['reasons'], after['revision']) == ([], 2)
    assert states(parent, group) == {'ams': 'committed', 'dfw': 'undoing'}
    child.fault = keep_answers
    return after


def test_a_refresh_does_not_revert_an_update_that_has_ended_since(
        parent, monkeypatch):
    """The update begins and ends after the refresh has read the group. Its
    answers at the end are lost, so that a part remains CHANGING."""
    group = with_a_part_to_delete(parent)
    child, settle = parent.clouds.children['ams'], PartSettler.settle

    def fault(method, when):
        if method == 'definition' and (
                parent.table.get_group(group['id']).revision == 3):
            raise Lost

    def late(self, user, record, journal):
        monkeypatch.undo()
        child.fault = fault
        after = updated(parent, group, parts(
            nested('home', member('a', 3, location='ams'))))
        assert (after['reasons'], after['revision']) == ([], 3)
        assert states(parent, group)['ams'] == 'changing'
        child.fault = keep_answers
        settle(self, user, record, journal)

    monkeypatch.setattr(PartSettler, 'settle', late)
    parent.get(group['id'])
    assert parent.clouds.held() == {'ams': 3}
    assert len(child.updates()) == 1
    parent.get(group['id'])
    assert parent.clouds.held() == {'ams': 3}
    assert states(parent, group) == {'ams': 'committed'}


def test_a_refresh_does_not_delete_the_new_part_of_an_update(
        parent, monkeypatch):
    """The update begins and ends while the refresh reads the rows."""
    group = with_a_part_to_delete(parent)
    paths = PartSettler.paths

    def late(self, group_uuid):
        found = paths(self, group_uuid)
        monkeypatch.undo()
        after = updated(parent, group, parts(HOME, nested(
            'more', member('d', 1, location='lon'))))
        assert after['reasons'] == []
        return found

    monkeypatch.setattr(PartSettler, 'paths', late)
    parent.get(group['id'])
    assert parent.clouds.held() == {'ams': 2, 'lon': 1}
    assert states(parent, group) == {'ams': 'committed', 'lon': 'committed'}
    assert parent.get(group['id'])['members'] == {'planned': 2}


def test_a_refresh_does_not_delete_the_parts_of_a_replan(
        parent, monkeypatch):
    """The replan of a group without a place does not change its revision. It
    begins and ends while the refresh reads the rows."""
    for child in parent.clouds.children.values():
        child.fault = lose_answers
    group = parent.post(pair(3))
    assert group['status'] == 'error'
    for child in parent.clouds.children.values():
        child.fault = keep_answers
    assert parent.table.parts.write(GroupPart(
        'p-1-dfw', group['id'], 'dfw', 'pair', ('node-0',), 'undoing',
        parent.clouds.time.now(), 'a-group-in-dfw'), None)
    paths = PartSettler.paths

    def late(self, group_uuid):
        found = paths(self, group_uuid)
        monkeypatch.undo()
        assert parent.ask('POST', f'/v1/groups/{group_uuid}/replan',
                          {'replan': {}}).status_int == 202
        assert parent.settled(group_uuid)['status'] == 'planned'
        return found

    monkeypatch.setattr(PartSettler, 'paths', late)
    parent.get(group['id'])
    assert parent.get(group['id'])['members'] == {'planned': 3}
    assert parent.clouds.held() == {'ams': 2, 'dfw': 2, 'lon': 2}
    assert set(states(parent, group).values()) == {'committed'}


def test_a_refresh_does_not_write_what_a_cloud_reported_before_a_replan(
        parent):
    """The replan begins and ends after the cloud has reported that it has no
    part."""
    group = parent.post(parts(HOME))
    child = parent.clouds.children['ams']
    child.cloud.delete(*child.cloud.groups)
    assert parent.get(group['id'])['members'] == {'lost': 1}

    def late(method, when):
        if (method, when) == ('show', 'after'):
            child.fault = keep_answers
            url = f'/v1/groups/{group["id"]}'
            assert parent.ask('POST', f'{url}/replan', {
                'replan': {}}).status_int == 202
            assert parent.settled(group['id'])['reasons'] == []
            # The task may have ended within the last request.
            assert parent.get(group['id'])['members'] == {'planned': 1}

    child.fault = late
    parent.get(group['id'])
    assert [row.state for row in parent.table.members(group['id'])] == [
        'planned']


def test_a_refresh_does_not_repeat_what_another_one_has_done(parent):
    """Another process deletes both parts while the refresh waits for the
    first cloud."""
    group = parent.post(parts(HOME, AWAY, nested(
        'more', member('d', 1, location='lon'))))
    left = [parent.clouds.children[name] for name in ('dfw', 'lon')]
    for child in left:
        child.fault = lose_answers
    assert updated(parent, group, parts(HOME))['reasons'] == []
    for child in left:
        child.fault, child.calls[:] = keep_answers, []

    def slow(method, when):
        if method == 'delete':
            left[0].fault = keep_answers
            parent.get(group['id'])

    left[0].fault = slow
    parent.get(group['id'])
    assert [len(child.calls) for child in left] == [2, 1]
    assert states(parent, group) == {'ams': 'committed'}


def test_a_release_does_not_revert_an_update_that_has_begun(parent):
    """Another process begins the update while the release waits for a cloud,
    and changes the part in this cloud."""
    group = parent.post(parts(nested(
        'home', member('a', 2, location='ams'),
        member('c', 3, location='ams'))))
    (part,) = parent.table.parts.of_group(group['id'])
    child = parent.clouds.children['ams']
    new = {'name': 'shop', 'groups': [nested('home', member('a', 2))]}

    def release(group_uuid, paths):
        now = parent.clouds.time.now()
        assert parent.table.tasks.request(group['id'], NewTask(
            Task.UPDATING, {}, [GroupStatus.PLANNED]), now)
        assert parent.table.tasks.take(group['id'], 'another', now, now)
        assert parent.table.parts.write(
            replace(part, state='changing'), 'another')
        child.cloud.update(group_uuid, new, 1)

    child.release = release
    assert parent.ask('POST', f'/v1/groups/{group["id"]}/release',
                      {'release': {}}).status_int == 200
    assert child.updates() == []
    assert parent.clouds.held() == {'ams': 2}
    assert states(parent, group) == {'ams': 'changing'}


def test_a_killed_update_is_finished_by_the_next_process(parent):
    """The previous process has changed one part and created another."""
    group = parent.post(parts(HOME, AWAY))
    document = parts(
        nested('home', member('a', 2, location='ams'),
               member('c', 3, location='ams')), AWAY,
        nested('more', member('d', 1, location='lon')))
    taken = []
    parent.engines._submit = lambda work, context, uuid: taken.append(
        (work, context, uuid))
    answer = parent.ask('PUT', f'/v1/groups/{group["id"]}', {
        'group': document}, headers={**LATEST, 'If-Match': '"1"'})
    assert answer.status_int == 202
    now = parent.clouds.time.now()
    part = next(each for each in parent.table.parts.of_group(group['id'])
                if each.child == 'ams')
    assert parent.table.tasks.take(group['id'], 'former', now, now)
    cloud = parent.clouds.children['ams'].cloud
    cloud.update(part.child_group, {
        'name': 'shop', 'groups': [nested('home', member('a', 2),
                                          member('c', 3))]}, 1)
    parent.table.parts.write(
        type(part)(**{**{name: getattr(part, name)
                         for name in part.__slots__}, 'state': 'changing'}),
        'former')
    parent.clouds.time.sleep(parent.conf.federation.task_timeout + 1)
    work, context, uuid = taken[0]
    work(context, uuid)
    after = parent.settled(group['id'])
    assert (after['reasons'], after['revision']) == ([], 2)
    assert parent.clouds.held() == {'ams': 5, 'dfw': 2, 'lon': 1}
    assert set(states(parent, group).values()) == {'committed'}

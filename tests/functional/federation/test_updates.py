# SPDX-License-Identifier: Apache-2.0
"""Changes of a group through its parent, in three real clouds."""

from tests.functional.federation.test_federation import (
    held, pointed, SPLIT)
from tests.functional.federation.world import (
    objections, SMALL, TIMEOUT, until)

POINTS = ('change-noted', 'part-changed', 'update-committed',
          'update-written')
"""Crash points of a parent that updates a group."""


def pytest_generate_tests(metafunc):
    if 'point' in metafunc.fixturenames:
        full = metafunc.config.getoption('effort') == 'full'
        metafunc.parametrize('point', POINTS if full else POINTS[1::2])


def member(name, cloud, **more):
    return {'name': name, 'resources': SMALL, 'location': cloud, **more}


def shop(*more, home=(), lon=False):
    """One nested group in each of two clouds, and perhaps in a third."""
    return {'name': 'shop', 'groups': [
        {'name': 'home', 'members': [member('a', 'ams'), *home]},
        {'name': 'away', 'members': [member('b', 'dfw'), *more]},
        *([{'name': 'third', 'members': [member('c', 'lon')]}]
          if lon else [])]}


def test_servers_of_changed_members_are_created_by_their_pointers(
        clouds, start_parent):
    parent = start_parent()
    group = parent.create(shop())['id']
    first = parent.members(group)['home/a']
    clouds['ams'].create_server(first['pointer'])
    document = shop(home=[member('d', 'ams', count=2)], lon=True)
    after = parent.update(group, document)
    assert (after['reasons'], after['revision']) == ([], 2)
    members = parent.members(group)
    assert {path: each['cloud'] for path, each in members.items()} == {
        'home/a': 'ams', 'home/d-0': 'ams', 'home/d-1': 'ams',
        'away/b': 'dfw', 'third/c': 'lon'}
    # The server has remained, and the other members are held.
    assert members['home/a']['instance_uuid']
    del members['home/a']
    assert held(clouds) == pointed(members)
    hosts = {path: clouds[each['cloud']].create_server(each['pointer'])[1]
             for path, each in members.items()}
    assert not objections(
        {**document, 'groups': document['groups'][1:]}, {
            path: (members[path]['cloud'], host)
            for path, host in hosts.items() if not path.startswith('home/')})

    after = parent.update(group, shop())
    assert (after['reasons'], set(parent.members(group))) == (
        [], {'home/a', 'away/b'})
    parent.delete(group)
    for cloud in clouds.values():
        cloud.delete_servers()


def test_members_are_added_removed_and_detached(clouds, start_parent):
    parent = start_parent()
    group = parent.create(shop())['id']
    answer = parent.ask('POST', f'/groups/{group}/members?wait=60', {
        'members': [{'group': 'away', **member('e', 'dfw')}]})
    assert answer.status_code == 200, answer.text
    members = parent.members(group)
    assert members['away/e']['cloud'] == 'dfw'
    assert held(clouds) == pointed(members)
    answer = parent.ask('DELETE', f'/groups/{group}/members/away/e?wait=60')
    assert answer.status_code == 200, answer.text
    detach = {'detach': {'member': 'away/b'}}
    answer = parent.ask('POST', f'/groups/{group}/detach', detach)
    assert answer.status_code == 409, answer.text
    assert 'has no server, or its server is not built' in answer.text
    answer = parent.ask('POST', f'/groups/{group}/detach', {
        'detach': {'member': 'away'}})
    assert answer.status_code == 400, answer.text
    assert "has no member 'away'" in answer.json()['errors'][0]['detail']
    clouds['dfw'].create_server(parent.members(group)['away/b']['pointer'])
    clouds['dfw'].reconcile()
    assert parent.members(group)['away/b']['state'] == 'built'
    answer = parent.ask('POST', f'/groups/{group}/detach', detach)
    assert answer.status_code == 200, answer.text
    members = parent.members(group)
    assert (members['away/b']['state'], members['away/b']['instance_uuid']
            ) == ('released', None)
    assert held(clouds) == pointed({'home/a': members['home/a']})
    parent.delete(group)
    clouds['dfw'].delete_servers()


def test_a_refused_update_changes_no_cloud(clouds, start_parent):
    """The last cloud has capacity for two servers."""
    parent = start_parent()
    group = parent.create(shop(lon=True))['id']
    before = parent.members(group)
    document = shop(home=[member('d', 'ams')])
    document['groups'].append({'name': 'third', 'members': [
        member('c', 'lon', count=3)]})
    after = parent.update(group, document)
    assert after['revision'] == 1
    assert 'lon' in str(after['reasons'])
    assert parent.members(group) == before
    assert held(clouds) == pointed(before)
    answer = parent.ask('POST', f'/groups/{group}/release',
                        {'release': {'members': ['third/c']}})
    assert answer.json()['released'] == ['third/c']
    assert held(clouds) == pointed({
        path: before[path] for path in ('home/a', 'away/b')})
    parent.delete(group)


def test_a_replan_leaves_an_intact_group_and_users_may_not_repair(
        clouds, start_parent):
    """No member of this group is lost, and no policy is violated. So both
    requests leave the plan unchanged."""
    parent = start_parent()
    group = parent.create(SPLIT)['id']
    for path, body, status in (('replan', {}, 200),
                               ('repair', {'apply': True}, 403)):
        answer = parent.ask('POST', f'/groups/{group}/{path}?wait=60',
                            {path: body})
        assert answer.status_code == status, answer.text
    assert parent.settled(group)['status'] == 'planned'
    assert held(clouds) == pointed(parent.members(group))
    parent.delete(group)


def test_an_update_of_a_killed_parent_is_finished_by_the_next_one(
        clouds, start_parent, point):
    first = start_parent(crash_point=f'federation.{point}')
    group = first.create(shop(member('e', 'dfw')))['id']
    document = shop(home=[member('d', 'ams')], lon=True)
    first.begin_update(group, document)
    first.process.wait_until_killed(TIMEOUT)

    second = start_parent()
    shown = second.settled(group)
    assert (shown['revision'], shown['reasons']) == (2, [])
    members = second.members(group)
    assert {path: each['cloud'] for path, each in members.items()} == {
        'home/a': 'ams', 'home/d': 'ams', 'away/b': 'dfw', 'third/c': 'lon'}
    # The new part of the killed parent is deleted, or expires.
    assert until(lambda: held(clouds), lambda found:
                 found == pointed(members)) == pointed(members)
    second.delete(group)


def test_new_parts_of_a_killed_update_expire(clouds, start_parent):
    parent = start_parent(crash_point='federation.part-created:3',
                          commit_lease=5)
    group = parent.create(shop())['id']
    before = pointed(parent.members(group))
    parent.begin_update(group, shop(lon=True))
    parent.process.wait_until_killed(TIMEOUT)
    assert until(lambda: held(clouds), lambda found: found == before) == before
    second = start_parent()
    assert second.settled(group)['revision'] == 2
    second.delete(group)

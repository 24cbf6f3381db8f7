# SPDX-License-Identifier: Apache-2.0
"""A parent of three clouds. Each cloud is a process with a real Nova and a
real Placement."""

import pytest

from tests.functional.federation.world import (
    objections, SMALL, TIMEOUT, until)

WHOLE = {'name': 'shop', 'members': [{'name': 'web', 'resources': SMALL}],
         'groups': [{
             'name': 'db',
             'policies': [{'type': 'anti-affinity', 'level': 'rack'}],
             'members': [
                 {'name': 'node', 'count': 2, 'resources': SMALL}]}]}
SPLIT = {'name': 'pair', 'policies': [
    {'type': 'anti-affinity', 'level': 'cloud'}], 'members': [
        {'name': 'node', 'count': 2, 'resources': SMALL}]}
POINTS = ('part-noted', 'part-created', 'part-written', 'part-extended',
          'members-written', 'task-taken', 'placed')
"""Crash points of a parent that places a group."""
SHORT = 4
"""Number of these points at which a short run kills the parent."""


def pytest_generate_tests(metafunc):
    if 'point' in metafunc.fixturenames:
        full = metafunc.config.getoption('effort') == 'full'
        metafunc.parametrize('point', POINTS if full else POINTS[:SHORT])


def held(clouds):
    """All holds, as ``cloud/group/path``."""
    return {f'{name}/{each}' for name, cloud in clouds.items()
            for each in cloud.report()['held']}


def pointed(members):
    """The holds that the pointers of a group name."""
    return {'/'.join((each['cloud'], *each['pointer'].values()))
            for each in members.values()}


@pytest.mark.parametrize('document, clouds_used', [(WHOLE, 1), (SPLIT, 2)])
def test_servers_are_created_at_the_places_of_their_pointers(
        clouds, start_parent, document, clouds_used):
    parent = start_parent()
    group = parent.create(document)
    assert group['status'] == 'planned', group
    members = parent.members(group['id'])
    assert len({each['cloud'] for each in members.values()}) == clouds_used
    assert held(clouds) == pointed(members)

    servers = {path: clouds[each['cloud']].create_server(each['pointer'])
               for path, each in members.items()}
    assert not objections(document, {
        path: (members[path]['cloud'], host)
        for path, (_, host) in servers.items()})
    assert held(clouds) == set()
    assert [cloud.settled_report()['differences']
            for cloud in clouds.values()] == [[], [], []]
    shown = parent.get(group['id'])
    assert (shown['status'], sum(shown['members'].values())) == (
        'building', len(members))
    assert {path: each['instance_uuid'] for path, each
            in parent.members(group['id']).items()} == {
                path: server for path, (server, _) in servers.items()}

    parent.delete(group['id'])
    for cloud in clouds.values():
        cloud.delete_servers()


def test_a_group_of_a_killed_parent_is_placed_by_the_next_one(
        clouds, start_parent, point):
    first = start_parent(crash_point=f'federation.{point}')
    group = first.begin(SPLIT)
    first.process.wait_until_killed(TIMEOUT)

    second = start_parent()
    shown = second.settled(group)
    assert shown['status'] == 'planned', shown
    members = second.members(group)
    assert {each['cloud'] for each in members.values()} <= set(clouds)
    assert len({each['cloud'] for each in members.values()}) == 2
    # The parts of the killed parent are deleted, or expire.
    assert until(lambda: held(clouds), lambda found:
                 found == pointed(members)) == pointed(members)
    second.delete(group)


def test_planned_members_are_released_in_their_clouds(clouds, start_parent):
    parent = start_parent()
    group = parent.create(SPLIT)['id']
    first = parent.members(group)['node-0']
    clouds[first['cloud']].create_server(first['pointer'])
    answer = parent.ask('POST', f'/groups/{group}/release', {'release': {}})
    assert answer.json() == {'released': ['node-1'], 'kept': ['node-0']}
    assert held(clouds) == set()
    parent.delete(group)
    clouds[first['cloud']].delete_servers()


def test_parts_of_a_killed_parent_expire(clouds, start_parent):
    parent = start_parent(
        crash_point='federation.part-created:2', commit_lease=5)
    parent.begin(SPLIT)
    parent.process.wait_until_killed(TIMEOUT)
    assert until(lambda: held(clouds), lambda found: not found) == set()

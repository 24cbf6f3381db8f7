# SPDX-License-Identifier: Apache-2.0
"""A parent that is a child of another parent."""

import pytest

from tests.functional.federation.test_federation import (
    held, pointed, SPLIT, WHOLE)
from tests.functional.federation.world import objections, SMALL
from tools.cloud.ports import free_ports


@pytest.fixture
def upper(clouds, start_parent):
    """A parent of the cloud lon and of another parent, ``eu``, which has the
    clouds ams and dfw."""
    lower = start_parent('lower', parent_id='lower', children={
        name: clouds[name].url for name in ('ams', 'dfw')})
    return start_parent('upper', parent_id='upper', order=['eu'], children={
        'eu': lower.process.url, 'lon': clouds['lon'].url})


def below(members):
    """The holds that the pointers name. The name of a cloud is the last name
    of its path."""
    return pointed({path: {**each, 'cloud': each['cloud'].rpartition('/')[2]}
                    for path, each in members.items()})


def test_a_group_is_placed_shown_built_and_deleted_below_two_parents(
        clouds, upper):
    group = upper.create(WHOLE)
    assert group['status'] == 'planned', group
    members = upper.members(group['id'])
    assert set(members) == {'web', 'db/node-0', 'db/node-1'}
    (cloud,) = {each['cloud'] for each in members.values()}
    assert cloud in ('eu/ams', 'eu/dfw')
    assert held(clouds) == below(members)

    name = cloud.removeprefix('eu/')
    servers = {path: clouds[name].create_server(each['pointer'])
               for path, each in members.items()}
    assert not objections(WHOLE, {
        path: (name, host) for path, (_, host) in servers.items()})
    assert held(clouds) == set()
    shown = upper.members(group['id'])
    assert {path: each['instance_uuid'] for path, each in shown.items()} == {
        path: server for path, (server, _) in servers.items()}
    assert upper.get(group['id'])['status'] in ('building', 'complete')

    upper.delete(group['id'])
    assert all(cloud.report()['groups'] == [] for cloud in clouds.values())
    clouds[name].delete_servers()


def test_the_answers_of_all_clouds_are_combined_in_a_plan(upper):
    def plan(document, **extras):
        answer = upper.ask('POST', '/plans?wait=60', {
            'group': document, **extras})
        assert answer.status_code == 201, answer.text
        return answer.json()['plan']

    found = plan({'name': 'one', 'members': [
        {'name': 'web', 'resources': SMALL}]}, headroom=True)
    # The clouds have 16, 16 and 4 VCPUs, and a server has 2.
    assert (found['status'], found['headroom']) == (
        'planned', {'at_least': 18, 'at_most': 18})

    found = plan({'name': 'three', 'policies': [
        {'type': 'affinity', 'level': 'cloud'},
        {'type': 'anti-affinity', 'level': 'rack'}], 'members': [
            {'name': 'web', 'count': 3, 'resources': SMALL}]},
        relaxations=True, headroom=True)
    assert (found['status'], found['headroom']) == (
        'unplaceable', {'at_least': 0, 'at_most': 0})
    closest = found['relaxations']
    assert closest['cloud'] in ('eu/ams', 'eu/dfw')
    assert [[rule['position'] for rule in each['rules']]
            for each in closest['preferences']] == [['policies[1]']]
    assert [(each['position'], each['count'])
            for each in closest['counts']] == [('members[0].count', 2)]
    assert closest['hosts']['number'] == 1


def test_a_location_names_the_clouds_of_both_levels_and_a_rack(clouds, upper):
    """The clouds have the levels az and rack."""
    document = {'name': 'pinned', 'members': [
        {'name': 'far', 'resources': SMALL, 'location': 'eu/dfw/nova/b'},
        {'name': 'near', 'resources': SMALL, 'location': 'lon'}]}
    group = upper.create(document)
    assert group['status'] == 'planned', group
    members = upper.members(group['id'])
    assert {path: each['cloud'] for path, each in members.items()} == {
        'far': 'eu/dfw', 'near': 'lon'}
    assert held(clouds) == below(members)
    _, host = clouds['dfw'].create_server(members['far']['pointer'])
    assert host == 'dfw-2'
    upper.delete(group['id'])
    assert held(clouds) == set()
    clouds['dfw'].delete_servers()


def test_a_policy_of_the_level_cloud_counts_the_children_of_the_upper_parent(
        clouds, upper):
    group = upper.create(SPLIT)
    assert group['status'] == 'planned', group
    members = upper.members(group['id'])
    assert {each['cloud'].partition('/')[0] for each in members.values()} == {
        'eu', 'lon'}
    assert held(clouds) == below(members)
    upper.delete(group['id'])
    assert held(clouds) == set()


@pytest.fixture
def cycle(clouds, start_parent):
    """The parent ``upper``: its child ``lower`` is a parent, and has the
    children ams and ``upper``."""
    (port,) = free_ports(1)
    lower = start_parent('lower', children={
        'upper': f'http://127.0.0.1:{port}', 'ams': clouds['ams'].url})
    return start_parent('upper', port=port,
                        children={'lower': lower.process.url})


def test_parents_that_are_children_of_each_other_send_nothing_in_a_cycle(
        clouds, cycle):
    group = cycle.create(WHOLE)
    assert group['status'] == 'planned', group
    members = cycle.members(group['id'])
    assert {each['cloud'] for each in members.values()} == {'lower/ams'}
    assert held(clouds) == below(members)
    cycle.delete(group['id'])
    assert held(clouds) == set()

    group = cycle.create({'name': 'turning', 'members': [{
        'name': 'a', 'resources': SMALL, 'location': 'lower/upper/lower'}]})
    assert group['status'] == 'unplaceable', group
    assert ('the parents form a cycle: parent -> parent -> parent'
            in str(group['reasons'])), group
    cycle.delete(group['id'])

# SPDX-License-Identifier: Apache-2.0
"""``openstack holistic group update``"""

import pytest

from nova_holistic.client.groups import Groups
from tests.functional.engine.world import SMALL
from tests.unit.api.service import ADMIN

PAIR = {'name': 'pair', 'members': [
    {'name': 'n', 'count': 2, 'resources': SMALL}]}
TOGETHER = {**PAIR, 'policies': [{'type': 'location', 'path': 'a'}]}
APART = {**PAIR, 'policies': [{'type': 'anti-affinity', 'level': 'rack'}]}


@pytest.fixture
def group(world):
    """Two servers in one rack."""
    group = world.create(TOGETHER)
    for path in ('n-0', 'n-1'):
        world.build(group, path)
    world.table.settle(group.uuid, world.clock())
    return group


@pytest.mark.leaves('servers that move past Placement')
def test_actions_are_listed_and_then_carried_out(
        world, group, read, written):
    body = read('group', 'update', group.uuid, '--file', written(APART),
                '--wait', user=ADMIN)
    assert body['status'] == 'degraded'
    assert [(each['action'], each['state']) for each in body['actions']] == [
        ('migrate', 'required'), ('nothing', 'done')]
    assert read('group', 'show', group.uuid, user=ADMIN)['actions'] == (
        body['actions'])
    body = read('group', 'update', group.uuid, '--apply', '--wait',
                user=ADMIN)
    assert (body['status'], body['violations']) == ('complete', [])
    assert body['actions'][0]['state'] == 'done'
    assert len({row.place.location for row
                in world.table.members(group.uuid)}) == 2


@pytest.fixture
def smaller(world):
    """Two servers in one rack. Not all further servers of the member fit."""
    group = world.create({**TOGETHER, 'members': [{
        **TOGETHER['members'][0], 'count': {'min': 2, 'desired': 5}}]})
    for path in ('n-0', 'n-1'):
        world.build(group, path)
    world.table.settle(group.uuid, world.clock())
    return group


@pytest.mark.parametrize('options', [(), ('--apply',)])
def test_an_update_succeeds_while_servers_are_missing(
        world, smaller, read, written, options):
    body = read('group', 'update', smaller.uuid, '--file',
                written(smaller.document), '--wait', *options, user=ADMIN)
    assert [count['missing'] for count in body['counts']] == [1]
    assert 'cannot be placed' in body['reasons'][0]['message']
    assert {each['action'] for each in body['actions']} == {'nothing'}


@pytest.mark.parametrize('state, options', [
    ('failed', ()), ('blocked', ()), ('required', ('--apply',))])
def test_an_unfinished_action_is_an_error_while_servers_are_missing(
        smaller, failed, written, monkeypatch, state, options):
    monkeypatch.setattr(Groups, 'actions', lambda *_: [{'state': state}])
    assert 'cannot be placed' in failed(
        'group', 'update', smaller.uuid, '--file', written(smaller.document),
        '--wait', *options, user=ADMIN)


def test_a_user_may_not_have_actions_carried_out(group, failed):
    assert 'holistic:groups:apply_actions' in failed(
        'group', 'update', group.uuid, '--apply')


def test_a_definition_is_required(group, refused):
    assert 'a definition is missing' in refused('group', 'update', group.uuid)

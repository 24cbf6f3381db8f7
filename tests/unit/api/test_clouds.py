# SPDX-License-Identifier: Apache-2.0
"""Version 1.3 shows the keys of groups, and the clouds of members."""

from nova_holistic.table.coordination.parts import GroupPart
from tests.unit.api.service import NOON, SHOP
from tests.unit.table import builders

CHILD_GROUP = '0d4f2c1e-5b7a-4c3d-9e60-1f2a3b4c5d6e'
LATEST = {'OpenStack-API-Version': 'holistic 1.3'}
BEFORE = {'OpenStack-API-Version': 'holistic 1.2'}


class NothingNew:
    """The engines of a parent whose children report no change."""

    def refresh(self, context, record):
        pass


def placed(service, state='committed'):
    """A group whose counted member is in a child of a parent."""
    group = service.created()['id']
    service.federation = NothingNew()
    service.renew()
    assert service.table.tasks.take(group, 'engine-1', NOON, NOON)
    record = service.table.get_group(group)
    service.table.write_members(group, builders.members_of(
        record, {'web': None, 'node': 2}), 'engine-1')
    assert service.table.parts.write(GroupPart(
        'p-1', group, 'dfw', 'shop', ['db/node-0', 'db/node-1'],
        state, NOON, CHILD_GROUP), 'engine-1')
    return group


def placements(service, group, headers):
    answer = service.ask('GET', f'/v1/groups/{group}/placements',
                         headers=headers)
    return {each['member']: each for each in answer.json['placements']}


def test_a_member_in_a_child_has_a_cloud_and_a_pointer(service):
    found = placements(service, placed(service), LATEST)
    assert found['db/node-1']['cloud'] == 'dfw'
    assert found['db/node-1']['pointer'] == {
        'holistic_group': CHILD_GROUP, 'holistic_member': 'db/node-1'}
    assert 'cloud' not in found['db/web']


def test_a_part_that_is_not_committed_is_not_shown(service):
    found = placements(service, placed(service, 'undoing'), LATEST)
    assert 'cloud' not in found['db/node-0']


def test_earlier_versions_do_not_show_clouds(service):
    found = placements(service, placed(service), BEFORE)
    assert not {'cloud', 'pointer'} & found['db/node-0'].keys()


def test_a_group_shows_its_key_from_that_version_on(service):
    headers = {'Idempotency-Key': 'p-1-dfw', **LATEST}
    created = service.ask('POST', '/v1/groups', {'group': SHOP},
                          headers=headers).json['group']
    assert created['idempotency_key'] == 'p-1-dfw'
    listed = service.ask('GET', '/v1/groups?name=shop', headers=LATEST)
    assert [each['idempotency_key'] for each
            in listed.json['groups']] == ['p-1-dfw']
    path = f'/v1/groups/{created["id"]}'
    assert service.ask('GET', path, headers=LATEST).json['group'][
        'idempotency_key'] == 'p-1-dfw'
    assert 'idempotency_key' not in service.ask(
        'GET', path, headers=BEFORE).json['group']

# SPDX-License-Identifier: Apache-2.0
"""The command line creates a server without a pointer, and a planned
server."""

import json

import pytest

from nova_holistic.client.client import Client
from tests.cloud.command_line import Refused
from tests.cloud.usage_accounts import assert_empty, UsageAccounts

pytestmark = pytest.mark.usefixtures('computes')

SHOP = {'group': {
    'name': 'shop', 'policies': [{'type': 'affinity', 'level': 'room'}],
    'groups': [
        {'name': 'web', 'policies': [{'type': 'anti-affinity'}],
         'members': [{'name': 'server', 'count': 2, 'flavor': 'tiny'}]},
        {'name': 'db', 'members': [{'name': 'node', 'flavor': 'small'}]}]}}

SERVER = ('server', 'create', '--flavor', 'tiny', '--image', 'nothing',
          '--no-network', '--wait')


@pytest.fixture
def shop(tmp_path):
    file = tmp_path / 'shop.json'
    file.write_text(json.dumps(SHOP))
    return file


@pytest.fixture
def group(demo):
    """The planned group of the shop."""
    client = Client(demo)
    return client.groups.wait(client.groups.create(SHOP)['id'])


def pointed(group, member):
    return ('--hint', f'holistic_group={group}',
            '--hint', f'holistic_member={member}')


def test_a_server_without_a_pointer_becomes_active(openstack):
    assert openstack(*SERVER, 'plain')['status'] == 'ACTIVE'


def test_a_server_is_created_on_its_planned_host(
        installed_openstack, openstack_admin, shop, tmp_path):
    openstack = installed_openstack
    group = openstack('holistic', 'group', 'create', '-f', shop, '--wait')
    assert (group['status'], group['members']) == ('planned', {'planned': 3})
    planned = {row['member']: row['host'] for row in openstack_admin(
        'holistic', 'member', 'list', group['id'])}
    server = openstack(*SERVER, *pointed(group['id'], 'web/server-1'), 'web')
    assert server['status'] == 'ACTIVE'
    assert openstack_admin('server', 'show', server['id'])[
        'OS-EXT-SRV-ATTR:host'] == planned['web/server-1']
    members = {row['member']: row for row in openstack(
        'holistic', 'member', 'list', 'shop')}
    assert members['web/server-1']['instance_uuid'] == server['id']
    assert 'host' not in members['web/server-1']
    picture = tmp_path / 'shop.svg'
    openstack_admin.plain('holistic', 'group', 'map', group['id'],
                          '-o', picture, '--levels', 'az,room,rack,host')
    assert planned['web/server-1'] in picture.read_text()


def test_a_member_accepts_one_server_of_its_flavor(openstack, group):
    pointer = pointed(group['id'], 'db/node')
    # The flavor of the member is small.
    with pytest.raises(Refused):
        openstack(*SERVER, *pointer, 'of-another-size')
    small = ['small' if word == 'tiny' else word for word in SERVER]
    assert openstack(*small, *pointer, 'first')['status'] == 'ACTIVE'
    with pytest.raises(Refused):
        openstack(*small, *pointer, 'second')


def test_an_unknown_member_is_refused_with_400(openstack, group):
    with pytest.raises(Refused, match='400'):
        openstack(*SERVER, *pointed(group['id'], 'web/server-2'), 'lost')
    assert openstack('server', 'list') == []


def test_release_and_delete_free_the_capacity(
        cloud, openstack, admin, group):
    released = openstack('holistic', 'group', 'release', group['id'],
                         '--member', 'web/server')
    assert {(row['member'], row['result']) for row in released} == {
        ('web/server-0', 'released'), ('web/server-1', 'released')}
    assert sum(classes['VCPU']
               for classes in UsageAccounts(admin).used().values()
               ) == 2
    openstack.plain('holistic', 'group', 'delete', group['id'])
    assert openstack('holistic', 'group', 'list') == []
    assert_empty(cloud.layout)

# SPDX-License-Identifier: Apache-2.0
"""One command creates a group of twelve servers, or of fifty servers with
``--effort=full``."""

import json
import os
import signal
import subprocess
import sys

import pytest

from nova_holistic.client.client import Client
from tests.cloud.command_line import Refused
from tests.cloud.groups import LiveGroup
from tests.cloud.servers import Servers
from tests.cloud.usage_accounts import assert_empty
from tools.cloud import catalog
from tools.cloud.initial_resources import IMAGE
from tools.cloud.waiting import wait_for

pytestmark = pytest.mark.usefixtures('computes')

PARALLEL = 20
FEW = 3
"""Number of servers in the tests that kill the command."""


@pytest.fixture
def servers(demo):
    return Servers(demo)


@pytest.fixture
def shop(tmp_path, openstack):
    """A function that writes the definition of a group to a file."""
    image = openstack('image', 'show', IMAGE)['id']

    def written(number, **request):
        member = {'flavor': 'tiny', 'server': {
            'imageRef': image, 'networks': 'none', **request}}
        file = tmp_path / 'shop.json'
        file.write_text(json.dumps({'group': {
            'name': 'shop', 'groups': [
                {'name': 'web', 'policies': [
                    {'type': 'anti-affinity', 'max_per_domain': 4}],
                 'members': [{**member, 'name': 'server',
                              'count': number - 4}]},
                {'name': 'shard', 'count': 2, 'members': [
                    {**member, 'name': 'node', 'count': 2}]}]}}))
        return file
    return written


def create(file, parallel=PARALLEL):
    return ('holistic', 'group', 'create', '--file', file, '--boot',
            '--parallel', parallel)


def one_server_each(client, servers, number):
    """Assert that each member of the only group has its server, and that no
    other servers exist. Returns the UUIDs of the servers."""
    by_id = {server['id']: server for server in servers.all()}
    assert len(by_id) == number
    assert {server['status'] for server in by_id.values()} == {'ACTIVE'}
    group, = client.groups.list()
    placements = LiveGroup(client, group).placements()
    assert {place['instance_uuid'] for place in placements.values()} == set(
        by_id)
    assert all(by_id[place['instance_uuid']]['metadata']['holistic_member']
               == path for path, place in placements.items())
    return set(by_id)


def test_one_command_creates_all_servers(
        openstack, demo, servers, shop, size):
    group = openstack(*create(shop(size.booted)))
    assert sum(group['members'].values()) == size.booted
    one_server_each(Client(demo), servers, size.booted)


def test_a_killed_command_is_continued_and_rolled_back(
        cloud, openstack, demo, servers, shop, size):
    file = shop(size.booted)
    script = os.path.join(os.path.dirname(sys.executable), 'openstack')
    command = subprocess.Popen(
        [script, *map(str, create(file, FEW))],
        env=os.environ | catalog.variables(cloud.layout, catalog.MEMBER),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for('some servers', lambda: len(servers.all()) > FEW, pause=0.1)
    command.send_signal(signal.SIGKILL)
    assert command.wait() == -signal.SIGKILL
    before = {server['id'] for server in servers.all()}
    assert len(before) < size.booted
    group = openstack(*create(file))
    assert before <= one_server_each(Client(demo), servers, size.booted)
    openstack.plain('holistic', 'group', 'rollback', group['id'],
                    '--parallel', PARALLEL)
    assert (servers.all(), list(Client(demo).groups.list())) == ([], [])
    assert_empty(cloud.layout)


def test_a_group_whose_server_is_refused_is_rolled_back(
        cloud, openstack, demo, servers, shop):
    with pytest.raises(Refused, match='Invalid key_name provided'):
        openstack(*create(shop(6, key_name='unknown')), '--rollback')
    assert (servers.all(), list(Client(demo).groups.list())) == ([], [])
    assert_empty(cloud.layout)

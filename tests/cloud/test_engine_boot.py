# SPDX-License-Identifier: Apache-2.0
"""An engine creates the servers of a group with the rights of its user."""

from collections import Counter
from datetime import timedelta
import signal

from keystoneauth1.adapter import Adapter
from oslo_utils import timeutils
import pytest

from nova_holistic.client.client import Client
from nova_holistic.table.store import PlacementTable
from tests.cloud.servers import Servers
from tools.cloud.holistic import ENGINES
from tools.cloud.initial_resources import IMAGE
from tools.cloud.waiting import wait_for

LONG = timedelta(hours=1)
"""Age of a heartbeat whose engine counts as failed."""
ENDED = ('complete', 'failed', 'rolled-back', 'stopped')
TOGETHER = 300
"""Timeout for all servers in seconds, on a machine that may be slow."""


@pytest.fixture
def table(cloud):
    """The placement table of all engines."""
    table = PlacementTable(cloud.layout.database('holistic'))
    yield table
    table.database.close()


@pytest.fixture
def image(demo):
    return Adapter(demo, service_type='image').get(
        f'/v2/images?name={IMAGE}').json()['images'][0]['id']


@pytest.fixture
def client(demo):
    return Client(demo, microversion='1.2')


@pytest.fixture
def node(image):
    """A function that returns the description of counted members."""
    def described(name, count, server=()):
        return {'name': name, 'count': count, 'flavor': 'tiny', 'server': {
            'imageRef': image, 'networks': 'none', **dict(server)}}
    return described


def create(client, *members, **boot):
    """Request a group and all its servers."""
    return client.request('POST', '/groups', body={
        'group': {'name': 'shop', 'members': list(members)},
        'boot': boot})['group']['id']


def shown(client, group):
    return client.groups.get(group)['boot']


def ended(client, group):
    """The API's document of a boot that has ended."""
    wait_for(f'servers of group {group}',
             lambda: shown(client, group)['status'] in ENDED, TOGETHER, 1)
    return shown(client, group)


def trusts(session):
    """The trusts of the user of a session."""
    keystone = Adapter(session, service_type='identity', min_version='3',
                       max_version='3.latest')
    return keystone.get('/OS-TRUST/trusts?trustor_user_id='
                        + session.get_user_id()).json()['trusts']


def wait_for_deletion(session):
    """Wait until the user has no trust. An engine deletes the trust after the
    boot has ended."""
    wait_for('no trust', lambda: trusts(session) == [], pause=0.5)


def test_one_request_creates_servers_of_the_user(client, demo, node):
    group = create(client, node('web', 4, {'name': '{group}-{index}'}),
                   node('db', 2))
    boot = ended(client, group)
    assert (boot['status'], boot['reasons']) == ('complete', [])
    assert Counter(each['state'] for each in boot['servers']) == {
        'active': 6}
    servers = {each['id']: each for each in Servers(demo).all()}
    assert {each['server_id'] for each in boot['servers']} == set(servers)
    assert {(each['user_id'], each['tenant_id'])
            for each in servers.values()} == {
                (demo.get_user_id(), demo.get_project_id())}
    assert {each['name'] for each in servers.values()} == {
        *(f'shop-{number}' for number in range(4)),
        *(f'shop-db-{number}' for number in range(2))}
    places = {each['member']: each for each
              in client.groups.placements(group)}
    assert {each['member']: each['server_id'] for each in boot['servers']} == {
        member: place['instance_uuid'] for member, place in places.items()}
    wait_for_deletion(demo)


def test_another_engine_continues_and_creates_nothing_twice(
        cloud, client, demo, node, table):
    group = create(client, node('web', 4))

    def begun():
        boot = table.boots.get(group)
        return boot.engine and any(
            row.server_uuid for row in table.boots.servers(group))

    wait_for('a server', begun, pause=0.02)
    boot = table.boots.get(group)
    victim = next(each for each in ENGINES
                  if boot.engine.startswith(f'{each}:'))
    cloud.processes.send(victim, signal.SIGKILL)
    # Otherwise the other engine would wait until the heartbeat is old.
    table.boots.write_heartbeat(
        [group], boot.engine, timeutils.utcnow() - LONG)
    final = ended(client, group)
    assert final['status'] == 'complete'
    servers = Servers(demo).all()
    assert sorted(each['id'] for each in servers) == sorted(
        each['server_id'] for each in final['servers'])
    assert len(servers) == 4
    wait_for_deletion(demo)


def test_a_server_that_cannot_be_built_rolls_everything_back(
        client, demo, node):
    group = create(
        client, node('web', 2), node('bad', 1, {'key_name': 'missing'}),
        rollback=True)
    boot = ended(client, group)
    assert boot['status'] == 'rolled-back'
    assert [each['at'] for each in boot['reasons']] == ['bad-0']
    assert 'key_name' in boot['reasons'][0]['message']
    assert Servers(demo).all() == []
    # If a server was deleted before Nova placed it, the reconciler frees its
    # place after the grace period.
    wait_for('the release', lambda: {
        place['state'] for place in client.groups.placements(group)
    } <= {'released', 'claimed'}, pause=1)
    wait_for_deletion(demo)


def test_a_deleted_trust_is_reported(client, demo, node, cloud, table):
    keystone = Adapter(demo, service_type='identity', min_version='3',
                       max_version='3.latest')
    for engine in ENGINES:
        cloud.processes.send(engine, signal.SIGSTOP)
    try:
        group = create(client, node('web', 2))
        (trust,) = trusts(demo)
        assert trust['impersonation'] and trust['expires_at']
        keystone.delete(f'/OS-TRUST/trusts/{trust["id"]}')
    finally:
        for engine in ENGINES:
            cloud.processes.send(engine, signal.SIGCONT)
    boot = ended(client, group)
    assert boot['status'] == 'failed'
    assert 'no longer act for the user' in boot['reasons'][0]['message']
    assert {each['state'] for each in boot['servers']} == {'failed'}
    assert Servers(demo).all() == []

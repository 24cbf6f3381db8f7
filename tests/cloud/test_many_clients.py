# SPDX-License-Identifier: Apache-2.0
"""Several clients create groups of ten members on two engines, while stock
servers are created and deleted."""

from collections import Counter
from concurrent import futures
import json

import pytest

from nova_holistic.client.client import Client
from tests.cloud.groups import broken, LiveGroup
from tests.cloud.servers import Servers
from tests.cloud.usage_accounts import expected, UsageAccounts

pytestmark = pytest.mark.usefixtures('computes')

STOCK_CLIENTS = 2
ABSENT = ('app/server-5',)
"""Paths of the members without a server. Their holds remain."""

HOST_APART = {'type': 'anti-affinity', 'level': 'host'}
RACK_SHARE = {'type': 'anti-affinity', 'level': 'rack', 'max_per_domain': 2}
ONE_ROOM = {'type': 'affinity', 'level': 'room'}
SPREAD_RACKS = {'type': 'spread', 'level': 'rack', 'max_skew': 1}
SHAPES = (
    {'app': [HOST_APART], 'db': [HOST_APART, RACK_SHARE]},
    {'': [ONE_ROOM], 'app': [SPREAD_RACKS], 'db': [HOST_APART]},
    {'': [HOST_APART, RACK_SHARE]},
    {'app': [{'type': 'affinity', 'level': 'rack'}, HOST_APART | {
        'max_per_domain': 2}], 'db': [ONE_ROOM, HOST_APART]})
"""Policies of the group and of its two nested groups, in turn."""


def definition(number):
    """A group with six members of the flavor tiny and four of the flavor
    small."""
    policies = SHAPES[number % len(SHAPES)]
    return {'group': {
        'name': f'g{number:02}', 'policies': policies.get('', []),
        'groups': [
            {'name': 'app', 'policies': policies.get('app', []),
             'members': [{'name': 'server', 'count': 6, 'flavor': 'tiny'}]},
            {'name': 'db', 'policies': policies.get('db', []),
             'members': [{'name': 'node', 'count': 4, 'flavor': 'small'}]}]}}


@pytest.fixture
def clients(size):
    with futures.ThreadPoolExecutor(size.clients + STOCK_CLIENTS) as pool:
        yield pool


def create_groups(openstack, numbers, folder):
    """Create the groups of one client."""
    commands = []
    for number in numbers:
        file = folder / f'{number}.json'
        file.write_text(json.dumps(definition(number)))
        commands.append(('holistic', 'group', 'create', '-f', file, '--wait'))
    return openstack.script(commands)


def create_servers(openstack, groups):
    """Create a server for each member that is not in ``ABSENT``."""
    openstack.script([
        ('server', 'create', '--image', 'nothing', '--no-network',
         '--flavor', 'small' if path.startswith('db') else 'tiny',
         '--hint', f'holistic_group={group.id}',
         '--hint', f'holistic_member={path}', server_name(group, path))
        for group in groups for path in group.placements()
        if path not in ABSENT])


def server_name(group, path):
    return f'{group.name}-{path.replace("/", "-")}'


def come_and_go(servers, client, size):
    """Create and delete batches of stock servers; the last batch stays."""
    batches = size.stock // size.batch
    for number in range(batches):
        name = f'stock-{client}-{number}-'
        servers.create(name, count=size.batch)
        created = servers.settled(name).values()
        assert {server['status'] for server in created} == {'ACTIVE'}
        if number < batches - 1:
            servers.delete(name)


def test_groups_keep_their_plans_and_policies_under_load(
        openstack, demo, admin, clients, size, tmp_path):
    stock = [clients.submit(come_and_go, Servers(demo), number, size)
             for number in range(STOCK_CLIENTS)]
    creates = [clients.submit(create_groups, openstack,
                              range(number, size.groups, size.clients),
                              tmp_path)
               for number in range(size.clients)]
    client = Client(admin)
    shares = [[LiveGroup(client, record) for record in share.result()]
              for share in creates]
    groups = [group for share in shares for group in share]
    assert Counter(group.shown['status'] for group in groups) == {
        'planned': size.groups}
    planned = {group.id: group.placements() for group in groups}
    for future in [clients.submit(create_servers, openstack, share)
                   for share in shares]:
        future.result()
    for future in stock:
        future.result()
    Servers(demo).settled('g')
    servers = Servers(admin, everybody=True).all()
    assert {server['status'] for server in servers} == {'ACTIVE'}
    where = {server['name']: server['OS-EXT-SRV-ATTR:host']
             for server in servers}
    held = violations_of(
        groups, planned, where, UsageAccounts(admin).snapshot())
    assert UsageAccounts(admin).used() == expected(servers, held)


def violations_of(groups, planned, where, snapshot):
    """Assert that no group violates a policy, and that all servers are on
    their planned hosts. Returns the host and the resources of each member
    without a server.
    """
    held = []
    for group in groups:
        hosts = {path: place['host']
                 for path, place in planned[group.id].items()}
        for path, host in hosts.items():
            if path in ABSENT:
                held.append((host, {
                    'VCPU': 1, 'MEMORY_MB': 512, 'DISK_GB': 1}))
            else:
                assert where[server_name(group, path)] == host
        assert not broken(group.definition(), snapshot, hosts)
    return held

# SPDX-License-Identifier: Apache-2.0
"""A group with every policy and relationship is built and moved."""

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.policies import load_policy_types
from nova_holistic.solver.check import check
from nova_holistic.table.records import GroupStatus

NVME = 'CUSTOM_NVME'
FEEDS = {1: 'A', 2: 'B', 3: 'A'}

HOSTS = tuple(
    EmbeddedHost(f'{zone}-r{rack}-{number}', zone=zone, rack=f'r{rack}',
                 vcpus=8, traits=(NVME,) if number != 2 else (),
                 labels={'power_feed': FEEDS[number],
                         'disk': 'ssd' if number != 2 else 'hdd'})
    for zone in ('az1', 'az2') for rack in (1, 2, 3) for number in (1, 2, 3))

EVERYTHING = {
    'name': 'shop',
    'policies': [{'type': 'affinity', 'level': 'az'},
                 {'type': 'location', 'path': 'az1'},
                 {'type': 'availability_zone', 'availability_zone': 'az1'}],
    'groups': [
        {'name': 'web',
         'members': [{'name': 'server', 'flavor': 'small', 'count': 3}],
         'policies': [{'type': 'anti-affinity', 'level': 'host'},
                      {'type': 'spread', 'level': 'rack', 'max_skew': 1,
                       'min_domains': 2}]},
        {'name': 'db',
         'policies': [{'type': 'exclusive', 'level': 'host'},
                      {'type': 'traits', 'required': [NVME]},
                      {'type': 'aggregates', 'aggregates': ['az1-disk-ssd']}],
         'members': [{'name': 'node', 'flavor': 'small', 'count': 2}],
         'groups': [{
             'name': 'log',
             'members': [{'name': 'disk', 'flavor': 'small'}],
             'policies': [{'type': 'affinity', 'level': 'power_feed'}]}]},
        {'name': 'cache',
         'members': [{'name': 'node', 'flavor': 'small', 'count': 2}],
         'policies': [{'type': 'soft-anti-affinity', 'level': 'host'},
                      {'type': 'soft-affinity', 'level': 'rack'}]}],
    'relationships': [
        {'type': 'affinity', 'level': 'rack',
         'between': ['cache', 'web/server-0'], 'weight': 5},
        {'type': 'affinity', 'level': 'az', 'between': ['web', 'db']},
        {'type': 'anti-affinity', 'level': 'host', 'between': ['web', 'db']},
        {'type': 'bandwidth', 'mbps': 200, 'level': 'rack',
         'between': ['web', 'db']}]}


@pytest.fixture(scope='module')
def cloud(lend_cloud):
    options = {('topology', 'labels'): ['power_feed']}
    with lend_cloud(HOSTS, options=options) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        yield cloud


@pytest.fixture(scope='module')
def shop(cloud):
    """The group's UUID, and its servers by member path, all ACTIVE."""
    record = cloud.planner.create(
        EVERYTHING, project_id=PROJECT, user_id=USER)
    assert record.status == GroupStatus.PLANNED, record.reasons
    servers = {m.member.path: cloud.create_server(
        m.member.path.replace('/', '-'), 'small',
        {'group': record.uuid, 'member': m.member.path})
        for m in cloud.table.members(record.uuid)}
    for server in servers.values():
        cloud.wait_for_status(server, 'ACTIVE')
    return record.uuid, servers


def broken(cloud, servers):
    """The violations of the servers on their hosts in Nova."""
    found = {path: cloud.host_of(server) for path, server in servers.items()}
    return check(parse_group(EVERYTHING, load_policy_types()),
                 cloud.inventory.snapshot(), found, found)


def test_the_test_group_uses_every_policy_type():
    types = load_policy_types()
    groups, policies, relationships = [EVERYTHING], set(), set()
    while groups:
        group = groups.pop()
        groups += group.get('groups', ())
        policies |= {rule['type'] for rule in group.get('policies', ())}
        relationships |= {
            rule['type'] for rule in group.get('relationships', ())}
    assert policies == set(types.policies)
    assert relationships == set(types.relationships)


def test_servers_are_on_planned_hosts_and_satisfy_all_policies(
        cloud, shop):
    group, servers = shop
    assert {path: cloud.host_of(server)
            for path, server in servers.items()} == {
        m.member.path: m.place.host for m in cloud.table.members(group)}
    assert broken(cloud, servers) == ()


@pytest.mark.parametrize('path', ['web/server-0', 'db/node-0', 'cache/node-1'])
def test_policies_hold_after_a_live_migration(cloud, shop, path):
    _, servers = shop
    before = cloud.host_of(servers[path])
    assert cloud.live_migrate(servers[path]) != before
    assert broken(cloud, servers) == ()


def test_policies_hold_after_a_failed_host_was_evacuated(cloud, shop):
    group, servers = shop
    dead = cloud.host_of(servers['db/node-1'])
    lost = [path for path in servers
            if cloud.host_of(servers[path]) == dead]
    cloud.stop_compute(dead)
    try:
        for path in lost:
            assert cloud.evacuate(servers[path]) != dead
        assert broken(cloud, servers) == ()
    finally:
        cloud.start_compute(dead)
    cloud.reconciler.reconcile()
    assert {m.member.path: m.place.host for m in cloud.table.members(group)
            } == {path: cloud.host_of(server)
                  for path, server in servers.items()}


def test_a_foreign_server_is_refused_on_exclusive_hosts(
        cloud, shop):
    _, servers = shop
    closed = {cloud.host_of(server) for path, server in servers.items()
              if path.startswith('db/')}
    for host in HOSTS:
        if host.name not in closed:
            cloud.disable_compute(host.name)
    other_server = cloud.create_server('other-server', 'small')
    try:
        fault = cloud.wait_for_status(other_server, 'ERROR')['fault']
        assert 'No valid host' in fault['message']
    finally:
        for host in HOSTS:
            cloud.enable_compute(host.name)


def test_a_migration_that_any_policy_forbids_is_refused(cloud, shop):
    """Hosts of the other zone, and those without the trait, stay empty."""
    _, servers = shop
    allowed = {host.name for host in HOSTS
               if host.zone == 'az1' and NVME in host.traits}
    for host in allowed:
        cloud.disable_compute(host)
    before = cloud.host_of(servers['db/node-0'])
    try:
        with pytest.raises(Exception, match='live-migration'):
            cloud.live_migrate(servers['db/node-0'])
    finally:
        for host in allowed:
            cloud.enable_compute(host)
    assert cloud.host_of(servers['db/node-0']) == before

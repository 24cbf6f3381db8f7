# SPDX-License-Identifier: Apache-2.0
"""One create of many servers claims the free servers of a counted member."""

import collections
import uuid

import pytest

from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.table.records import MemberState

HOSTS = tuple(EmbeddedHost(f'cmp-{number}', zone='az1', rack=f'r{number}')
              for number in range(3))
SMALL = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10}
CLUSTER = {'name': 'cluster', 'groups': [{'name': 'db', 'members': [
    {'name': 'node', 'flavor': 'small', 'count': 4}]}]}
PLAN = {'db/node-0': 'cmp-0', 'db/node-1': 'cmp-1', 'db/node-2': 'cmp-2',
        'db/node-3': 'cmp-2'}


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS, options={
            ('holistic', 'search_time_limit'): 0}) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        yield cloud


def create(cloud, group, member, count):
    """Create several servers with one request; returns the number of servers
    on each host."""
    cloud.create_server('node', 'small', {'group': group, 'member': member},
                        min_count=count)
    servers = [server['id'] for server in cloud.servers()]
    for server in servers:
        cloud.wait_for_status(server, 'ACTIVE')
    return collections.Counter(map(cloud.host_of, servers))


def test_one_create_can_claim_every_free_server(cloud):
    group = cloud.plan(CLUSTER, PLAN, resources=SMALL)
    assert create(cloud, group, 'db/node', 4) == {
        'cmp-0': 1, 'cmp-1': 1, 'cmp-2': 2}
    rows = cloud.table.members(group)
    assert {row.state for row in rows} == {MemberState.CLAIMED}
    assert ({row.instance_uuid for row in rows}
            == {server['id'] for server in cloud.servers()})


def test_a_smaller_create_claims_the_first_servers(cloud):
    group = cloud.plan(CLUSTER, PLAN, resources=SMALL)
    assert create(cloud, group, 'db/node', 2) == {'cmp-0': 1, 'cmp-1': 1}
    assert [row.state for row in cloud.table.members(group)] == [
        MemberState.CLAIMED, MemberState.CLAIMED, MemberState.PLANNED,
        MemberState.PLANNED]


def test_single_creates_claim_the_servers_in_order(cloud):
    group = cloud.plan(CLUSTER, PLAN, resources=SMALL)
    for host in ('cmp-0', 'cmp-1'):
        server = cloud.create_server(
            'node', 'small', {'group': group, 'member': 'db/node'})
        cloud.wait_for_status(server, 'ACTIVE')
        assert cloud.host_of(server) == host


@pytest.mark.parametrize('count, hosts', [
    (3, {'cmp-0': 1, 'cmp-1': 1, 'cmp-2': 1}), (4, None)])
def test_filters_see_the_servers_that_the_create_has_placed_before(
        cloud, count, hosts):
    """The fourth server would be the second one on its host."""
    host_manager = cloud.controllers.scheduler.manager.host_manager
    before = host_manager.enabled_filters
    cloud.conf.set_override('max_instances_per_host', 1, 'filter_scheduler')
    host_manager.enabled_filters = [
        *before, host_manager.filter_cls_map['NumInstancesFilter']()]
    try:
        group = cloud.plan(CLUSTER, PLAN, resources=SMALL)
        if hosts is not None:
            assert create(cloud, group, 'db/node', count) == hosts
            return
        cloud.create_server('node', 'small', {
            'group': group, 'member': 'db/node'}, min_count=count)
        for server in cloud.servers():
            assert "rejected by Nova's filters" in cloud.fault_of(server['id'])
    finally:
        host_manager.enabled_filters = before
        cloud.conf.clear_override('max_instances_per_host', 'filter_scheduler')


@pytest.mark.parametrize('member, count', [('db/node', 5), ('db/node-1', 2)])
def test_a_create_of_more_servers_than_free_claims_none(cloud, member, count):
    group = cloud.plan(CLUSTER, PLAN, resources=SMALL)
    before = cloud.used()
    cloud.create_server('node', 'small', {'group': group, 'member': member},
                        min_count=count)
    servers = [server['id'] for server in cloud.servers()]
    assert len(servers) == count
    for server in servers:
        assert 'is taken' in cloud.fault_of(server)
    rows = cloud.table.members(group)
    assert {row.state for row in rows} == {MemberState.PLANNED}
    assert {row.instance_uuid for row in rows} == {None}
    assert cloud.used() == before
    assert all(cloud.holds.exists(row.hold) for row in rows)


def test_one_disabled_host_refuses_the_whole_create(cloud):
    group = cloud.plan(CLUSTER, PLAN, resources=SMALL, alternates=0)
    cloud.disable_compute('cmp-2')
    try:
        cloud.create_server(
            'node', 'small', {'group': group, 'member': 'db/node'},
            min_count=3)
        for server in cloud.servers():
            assert 'its planned host is disabled' in cloud.fault_of(
                server['id'])
    finally:
        cloud.enable_compute('cmp-2')
    assert cloud.used() == {'cmp-0': SMALL, 'cmp-1': SMALL, 'cmp-2': SMALL}
    # The request included one of the two members on that host.
    assert [row.state for row in cloud.table.members(group)] == [
        MemberState.PLANNED, MemberState.PLANNED, MemberState.LOST,
        MemberState.PLANNED]


def test_one_unusable_host_among_them_is_replaced(cloud):
    group = cloud.plan(CLUSTER, PLAN, resources=SMALL)
    cloud.disable_compute('cmp-2')
    try:
        assert create(cloud, group, 'db/node', 4) == {'cmp-0': 3, 'cmp-1': 1}
    finally:
        cloud.enable_compute('cmp-2')
    assert collections.Counter(
        row.place.host for row in cloud.table.members(group)) == {
            'cmp-0': 3, 'cmp-1': 1}


def test_one_missing_hold_refuses_the_create_and_loses_one_member(cloud):
    group = cloud.plan(CLUSTER, PLAN, resources=SMALL)
    cloud.delete_consumer(cloud.row(group, 'db/node-2').hold)
    before = cloud.used()
    cloud.create_server('node', 'small', {'group': group, 'member': 'db/node'},
                        min_count=4)
    for server in cloud.servers():
        assert "the hold of member 'db/node-2'" in cloud.fault_of(server['id'])
    assert [row.state for row in cloud.table.members(group)] == [
        MemberState.PLANNED, MemberState.PLANNED, MemberState.LOST,
        MemberState.PLANNED]
    assert cloud.used() == before


def test_no_server_has_the_planned_host_of_another_as_an_alternate(cloud):
    """Both servers are of one create, and either build may fail."""
    group = cloud.plan(CLUSTER, PLAN, resources=SMALL)
    instances = [str(uuid.uuid4()) for _ in range(2)]
    spec = cloud.request_spec(
        'small', {'group': group, 'member': 'db/node'}, instances[0])
    spec.num_instances = len(instances)
    answers = cloud.select_destinations(spec, instances)
    assert [[selection.service_host for selection in answer]
            for answer in answers] == [['cmp-0', 'cmp-2'], ['cmp-1', 'cmp-2']]
    for instance in instances:
        cloud.delete_consumer(instance)

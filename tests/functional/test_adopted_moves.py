# SPDX-License-Identifier: Apache-2.0
"""Servers that a group has adopted keep its policies when they move, and
servers that were detached ignore its policies."""

import pytest

from nova_holistic.embedded.calls.servers import ADMIN, PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.service.direct_engine import DirectEngine, PlanningParts
from nova_holistic.table.changes import detaching
from nova_holistic.table.changes.detaching import Detached
from nova_holistic.table.records import GroupStatus, MemberState
from tests.unit.api.service import Service, Token

HOSTS = tuple(
    EmbeddedHost(f'{rack}-{number}', zone='az1', rack=rack)
    for rack in ('r1', 'r2', 'r3') for number in (1, 2))
PAIR = {
    'name': 'pair',
    'policies': [{'type': 'anti-affinity', 'level': 'rack'}],
    'members': [{'name': 'a', 'flavor': 'small'},
                {'name': 'b', 'flavor': 'small'}],
}
OWNER = Token(USER, PROJECT)
VERSION = {'OpenStack-API-Version': 'holistic 1.1'}


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        cloud.create_flavor('large', 4, 4096, 10)
        yield cloud


@pytest.fixture
def ask(cloud):
    service = Service(cloud.table, DirectEngine(
        cloud.conf, cloud.clock, PlanningParts(
            cloud.table, cloud.inventory, cloud.planner, cloud.lifecycle)))

    def ask(method, path, body):
        return service.ask(method, f'/v1/groups{path}', body, OWNER,
                           headers=VERSION).json['group']

    return ask


def a_server(cloud, name, host):
    server = cloud.create_server(name, 'small', host=host, user=ADMIN)
    cloud.wait_for_status(server, 'ACTIVE')
    return server


def leave(cloud, *names):
    """Enable only these hosts. Nova itself would choose the first of them."""
    for host in HOSTS:
        if host.name not in names:
            cloud.disable_compute(host.name)
    other_server = cloud.create_server(
        'other-server', 'large', host=names[-1], user=ADMIN)
    cloud.wait_for_status(other_server, 'ACTIVE')


@pytest.fixture
def adopted(cloud, ask):
    """A group of two servers that were created without the group."""
    servers = {'a': a_server(cloud, 'a', 'r1-1'),
               'b': a_server(cloud, 'b', 'r2-1')}
    group = ask('POST', '?wait=60', {'group': {**PAIR, 'adopt': servers}})
    assert group['status'] == GroupStatus.COMPLETE
    return group['id'], servers


@pytest.mark.parametrize('move', ['live_migrate', 'migrate'])
def test_an_adopted_server_moves_as_the_policies_require(cloud, adopted, move):
    group, servers = adopted
    leave(cloud, 'r2-2', 'r3-2')
    assert getattr(cloud, move)(servers['a']) == 'r3-2'
    cloud.reconciler.reconcile()
    row = cloud.row(group, 'a')
    assert (row.state, row.place.host) == (MemberState.BUILT, 'r3-2')
    assert cloud.table.get_group(group).status == GroupStatus.COMPLETE


def test_a_detached_server_moves_as_nova_likes(cloud, adopted, ask):
    group, servers = adopted
    ask('POST', f'/{group}/detach', {'detach': {'member': 'a'}})
    leave(cloud, 'r2-2', 'r3-2')
    assert cloud.live_migrate(servers['a']) == 'r2-2'


def test_the_pointer_of_a_detached_server_has_no_effect(cloud, ask):
    """Its member is free, and the server still has its pointer."""
    plan = cloud.plan(PAIR, {'a': 'r1-1', 'b': 'r2-1'}, resources={
        'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10})
    servers = {name: cloud.create_server(
        name, 'small', {'group': plan, 'member': name}) for name in 'ab'}
    for server in servers.values():
        cloud.wait_for_status(server, 'ACTIVE')
    cloud.reconciler.reconcile()
    assert detaching.detach(cloud.table.database, plan, 'a',
                            cloud.clock()) == Detached.DONE
    leave(cloud, 'r2-2', 'r3-2')
    assert cloud.live_migrate(servers['a']) == 'r2-2'
    assert cloud.row(plan, 'a').instance_uuid is None


def test_a_server_that_leaves_a_group_follows_the_next_one(cloud, ask):
    servers = {'a': a_server(cloud, 'a', 'r1-1'),
               'b': a_server(cloud, 'b', 'r2-1')}
    first = ask('POST', '?wait=60', {'group': {
        'name': 'first', 'members': [{'name': 'a', 'flavor': 'small'}],
        'adopt': {'a': servers['a']}}})['id']
    ask('POST', f'/{first}/detach', {'detach': {'member': 'a'}})
    second = ask('POST', '?wait=60', {'group': {**PAIR, 'adopt': servers}})
    assert second['status'] == GroupStatus.COMPLETE
    leave(cloud, 'r2-2', 'r3-2')
    assert cloud.migrate(servers['a']) == 'r3-2'


def test_a_server_that_is_being_moved_is_not_adopted(cloud, ask):
    server = a_server(cloud, 'a', 'r1-1')
    cloud.act(server, 'migrate')
    cloud.wait_for_status(server, 'VERIFY_RESIZE')
    group = ask('POST', '?wait=60', {'group': {**PAIR, 'adopt': {
        'a': server}}})
    assert group['status'] == GroupStatus.ERROR
    assert 'when its move has ended' in group['reasons'][0]['message']
    cloud.act(server, 'confirmResize')
    cloud.wait_for_status(server, 'ACTIVE')
    group = ask('POST', f'/{group["id"]}/replan?wait=60', {'replan': {}})
    assert group['members'] == {'built': 1, 'planned': 1}
    assert (group['status'], group['task']) == ('building', None)


def test_a_deleted_server_of_a_group_frees_its_member(cloud, adopted):
    group, servers = adopted
    cloud.delete_server(servers['a'])
    cloud.reconciler.reconcile()
    row = cloud.row(group, 'a')
    assert (row.state, row.instance_uuid) == (MemberState.PLANNED, None)
    assert sorted(cloud.holds.consumers(row.place.provider)) == [row.hold]

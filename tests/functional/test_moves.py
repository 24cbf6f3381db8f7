# SPDX-License-Identifier: Apache-2.0
"""A member that moves satisfies its group's policies, and is not moved
back."""

import threading
import uuid

import pytest

from nova_holistic.embedded.calls.servers import ADMIN, IMAGE, PROJECT, USER
from nova_holistic.embedded.waiting import wait_for
from nova_holistic.table.records import GroupStatus, MemberState
from tests.functional.pair_in_racks import HOSTS, PAIR, PLAN, SMALL


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        cloud.create_flavor('large', 4, 4096, 10)
        yield cloud


@pytest.fixture
def pair(cloud):
    """A group with servers of two members in two racks."""
    group = cloud.plan(PAIR, PLAN, resources=SMALL)
    servers = {name: cloud.create_server(
        name, 'small', {'group': group, 'member': name}) for name in PLAN}
    for name, server in servers.items():
        assert cloud.wait_for_status(server, 'ACTIVE')
        assert cloud.host_of(server) == PLAN[name]
    return group, servers


def only(cloud, *names):
    """Leave only these hosts for servers that move."""
    for host in HOSTS:
        if host.name not in names:
            cloud.disable_compute(host.name)


def attract(cloud, host, rather_than):
    """Enable only two hosts. Nova itself would choose the first one."""
    only(cloud, host, rather_than)
    other_server = cloud.create_server(
        'other-server', 'large', host=rather_than, user=ADMIN)
    cloud.wait_for_status(other_server, 'ACTIVE')


@pytest.mark.parametrize('move', ['live_migrate', 'migrate', 'resize'])
def test_a_move_ends_in_a_rack_without_another_member(cloud, pair, move):
    group, servers = pair
    attract(cloud, 'r2-2', rather_than='r3-2')
    arguments = ('large',) if move == 'resize' else ()
    assert getattr(cloud, move)(servers['a'], *arguments) == 'r3-2'
    assert cloud.row(group, 'a').state == MemberState.BUILT


@pytest.mark.parametrize('action, arguments', [
    ('os-migrateLive', {'host': None, 'block_migration': 'auto'}),
    ('migrate', {}),
])
def test_a_move_that_would_break_the_policy_is_refused(
        cloud, pair, action, arguments):
    _, servers = pair
    only(cloud, 'r2-2')
    cloud.act(servers['a'], action, **arguments)
    wait_for(lambda: failed_action(cloud, servers['a']), 'the refusal')
    assert cloud.wait_for_status(
        servers['a'], 'ACTIVE')['OS-EXT-SRV-ATTR:host'] == 'r1-1'


def failed_action(cloud, server):
    """The latest action of a server after it has failed."""
    return cloud.compute.get(f'/servers/{server}/os-instance-actions').json()[
        'instanceActions'][0]['message']


def test_a_group_created_again_is_checked_by_its_new_document(cloud):
    """The new group has the UUID of a deleted group that the scheduler has
    read."""
    group = str(uuid.uuid4())
    for policies in [], PAIR['policies']:
        cloud.clear()
        record = cloud.planner.create(
            {**PAIR, 'policies': policies}, uuid=group, project_id=PROJECT,
            user_id=USER)
        assert (record.status, record.revision) == (GroupStatus.PLANNED, 1)
        servers = {name: cloud.create_server(
            name, 'small', {'group': group, 'member': name}) for name in PLAN}
        for server in servers.values():
            cloud.wait_for_status(server, 'ACTIVE')
    source = cloud.host_of(servers['a'])
    only(cloud, cloud.host_of(servers['b']))
    cloud.act(servers['a'], 'os-migrateLive', host=None,
              block_migration='auto')
    wait_for(lambda: failed_action(cloud, servers['a']), 'the refusal')
    assert cloud.host_of(servers['a']) == source


def test_a_second_move_does_not_prefer_the_planned_host(cloud, pair):
    _, servers = pair
    only(cloud, 'r3-1')
    assert cloud.live_migrate(servers['a']) == 'r3-1'
    cloud.enable_computes()
    only(cloud, 'r3-1', 'r3-2')
    assert cloud.live_migrate(servers['a']) == 'r3-2'


def test_other_members_count_on_their_current_hosts(
        cloud, pair):
    _, servers = pair
    only(cloud, 'r3-1')
    assert cloud.live_migrate(servers['b']) == 'r3-1'
    cloud.enable_computes()
    # Member a may move to the former rack of b, but not to its current rack.
    only(cloud, 'r2-2', 'r3-2')
    assert cloud.live_migrate(servers['a']) == 'r2-2'


def test_evacuation_keeps_the_policy(cloud, pair):
    _, servers = pair
    cloud.stop_compute('r1-1')
    attract(cloud, 'r2-2', rather_than='r3-2')
    try:
        assert cloud.evacuate(servers['a']) == 'r3-2'
    finally:
        cloud.start_compute('r1-1')


def test_unshelving_keeps_the_policy(cloud, pair):
    _, servers = pair
    cloud.shelve(servers['a'])
    attract(cloud, 'r2-2', rather_than='r3-2')
    assert cloud.unshelve(servers['a']) == 'r3-2'


def test_a_rebuild_keeps_its_host(cloud, pair):
    _, servers = pair
    cloud.compute.post(f'/servers/{servers["a"]}/action', json={
        'rebuild': {'imageRef': '70a599e0-31e7-49b7-b260-868f441e862b'}})
    cloud.wait_for_status(servers['a'], 'ACTIVE')
    found = cloud.get_server(servers['a'])
    assert found['OS-EXT-SRV-ATTR:host'] == 'r1-1'
    assert found['image']['id'] != IMAGE


def test_a_preference_is_weighed_and_not_enforced(cloud):
    document = {**PAIR, 'policies': [
        {'type': 'anti-affinity', 'level': 'rack', 'weight': 1}]}
    group = cloud.plan(document, PLAN, resources=SMALL)
    servers = {name: cloud.create_server(
        name, 'small', {'group': group, 'member': name}) for name in PLAN}
    for server in servers.values():
        cloud.wait_for_status(server, 'ACTIVE')
    attract(cloud, 'r2-2', rather_than='r3-2')
    assert cloud.live_migrate(servers['a']) == 'r3-2'
    only(cloud, 'r2-2')
    assert cloud.live_migrate(servers['a']) == 'r2-2'


def test_two_members_moving_at_once_cannot_choose_the_same_rack(
        cloud, pair, monkeypatch):
    _, servers = pair
    let_go = slow_live_migration(cloud, monkeypatch, 'r1-1')
    only(cloud, 'r3-1')
    try:
        cloud.act(servers['a'], 'os-migrateLive', host=None,
                  block_migration='auto')
        wait_for(lambda: destination(cloud, servers['a']),
                 'the first to be on its way')
        # Nova still reports the source, but the rack of the destination is in
        # use.
        assert cloud.host_of(servers['a']) == 'r1-1'
        cloud.enable_compute('r3-2')
        cloud.act(servers['b'], 'os-migrateLive', host=None,
                  block_migration='auto')
        wait_for(lambda: failed_action(cloud, servers['b']), 'the refusal')
    finally:
        let_go()
    wait_for(lambda: cloud.host_of(servers['a']) == 'r3-1' or None,
             'the first move')
    assert cloud.wait_for_status(
        servers['b'], 'ACTIVE')['OS-EXT-SRV-ATTR:host'] == 'r2-1'


def slow_live_migration(cloud, monkeypatch, host):
    """Delay live migrations off a host until the returned function is
    called."""
    gone = threading.Event()
    hypervisor = cloud.computes.services[host].manager.driver
    migrate = hypervisor.live_migration

    def wait_and_migrate(*args, **kwargs):
        assert gone.wait(600)
        return migrate(*args, **kwargs)

    monkeypatch.setattr(hypervisor, 'live_migration', wait_and_migrate)
    return gone.set


def destination(cloud, server):
    """The destination of a server's migration, once Nova shows it."""
    (migration,) = cloud.compute.get(
        f'/os-migrations?instance_uuid={server}').json()['migrations'] or [{}]
    return migration.get('dest_compute')

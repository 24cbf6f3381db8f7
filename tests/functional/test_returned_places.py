# SPDX-License-Identifier: Apache-2.0
"""The state of a member after its server has failed, or was deleted, shelved
or left unfinished, on a real Nova after the first pass."""

import contextlib
from datetime import timedelta
import threading

from nova.conductor import manager as conductor
from nova import exception
import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.table.records import MemberState
from tests.functional.engine.updates import ask

HOSTS = tuple(EmbeddedHost(name, rack=rack, vcpus=4)
              for name, rack in (('h1', 'r1'), ('h2', 'r2'), ('h3', 'r3')))
GROUP = {'name': 'shop', 'members': [{'name': 'web', 'flavor': 'small'}]}


@pytest.fixture
def cloud(lend_cloud):
    """A cloud with the default grace period. All corrections in these tests
    are made before it ends."""
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 512, 1)
        yield cloud


@pytest.fixture
def group(cloud):
    record = cloud.planner.create(GROUP, project_id=PROJECT, user_id=USER)
    assert record.status == 'planned', record.reasons
    return record.uuid


def create(cloud, group, name='web'):
    return cloud.create_server(
        name, 'small', {'group': group, 'member': 'web'})


def build(cloud, group):
    server = create(cloud, group)
    cloud.wait_for_status(server, 'ACTIVE')
    return server


def is_held(cloud, group):
    """Whether the member is planned, and its hold is in Placement."""
    row = cloud.row(group, 'web')
    return ((row.state, row.held, row.instance_uuid)
            == (MemberState.PLANNED, True, None)
            and cloud.holds.has(row.hold, row))


def set_state(cloud, server, state):
    """Set the state of a server as an administrator does."""
    cloud.compute.post(f'/servers/{server}/action',
                       json={'os-resetState': {'state': state}})


def broken(cloud, monkeypatch):
    """Let every build fail on all hosts."""
    def no_spawn(*args, **kwargs):
        raise exception.NovaException('out of order')

    for service in cloud.computes.services.values():
        monkeypatch.setattr(service.manager.driver, 'spawn', no_spawn)


@contextlib.contextmanager
def paused(cloud, host, monkeypatch):
    """Inside the context, a server that is built on the host stays in BUILD.
    Returns an event that is set when the build has reached this point."""
    driver = cloud.computes.services[host].manager.driver
    spawn, begun, go_on = driver.spawn, threading.Event(), threading.Event()

    def wait_and_spawn(*args, **kwargs):
        begun.set()
        go_on.wait(600)
        return spawn(*args, **kwargs)

    monkeypatch.setattr(driver, 'spawn', wait_and_spawn)
    try:
        yield begun
    finally:
        go_on.set()


def test_the_place_of_a_failed_build_is_held_again(
        cloud, group, monkeypatch):
    broken(cloud, monkeypatch)
    server = create(cloud, group)
    cloud.wait_for_status(server, 'ERROR')
    assert cloud.host_of(server) is None
    assert cloud.reconciler.reconcile() == {'unclaimed': 1}
    assert is_held(cloud, group)
    monkeypatch.undo()
    build(cloud, group)


def test_a_failed_build_whose_place_was_taken_is_planned_elsewhere(
        cloud, group, monkeypatch):
    broken(cloud, monkeypatch)
    cloud.wait_for_status(create(cloud, group), 'ERROR')
    planned = cloud.row(group, 'web').place.host
    cloud.add_consumer(planned, {'VCPU': 4})
    assert cloud.reconciler.reconcile() == {'unclaimed': 1, 'replanned': 1}
    assert is_held(cloud, group)
    assert cloud.row(group, 'web').place.host != planned


@pytest.mark.parametrize('seen', [True, False])
def test_a_deleted_server_leaves_a_held_place(cloud, group, seen):
    """This does not depend on whether a pass has read the server."""
    before = cloud.row(group, 'web')
    server = build(cloud, group)
    if seen:
        assert cloud.reconciler.reconcile() == {'built': 1}
    cloud.delete_server(server)
    assert cloud.reconciler.reconcile() == {
        'gone' if seen else 'unclaimed': 1}
    assert is_held(cloud, group)
    assert cloud.row(group, 'web').hold == before.hold
    assert cloud.table.get_group(group).status == 'planned'


def test_a_server_deleted_during_its_build_leaves_a_held_place(
        cloud, group, monkeypatch):
    host = cloud.row(group, 'web').place.host
    with paused(cloud, host, monkeypatch) as begun:
        server = create(cloud, group)
        assert begun.wait(300) and cloud.host_of(server) == host
        assert cloud.reconciler.reconcile() == {}
        cloud.delete_server(server, wait=False)
    cloud.wait_until_gone(server)
    assert cloud.reconciler.reconcile() == {'unclaimed': 1}
    assert is_held(cloud, group)


def test_a_failed_member_is_planned_again_once_its_server_is_deleted(
        cloud, group, monkeypatch):
    host = cloud.row(group, 'web').place.host
    with paused(cloud, host, monkeypatch) as begun:
        server = create(cloud, group)
        assert begun.wait(300) and cloud.host_of(server) == host
        set_state(cloud, server, 'error')
        assert cloud.reconciler.reconcile() == {'failed': 1}
        assert cloud.table.get_group(group).status == 'building'
        cloud.delete_server(server, wait=False)
    cloud.wait_until_gone(server)
    assert cloud.reconciler.reconcile() == {'gone': 1}
    assert is_held(cloud, group)
    build(cloud, group)


def test_an_update_counts_a_server_that_failed_on_its_host(
        cloud, group, monkeypatch):
    """It is still the server of its member, also after an administrator has
    set it to ACTIVE, and no other member is in its rack."""
    host = cloud.row(group, 'web').place.host
    cloud.now = cloud.clock()
    with paused(cloud, host, monkeypatch) as begun:
        server = create(cloud, group)
        assert begun.wait(300) and cloud.host_of(server) == host
        set_state(cloud, server, 'error')
        assert cloud.reconciler.reconcile() == {'failed': 1}
        ask(cloud, cloud.table.get_group(group), {
            'name': 'shop',
            'policies': [{'type': 'anti-affinity', 'level': 'rack'}],
            'members': [{'name': 'web', 'flavor': 'small'},
                        {'name': 'db', 'count': 2, 'flavor': 'small'}]})
        cloud.planner.perform(cloud.table.tasks.take(
            group, 'engine', cloud.clock(), cloud.clock()))
        assert cloud.table.get_group(group).reasons == ()
        row = cloud.row(group, 'web')
        assert (row.state, row.instance_uuid) == (MemberState.FAILED, server)
        assert len({each.place.location for each
                    in cloud.table.members(group)}) == 3
        set_state(cloud, server, 'active')
        assert cloud.reconciler.reconcile() == {'built': 1}
        row = cloud.row(group, 'web')
        assert (row.instance_uuid, row.place.host) == (server, host)


@pytest.mark.parametrize('seen', [True, False])
def test_a_shelved_server_keeps_its_member(cloud, group, seen):
    """This also holds if it is set to ERROR, because it still exists."""
    server = build(cloud, group)
    planned = cloud.row(group, 'web').place
    cloud.shelve(server)
    assert cloud.get_server(server)['status'] == 'SHELVED_OFFLOADED'
    if seen:
        assert cloud.reconciler.reconcile() == {'built': 1}
    set_state(cloud, server, 'error')
    row = cloud.row(group, 'web')
    cloud.table.change_state(
        row.id, [row.state], row.state, cloud.clock() - timedelta(hours=1))
    assert cloud.reconciler.reconcile() == ({} if seen else {'built': 1})
    row = cloud.row(group, 'web')
    assert (row.state, row.instance_uuid, row.place) == (
        MemberState.BUILT, server, planned)
    assert 'web' in cloud.fault_of(create(cloud, group, 'another'))


@pytest.fixture
def slow_conductor(monkeypatch):
    """Stop the first create between the scheduler's answer and the creation in
    a cell. Yields two events: the first is set when the scheduler has
    answered, and the test sets the second to continue."""
    answered, go_on = threading.Event(), threading.Event()
    schedule = conductor.ComputeTaskManager._schedule_instances

    def schedule_and_stop(self, *args, **kwargs):
        answer = schedule(self, *args, **kwargs)
        if not answered.is_set():
            answered.set()
            go_on.wait(600)
        return answer

    monkeypatch.setattr(conductor.ComputeTaskManager, '_schedule_instances',
                        schedule_and_stop)
    yield answered, go_on
    go_on.set()


def test_a_server_that_is_never_created_loses_its_claim(
        cloud, group, slow_conductor):
    """If it is created nevertheless, it has an allocation but is no member."""
    answered, go_on = slow_conductor
    late = create(cloud, group)
    assert answered.wait(300)
    cloud.table.update_group(
        group, ['building'], lease_expires_at=None)
    assert cloud.reconciler.reconcile() == {}
    row = cloud.row(group, 'web')
    assert (row.state, row.instance_uuid) == (MemberState.CLAIMED, late)
    cloud.table.change_state(
        row.id, [MemberState.CLAIMED], MemberState.CLAIMED,
        cloud.clock() - timedelta(hours=3))
    assert cloud.reconciler.reconcile() == {'stalled': 1}
    assert is_held(cloud, group)
    server = build(cloud, group)
    go_on.set()
    cloud.wait_for_status(late, 'ACTIVE')
    assert cloud.reconciler.reconcile() == {'built': 1}
    assert cloud.row(group, 'web').instance_uuid == server
    assert cloud.allocations(server) and cloud.allocations(late)

# SPDX-License-Identifier: Apache-2.0
"""Members whose number of servers may change, on a real Nova: they grow when
more servers are created, and shrink when servers are deleted."""

from concurrent import futures
import uuid

import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.embedded.waiting import wait_for
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds.errors import NoResponse
from nova_holistic.scheduler.claim.possible_growth import is_possible
from nova_holistic.scheduler.pointer import Pointer
from nova_holistic.table.records import MemberState
from tests import effort
from tests.functional.call_counts import counted

HOSTS = tuple(EmbeddedHost(f'h{n}', zone='az1', rack=f'r{n % 4}', vcpus=4)
              for n in range(8))
SMALL = {'VCPU': 2, 'MEMORY_MB': 512, 'DISK_GB': 1}
APART = [{'type': 'anti-affinity', 'level': 'host'}]
LIVE = (MemberState.PLANNED, MemberState.CLAIMED, MemberState.BUILT)


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 512, 1)
        cloud.create_flavor('large', 4, 512, 1)
        yield cloud


def plan(cloud, count, policies=APART, lease=None, **keys):
    record = cloud.planner.create(
        {'name': 'shop', 'policies': policies, 'members': [
            {'name': 'node', 'flavor': 'small', 'count': count, **keys}]},
        project_id=PROJECT, user_id=USER, lease=lease)
    assert record.status == 'planned', record.reasons
    return record.uuid


def create(cloud, group, member='node'):
    return cloud.create_server(
        member.replace('/', '-'), 'small', {'group': group, 'member': member})


def build(cloud, group, member='node'):
    server = create(cloud, group, member)
    cloud.wait_for_status(server, 'ACTIVE')
    return server


def settled(cloud, server):
    def question():
        found = cloud.get_server(server)
        return None if found['status'] == 'BUILD' or (
            found['status'] == 'ERROR' and 'fault' not in found) else found

    return wait_for(question, f'server {server} to be created or refused')


def states(cloud, group):
    return {row.member.path: str(row.state)
            for row in cloud.table.members(group)}


def live(cloud, group):
    """The number of servers that exist or have a held place."""
    return sum(row.state in LIVE for row in cloud.table.members(group))


def assert_nothing_is_left_over(cloud, group):
    """Assert that Placement has only the allocations of servers and held
    places."""
    rows = [row for row in cloud.table.members(group) if row.state in LIVE]
    wanted = {}
    for row in rows:
        wanted.setdefault(row.place.host, []).append(
            row.instance_uuid or row.hold)
    for host in {each.name for each in HOSTS}:
        assert cloud.consumers(host) == {
            consumer: SMALL for consumer in wanted.get(host, ())}


def assert_apart(cloud, group):
    hosts = [row.place.host for row in cloud.table.members(group)
             if row.state in LIVE]
    assert len(hosts) == len(set(hosts))


def test_the_desired_number_is_planned_and_creates_add_servers_up_to_max(
        cloud):
    group = plan(cloud, {'min': 1, 'desired': 2, 'max': 4})
    assert states(cloud, group) == {'node-0': 'planned', 'node-1': 'planned'}
    servers = [build(cloud, group) for _ in range(4)]
    assert set(states(cloud, group)) == {f'node-{n}' for n in range(4)}
    assert len({cloud.host_of(server) for server in servers}) == 4
    assert_nothing_is_left_over(cloud, group)
    refused = create(cloud, group)
    assert ("member 'node' has 4 servers, and its maximum is 4"
            in cloud.fault_of(refused))
    assert_nothing_is_left_over(cloud, group)


def test_a_further_server_keeps_the_policies_or_is_refused(cloud):
    group = plan(cloud, {'desired': 2, 'max': 6}, [
        {'type': 'anti-affinity', 'level': 'rack'}])
    servers = [build(cloud, group) for _ in range(4)]
    assert len({cloud.host_of(server)[-1] for server in servers}) == 4
    racks = {cloud.row(group, f'node-{n}').place.location[-1]
             for n in range(4)}
    assert len(racks) == 4
    fault = cloud.fault_of(create(cloud, group))
    assert "no host has room for a further server of member 'node'" in fault
    assert_nothing_is_left_over(cloud, group)


def resized(cloud, group, servers, number):
    """Reach this number of servers by creates or deletions."""
    while len(servers) < number:
        servers.append(build(cloud, group))
    while len(servers) > number:
        cloud.delete_server(servers.pop(0))
        cloud.reconciler.reconcile()


def test_surge_creates_the_new_server_before_the_old_one_is_deleted(cloud):
    """NOVA_HOLISTIC_TEST_EFFORT=12.5 makes 50 rounds of this test and of the
    next one. The number of servers goes from the minimum to the maximum."""
    least, desired, most = 1, 2, 4
    group = plan(cloud, {'min': least, 'desired': desired, 'max': most})
    servers = []
    for number in range(effort.times(4)):
        resized(cloud, group, servers, least + number % (most - least))
        servers.append(build(cloud, group))
        assert_nothing_is_left_over(cloud, group)
        cloud.delete_server(servers.pop(0))
        cloud.reconciler.reconcile()
        assert_apart(cloud, group)
        assert live(cloud, group) == max(len(servers), desired)
        assert_nothing_is_left_over(cloud, group)


def test_a_server_is_deleted_before_the_new_one_is_created(cloud):
    """This also works if no reconciler runs before the create."""
    least, desired, most = 1, 2, 4
    group = plan(cloud, {'min': least, 'desired': desired, 'max': most})
    servers = []
    for number in range(effort.times(4)):
        resized(cloud, group, servers, 1 + number % most)
        cloud.delete_server(servers.pop(0))
        if number % 2:
            cloud.reconciler.reconcile()
            assert live(cloud, group) == max(len(servers), desired)
        servers.append(build(cloud, group))
        cloud.reconciler.reconcile()
        assert_apart(cloud, group)
        assert live(cloud, group) == max(len(servers), desired)
        assert_nothing_is_left_over(cloud, group)


def test_a_server_is_replaced_before_a_reconciler_has_seen_it(cloud):
    group = plan(cloud, {'desired': 2, 'max': 3})
    servers = [build(cloud, group) for _ in range(3)]
    for _ in range(2):
        assert set(states(cloud, group).values()) == {'claimed'}
        cloud.delete_server(servers.pop(0))
        servers.append(build(cloud, group))
        assert_apart(cloud, group)
        assert_nothing_is_left_over(cloud, group)


@pytest.mark.parametrize('count, seen, after', [
    (2, False, ['built', 'planned']), (2, True, ['built', 'planned']),
    ({'desired': 1, 'max': 2}, True, ['built', 'released'])],
    ids=['claimed', 'built', 'surplus'])
def test_an_undone_create_takes_no_place_from_a_member(
        cloud, monkeypatch, count, seen, after):
    """The create takes the row of a deleted server before a reconciler has
    seen the deletion."""
    def allocate_unheard(self, *arguments):
        allocate(self, *arguments)
        raise NoResponse('no answer')

    allocate = HoldClient.allocate
    group = plan(cloud, count, lease=3600)
    servers = [build(cloud, group) for _ in range(2)]
    if seen:
        cloud.reconciler.reconcile()
    cloud.delete_server(servers[0])
    before = states(cloud, group)
    with monkeypatch.context() as fault:
        fault.setattr(HoldClient, 'allocate', allocate_unheard)
        assert 'does not answer' in cloud.fault_of(create(cloud, group))
    assert states(cloud, group) == before
    cloud.reconciler.reconcile()
    assert sorted(states(cloud, group).values()) == after
    assert_nothing_is_left_over(cloud, group)
    build(cloud, group)
    assert_nothing_is_left_over(cloud, group)


def test_a_released_server_does_not_take_the_place_of_another_one(cloud):
    """The user has released the member that the create names."""
    group = plan(cloud, {'desired': 2, 'max': 3}, lease=3600)
    cloud.lifecycle.release(group, ['node-1'])
    build(cloud, group, 'node-2')
    before = states(cloud, group)
    assert before == {
        'node-0': 'planned', 'node-1': 'released', 'node-2': 'claimed'}
    assert cloud.fault_of(create(cloud, group, 'node-1'))
    assert states(cloud, group) == before
    assert_nothing_is_left_over(cloud, group)
    build(cloud, group, 'node-0')


def test_a_further_server_is_as_large_as_described_after_a_resize(cloud):
    group = plan(cloud, {'desired': 1, 'max': 2})
    server = build(cloud, group)
    cloud.act(server, 'resize', flavorRef=cloud.flavor_id('large'))
    cloud.wait_for_status(server, 'VERIFY_RESIZE')
    cloud.act(server, 'confirmResize')
    cloud.wait_for_status(server, 'ACTIVE')
    for _ in range(2):
        cloud.reconciler.reconcile()
    assert cloud.row(group, 'node-0').planned == SMALL
    another = build(cloud, group)
    assert list(cloud.consumers(cloud.host_of(another)).values()) == [SMALL]


def test_a_deleted_server_leaves_a_held_place_while_it_is_desired(cloud):
    group = plan(cloud, {'desired': 2, 'max': 3})
    servers = [build(cloud, group) for _ in range(3)]
    cloud.reconciler.reconcile()
    cloud.delete_server(servers[0])
    cloud.reconciler.reconcile()
    assert sorted(states(cloud, group).values()) == [
        'built', 'built', 'released']
    cloud.delete_server(servers[1])
    cloud.reconciler.reconcile()
    assert sorted(states(cloud, group).values()) == [
        'built', 'planned', 'released']
    assert_nothing_is_left_over(cloud, group)


def test_the_pointer_of_a_fixed_count_works_after_its_place_was_given_back(
        cloud):
    group = plan(cloud, 2)
    servers = [build(cloud, group) for _ in range(2)]
    cloud.reconciler.reconcile()
    cloud.lifecycle.release(group)
    cloud.delete_server(servers[0])
    cloud.reconciler.reconcile()
    assert sorted(states(cloud, group).values()) == ['built', 'released']
    build(cloud, group)
    fault = cloud.fault_of(create(cloud, group))
    assert 'is taken by another server' in fault
    assert_nothing_is_left_over(cloud, group)


@pytest.mark.parametrize('passed', [False, True])
def test_a_released_member_gets_no_further_server(cloud, passed):
    """This does not depend on whether a pass of the reconciler comes before
    the create."""
    group = plan(cloud, 2)
    servers = [build(cloud, group) for _ in range(2)]
    cloud.reconciler.reconcile()
    (path,) = [row.member.path for row in cloud.table.members(group)
               if row.instance_uuid == servers[0]]
    cloud.lifecycle.release(group, [path])
    cloud.delete_server(servers[0])
    pointer = Pointer(group, path)
    if passed:
        cloud.reconciler.reconcile()
    assert not is_possible(cloud.table, pointer)
    cloud.fault_of(create(cloud, group))
    cloud.reconciler.reconcile()
    assert sorted(states(cloud, group).values()) == ['built', 'released']
    assert_nothing_is_left_over(cloud, group)


@pytest.mark.parametrize('built', [False, True])
def test_further_servers_get_other_paths_than_a_released_one(cloud, built):
    """The user has released one of the servers, or one of the held places.
    """
    group = plan(cloud, {'min': 1, 'desired': 2, 'max': 4})
    servers = [build(cloud, group) for _ in range(2 if built else 1)]
    cloud.reconciler.reconcile()
    path = 'node-0' if built else 'node-1'
    cloud.lifecycle.release(group, [path])
    if built:
        cloud.delete_server(servers[0])
        cloud.reconciler.reconcile()
    build(cloud, group)
    assert states(cloud, group) == {
        'node-0': 'released' if built else 'built',
        'node-1': 'built' if built else 'released', 'node-2': 'claimed'}
    assert is_possible(cloud.table, Pointer(group, 'node'))
    fault = cloud.fault_of(create(cloud, group, path))
    assert f'member {path!r}' in fault and 'has been released' in fault
    assert_nothing_is_left_over(cloud, group)


def test_fewer_servers_are_planned_down_to_the_minimum(cloud):
    group = plan(cloud, {'min': 2, 'desired': 12, 'max': 20})
    assert len(states(cloud, group)) == len(HOSTS)
    reasons = cloud.table.get_group(group).reasons
    assert any('node-8' in reason['at'] for reason in reasons), reasons
    record = cloud.planner.create(
        {'name': 'large', 'policies': APART, 'members': [
            {'name': 'node', 'flavor': 'small',
             'count': {'min': 9, 'desired': 12, 'max': 20}}]},
        project_id=PROJECT, user_id=USER)
    assert record.status == 'unplaceable'


def test_a_server_that_is_added_is_no_longer_missing(cloud):
    """The client chooses the number of one of the servers."""
    blockers = [plan(cloud, 1, flavor='large') for _ in range(3)]
    group = plan(cloud, {'min': 2, 'desired': 8})
    assert missing(cloud, group) == 'node-5, node-6, node-7'
    for _ in range(5):
        build(cloud, group)
    for number, after in (5, 'node-6, node-7'), (30, 'node-6'), (6, None):
        cloud.lifecycle.delete(blockers.pop())
        build(cloud, group, f'node-{number}')
        assert missing(cloud, group) == after
    assert cloud.table.get_group(group).reasons == ()
    assert_nothing_is_left_over(cloud, group)


def missing(cloud, group):
    """The missing servers that the first reason lists."""
    reasons = cloud.table.get_group(group).reasons
    return reasons[0]['at'] if reasons else None


def test_a_replica_is_planned_with_fewer_servers_than_desired(cloud):
    """Both the replica and its servers may be left out, and 8 fit."""
    for least in (0, 1):
        record = cloud.planner.create(
            {'name': 'shop', 'policies': APART, 'groups': [
                {'name': 'replica', 'count': {'min': least, 'desired': 1},
                 'members': [{'name': 'node', 'flavor': 'small',
                              'count': {'min': 1, 'desired': 12}}]}]},
            project_id=PROJECT, user_id=USER)
        assert record.status == 'planned', record.reasons
        assert set(states(cloud, record.uuid)) == {
            f'replica-0/node-{number}' for number in range(len(HOSTS))}
        assert any('replica-0/node-8' in reason['at']
                   for reason in record.reasons), record.reasons


def test_ten_clients_grow_one_member_at_once(cloud):
    group = plan(cloud, {'min': 1, 'desired': 1, 'max': 5})
    with futures.ThreadPoolExecutor(10) as pool:
        servers = list(pool.map(lambda _: create(cloud, group), range(10)))
    ends = [settled(cloud, server) for server in servers]
    assert sorted(each['status'] for each in ends) == (
        ['ACTIVE'] * 5 + ['ERROR'] * 5)
    for each in ends:
        if each['status'] == 'ERROR':
            assert 'its maximum is 5' in each['fault']['message']
    assert_apart(cloud, group)
    assert_nothing_is_left_over(cloud, group)


def test_replicas_of_a_group_are_planned_and_added(cloud):
    record = cloud.planner.create(
        {'name': 'shop', 'policies': APART, 'groups': [
            {'name': 'replica', 'count': {'desired': 2, 'max': 3},
             'policies': [{'type': 'affinity', 'level': 'rack'}],
             'members': [{'name': 'a', 'flavor': 'small'},
                         {'name': 'b', 'flavor': 'small'}]}]},
        project_id=PROJECT, user_id=USER)
    assert record.status == 'planned', record.reasons
    group = record.uuid
    assert set(states(cloud, group)) == {
        'replica-0/a', 'replica-0/b', 'replica-1/a', 'replica-1/b'}
    for number in range(3):
        for name in 'ab':
            build(cloud, group, f'replica-{number}/{name}')
    for number in range(3):
        racks = {cloud.row(group, f'replica-{number}/{name}')
                 .place.location[-1] for name in 'ab'}
        assert len(racks) == 1
    assert_apart(cloud, group)
    fault = cloud.fault_of(create(cloud, group, 'replica-3/a'))
    assert "group 'replica' has 3 replicas, and its maximum is 3" in fault
    assert_nothing_is_left_over(cloud, group)


def test_an_engine_moves_held_places_for_a_further_server(cloud):
    """The only host that is suitable for the server is held by a member that
    could be on another host."""
    group = cloud.plan(
        {'name': 'shop', 'policies': APART, 'members': [
            {'name': 'any', 'flavor': 'small'},
            {'name': 'node', 'flavor': 'small', 'location': 'az1/r0',
             'count': {'desired': 1, 'max': 2}}]},
        {'node-0': 'h0', 'any': 'h4'}, resources=SMALL)
    build(cloud, group)
    fault = cloud.fault_of(create(cloud, group))
    assert "no host has room for a further server of member 'node'" in fault
    cloud.planner.perform(cloud.table.tasks.take(
        group, 'engine', cloud.clock(), cloud.clock()))
    after = cloud.table.get_group(group)
    assert (after.task, after.reasons) == (None, ())
    server = build(cloud, group)
    assert cloud.host_of(server) == 'h4'
    assert_apart(cloud, group)
    assert_nothing_is_left_over(cloud, group)


def test_a_further_server_sends_one_request_to_placement(cloud):
    """Most of its statements are Placement's, for that request."""
    found = []
    for most in 6, 7:
        group = plan(cloud, {'desired': 2, 'max': most}, [])
        for number in range(2):
            cloud.table.claim(group, f'node-{number}', str(uuid.uuid4()),
                              cloud.clock())
        for _ in range(3):
            instance = str(uuid.uuid4())
            spec = cloud.request_spec(
                'small', {'group': group, 'member': 'node'}, instance)
            with counted() as calls:
                assert cloud.select_destinations(spec, [instance])[0]
            cloud.delete_consumer(instance)
            found.append(calls)
    # The first requests fill caches.
    for calls in found[2:3], found[-1:]:
        (calls,) = calls
        assert [request.split('/')[-1] for request in calls.http] == [
            'allocations']
        assert 0 < len(calls.sql) <= 44

# SPDX-License-Identifier: Apache-2.0
"""A create with a pointer gets its planned place, once."""

from concurrent import futures
import contextlib
import threading
import uuid

from nova import exception
from oslo_utils import timeutils
import pytest

from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds.errors import HoldsError
from nova_holistic.table.queries.group_cache import GroupCache
from nova_holistic.table.records import GroupStatus, MemberState

HOSTS = tuple(
    EmbeddedHost(f'{zone}-{rack}-{number}', zone=zone, rack=rack, vcpus=4)
    for zone in ('az1', 'az2') for rack in ('r1', 'r2') for number in (1, 2))
SMALL = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10}
WEB = {
    'name': 'web',
    'policies': [{'type': 'anti-affinity', 'level': 'rack'}],
    'members': [{'name': name, 'flavor': 'small'} for name in 'abcd'],
}
PLAN = {'a': 'az1-r1-2', 'b': 'az1-r2-2', 'c': 'az2-r1-2', 'd': 'az2-r2-2'}
RACKS = {host.name: (host.zone, host.rack) for host in HOSTS}


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS, options={
            ('holistic', 'search_time_limit'): 0}) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        yield cloud


def pointed_create(cloud, group, member):
    return cloud.create_server(
        member, 'small', {'group': group, 'member': member})


def test_every_planned_server_lands_where_planned(cloud):
    group = cloud.plan(WEB, PLAN, resources=SMALL)
    servers = {member: pointed_create(cloud, group, member)
               for member in PLAN}
    for member, server in servers.items():
        cloud.wait_for_status(server, 'ACTIVE')
        assert cloud.host_of(server) == PLAN[member]


def test_the_hold_becomes_the_allocation(cloud):
    group = cloud.plan(WEB, PLAN, resources=SMALL)
    hold = cloud.row(group, 'a').hold
    assert cloud.consumers(PLAN['a']) == {hold: SMALL}
    server = pointed_create(cloud, group, 'a')
    cloud.wait_for_status(server, 'ACTIVE')
    assert cloud.consumers(PLAN['a']) == {server: SMALL}
    row = cloud.row(group, 'a')
    assert (row.state, row.held, row.instance_uuid) == (
        MemberState.CLAIMED, False, server)


def test_held_capacity_is_refused_to_servers_without_a_pointer(cloud):
    document = {'name': 'all', 'members': [
        {'name': f'm{number}', 'flavor': 'small'} for number in range(16)]}
    hosts = {f'm{number}': HOSTS[number // 2].name for number in range(16)}
    group = cloud.plan(document, hosts, resources=SMALL)
    other_server = cloud.create_server('other-server', 'small')
    assert 'No valid host' in cloud.fault_of(other_server)
    member = pointed_create(cloud, group, 'm5')
    cloud.wait_for_status(member, 'ACTIVE')
    assert cloud.host_of(member) == hosts['m5']


def test_a_repeated_request_gets_the_same_host_and_one_allocation(
        cloud):
    group = cloud.plan(WEB, PLAN, resources=SMALL)
    instance = str(uuid.uuid4())
    spec = cloud.request_spec(
        'small', {'group': group, 'member': 'a'}, instance)
    first, second = (
        [selection.to_dict() for selection in
         cloud.select_destinations(spec, [instance])[0]]
        for _ in range(2))
    assert first == second
    assert first[0]['host'] == PLAN['a']
    assert cloud.consumers(PLAN['a']) == {instance: SMALL}
    cloud.delete_consumer(instance)


def test_of_two_servers_for_one_member_only_one_becomes_active(cloud):
    group = cloud.plan(WEB, PLAN, resources=SMALL)
    servers = [pointed_create(cloud, group, 'a') for _ in range(2)]
    outcomes = [_outcome(cloud, server) for server in servers]
    assert sorted(status for status, _ in outcomes) == ['ACTIVE', 'ERROR']
    refused = next(text for status, text in outcomes if status == 'ERROR')
    assert "member 'a'" in refused and 'taken' in refused


def _outcome(cloud, server):
    try:
        return 'ACTIVE', cloud.wait_for_status(server, 'ACTIVE')['id']
    except Exception:
        return 'ERROR', cloud.fault_of(server)


def test_concurrent_requests_for_one_member_have_one_winner(cloud):
    group = cloud.plan(WEB, PLAN, resources=SMALL)
    instances = [str(uuid.uuid4()) for _ in range(6)]
    pointer = {'group': group, 'member': 'b'}
    specs = [cloud.request_spec('small', pointer, instance)
             for instance in instances]

    def ask(spec):
        try:
            cloud.select_destinations(spec, [spec.instance_uuid])
        except exception.NoValidHost:
            return None
        return spec.instance_uuid

    with futures.ThreadPoolExecutor(len(specs)) as pool:
        winners = [uuid for uuid in pool.map(ask, specs) if uuid]
    assert len(winners) == 1
    assert cloud.consumers(PLAN['b']) == {winners[0]: SMALL}
    cloud.delete_consumer(winners[0])


def test_alternates_keep_the_policies_of_the_group(cloud):
    group = cloud.plan(WEB, PLAN, resources=SMALL)
    instance = str(uuid.uuid4())
    spec = cloud.request_spec(
        'small', {'group': group, 'member': 'a'}, instance)
    chosen, *alternates = cloud.select_destinations(spec, [instance])[0]
    assert chosen.service_host == PLAN['a']
    # Every other rack has a member in it.
    assert {RACKS[a.service_host] for a in alternates} == {('az1', 'r1')}
    assert {a.cell_uuid for a in alternates} == {chosen.cell_uuid}
    cloud.delete_consumer(instance)


def test_a_failed_build_is_retried_on_an_alternate(cloud, monkeypatch):
    group = cloud.plan(WEB, PLAN, resources=SMALL)
    hypervisor = cloud.computes.services[PLAN['a']].manager.driver

    def no_spawn(*args, **kwargs):
        raise exception.NovaException('the hypervisor is out of order')

    monkeypatch.setattr(hypervisor, 'spawn', no_spawn)
    server = pointed_create(cloud, group, 'a')
    cloud.wait_for_status(server, 'ACTIVE')
    assert cloud.host_of(server) == 'az1-r1-1'
    assert server not in cloud.consumers(PLAN['a'])


def test_deleted_servers_and_released_members_use_nothing(cloud):
    group = cloud.plan(WEB, PLAN, resources=SMALL)
    server = pointed_create(cloud, group, 'a')
    cloud.wait_for_status(server, 'ACTIVE')
    cloud.delete_server(server)
    assert cloud.used() != {}
    done = cloud.lifecycle.release(group)
    assert set(done.released) == set('bcd')
    assert cloud.used() == {}
    assert all(cloud.row(group, member).state == MemberState.RELEASED
               for member in 'bcd')


def test_a_repeated_request_leaves_a_built_member_built(cloud):
    group = cloud.plan(WEB, PLAN, resources=SMALL)
    instance = str(uuid.uuid4())
    spec = cloud.request_spec(
        'small', {'group': group, 'member': 'a'}, instance)
    cloud.select_destinations(spec, [instance])
    row = cloud.row(group, 'a')
    assert cloud.table.change_state(
        row.id, {MemberState.CLAIMED}, MemberState.BUILT, row.updated_at)
    again = cloud.select_destinations(spec, [instance])[0]
    assert again[0].service_host == PLAN['a']
    row = cloud.row(group, 'a')
    assert (row.state, row.held, row.instance_uuid) == (
        MemberState.BUILT, False, instance)
    cloud.delete_consumer(instance)


def after_the_swap(monkeypatch, what):
    """Call a function between the swap and the answer."""
    swap = HoldClient.swap

    def swap_and_more(self, row, *arguments):
        swap(self, row, *arguments)
        what(row)

    monkeypatch.setattr(HoldClient, 'swap', swap_and_more)


def test_a_group_deleted_while_a_server_is_scheduled_leaves_nothing(
        cloud, monkeypatch):
    group = cloud.plan(WEB, PLAN, resources=SMALL)
    after_the_swap(monkeypatch, lambda row: cloud.lifecycle.delete(group))
    server = pointed_create(cloud, group, 'a')
    assert 'the claim was undone' in cloud.fault_of(server)
    assert cloud.used() == {}


def test_a_claim_undone_while_its_group_is_deleted_leaves_nothing(
        cloud, monkeypatch):
    """The deletion has dropped all holds when the undo restores one of them.
    The rows are deleted before the undo changes the row."""
    group = cloud.plan(WEB, PLAN, resources=SMALL)
    unswap, delete_group = HoldClient.unswap, cloud.table.delete_group
    dropped, restored = threading.Event(), threading.Event()

    def unswap_during_the_deletion(self, *arguments):
        with futures.ThreadPoolExecutor(1) as pool:
            deletion = pool.submit(cloud.lifecycle.delete, group)
            assert dropped.wait(60)
            unswap(self, *arguments)
            restored.set()
            deletion.result()

    def delete_later(uuid, *revision):
        dropped.set()
        assert restored.wait(60)
        return delete_group(uuid, *revision)

    def refuse(_row):
        raise HoldsError('no response')

    monkeypatch.setattr(HoldClient, 'unswap', unswap_during_the_deletion)
    monkeypatch.setattr(cloud.table, 'delete_group', delete_later)
    after_the_swap(monkeypatch, refuse)
    assert cloud.fault_of(pointed_create(cloud, group, 'a'))
    assert cloud.table.get_group(group) is None
    assert cloud.used() == {}


def test_a_claim_undone_during_scheduling_is_held_again(
        cloud, monkeypatch):
    group = cloud.plan(WEB, PLAN, resources=SMALL)

    def take_back(row):
        # A reconciler undoes the claim if it considers the scheduler failed.
        assert cloud.table.change_state(
            row.id, {MemberState.CLAIMED}, MemberState.PLANNED,
            row.updated_at, instance_uuid=None, held=True)

    after_the_swap(monkeypatch, take_back)
    server = pointed_create(cloud, group, 'a')
    assert 'the claim was undone' in cloud.fault_of(server)
    row = cloud.row(group, 'a')
    assert (row.state, row.held, row.instance_uuid) == (
        MemberState.PLANNED, True, None)
    assert cloud.consumers(PLAN['a']) == {row.hold: SMALL}


def test_a_member_claimed_by_another_server_stays_with_it(
        cloud, monkeypatch):
    group = cloud.plan(WEB, PLAN, resources=SMALL)
    other = str(uuid.uuid4())

    def hand_over(row):
        assert cloud.table.change_state(
            row.id, {MemberState.CLAIMED}, MemberState.CLAIMED,
            row.updated_at, instance_uuid=other)

    after_the_swap(monkeypatch, hand_over)
    server = pointed_create(cloud, group, 'a')
    assert 'the claim was undone' in cloud.fault_of(server)
    row = cloud.row(group, 'a')
    assert (row.state, row.instance_uuid) == (MemberState.CLAIMED, other)


def ask(cloud, group, member, instance):
    """The scheduler's answer for one server."""
    spec = cloud.request_spec(
        'small', {'group': group, 'member': member}, instance)
    return cloud.select_destinations(spec, [instance])


@contextlib.contextmanager
def disabled(cloud, host):
    cloud.disable_compute(host)
    try:
        yield
    finally:
        cloud.enable_compute(host)


@pytest.mark.parametrize('status', [GroupStatus.PLANNING, GroupStatus.ERROR])
def test_no_server_takes_a_member_of_a_group_that_has_no_plan(cloud, status):
    """Its rows and holds exist while it is planned or given up."""
    group = cloud.plan(WEB, PLAN, resources=SMALL, status=status)
    with pytest.raises(exception.NoValidHost, match=f'the group is {status}'):
        ask(cloud, group, 'a', str(uuid.uuid4()))
    row = cloud.row(group, 'a')
    assert (row.state, row.instance_uuid) == (MemberState.PLANNED, None)
    assert cloud.consumers(PLAN['a']) == {row.hold: SMALL}


def test_a_refused_repeat_takes_no_member_away_from_its_server(cloud):
    """The host is disabled between two requests for one server."""
    group = cloud.plan(WEB, PLAN, resources=SMALL)
    instance = str(uuid.uuid4())
    ask(cloud, group, 'a', instance)
    with disabled(cloud, PLAN['a']), pytest.raises(
            exception.NoValidHost, match='its planned host is disabled'):
        ask(cloud, group, 'a', instance)
    row = cloud.row(group, 'a')
    assert (row.state, row.held, row.instance_uuid) == (
        MemberState.CLAIMED, False, instance)
    assert cloud.consumers(PLAN['a']) == {instance: SMALL}
    cloud.delete_consumer(instance)


def test_a_group_that_was_planned_again_during_a_create_is_building(
        cloud, monkeypatch):
    """The create has read the status building, so its claim does not change
    it."""
    group = cloud.plan(WEB, PLAN, resources=SMALL)
    cloud.table.claim(group, 'b', str(uuid.uuid4()), timeutils.utcnow())
    read_for = GroupCache.read_for

    def read_and_take_back(rosters, *arguments):
        found = read_for(rosters, *arguments)
        assert found[0][0].status == GroupStatus.BUILDING
        row = cloud.row(group, 'b')
        if row.state == MemberState.CLAIMED:
            assert cloud.table.change_state(
                row.id, {MemberState.CLAIMED}, MemberState.PLANNED,
                row.updated_at, instance_uuid=None, held=True)
            cloud.table.settle(group, row.updated_at)
            assert cloud.table.get_group(group).status == GroupStatus.PLANNED
        return found

    monkeypatch.setattr(GroupCache, 'read_for', read_and_take_back)
    instance = str(uuid.uuid4())
    ask(cloud, group, 'a', instance)
    assert cloud.table.get_group(group).status == GroupStatus.BUILDING
    cloud.delete_consumer(instance)


def test_a_group_whose_only_create_was_refused_is_planned_again(cloud):
    """The group was building while the server was scheduled."""
    group = cloud.plan(WEB, PLAN, resources=SMALL, alternates=0)
    with disabled(cloud, PLAN['a']), pytest.raises(
            exception.NoValidHost, match='its planned host is disabled'):
        ask(cloud, group, 'a', str(uuid.uuid4()))
    assert cloud.table.get_group(group).status == GroupStatus.PLANNED

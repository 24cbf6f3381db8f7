# SPDX-License-Identifier: Apache-2.0
"""Tools that can only name a server group of Nova get planned places.

None of these requests has a pointer.
"""

from concurrent import futures
import uuid

from keystoneauth1 import exceptions as keystone_exceptions
import pytest

from nova_holistic.embedded.calls.servers import ADMIN, PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.engine.binding.binder import Binder
from nova_holistic import exceptions
from nova_holistic.messaging import errors
from nova_holistic.table.coordination.bindings import Bindings
from nova_holistic.table.errors import MemberUnknown, TableError
from nova_holistic.table.records import GroupStatus, MemberState
from tests.functional.call_counts import counted
from tests.functional.tool_requests import octavia, send, TOOLS

HOSTS = tuple(
    EmbeddedHost(f'cmp-{number}', zone='az1', rack=f'r{number // 2}')
    for number in range(12))
SMALL = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10}
APART = [{'type': 'anti-affinity'}]


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        cloud.create_flavor('large', 4, 4096, 10)
        yield cloud


@pytest.fixture
def cloud(running):
    yield running
    running.enable_computes()
    running.clear()


def planned(cloud, count=2, policies=(), name='node', **keys):
    """A group with one counted member."""
    record = cloud.planner.create(
        {'name': 'k8s', 'policies': list(policies), 'members': [
            {'name': name, 'flavor': 'small', 'count': count, **keys}]},
        project_id=PROJECT, user_id=USER)
    assert record.status == GroupStatus.PLANNED, record.reasons
    return record.uuid


def bind(cloud, group, path, server_group):
    return Binder(cloud.table, cloud.inventory, cloud.clock).bind(
        group, path, server_group)


def server_group(cloud, policy='soft-anti-affinity', **rules):
    return cloud.create_server_group('tool', policy, **rules)


def places(cloud, group):
    return sorted(row.place.host for row in cloud.table.members(group))


def hosts_of(cloud, servers):
    for server in servers:
        cloud.wait_for_status(server, 'ACTIVE')
    return sorted(map(cloud.host_of, servers))


@pytest.mark.parametrize('tool', TOOLS, ids=lambda tool: tool.__name__)
def test_each_tool_gets_the_planned_places(cloud, tool):
    bound = server_group(cloud, 'anti-affinity')
    group = planned(cloud, 3, APART)
    wanted = places(cloud, group)
    bind(cloud, group, 'node', bound)
    servers = [send(cloud, tool, f'tool-{number}', 'small', bound)
               for number in range(3)]
    assert hosts_of(cloud, servers) == wanted
    rows = cloud.table.members(group)
    assert {row.instance_uuid for row in rows} == set(servers)
    assert {row.state for row in rows} <= {
        MemberState.CLAIMED, MemberState.BUILT}
    refused = send(cloud, tool, 'tool-3', 'small', bound)
    assert "member 'node'" in cloud.fault_of(refused)


def test_ten_creates_at_once_get_ten_places(cloud):
    bound = server_group(cloud, 'anti-affinity')
    group = planned(cloud, 10, APART)
    wanted = places(cloud, group)
    assert len(set(wanted)) == 10
    bind(cloud, group, 'node', bound)
    with futures.ThreadPoolExecutor(10) as pool:
        servers = list(pool.map(
            lambda number: send(
                cloud, octavia, f'amphora-{number}', 'small', bound),
            range(10)))
    assert hosts_of(cloud, servers) == wanted


def test_the_first_server_of_a_member_comes_from_a_bound_server_group(cloud):
    """No server of the member is planned: creates add them."""
    bound = server_group(cloud, 'anti-affinity')
    record = cloud.planner.create({'name': 'k8s', 'members': [
        {'name': 'proxy', 'flavor': 'small'},
        {'name': 'node', 'flavor': 'small',
         'count': {'min': 0, 'desired': 0, 'max': 2}}]},
        project_id=PROJECT, user_id=USER)
    bind(cloud, record.uuid, 'node', bound)
    servers = [send(cloud, octavia, f'node-{number}', 'small', bound)
               for number in range(2)]
    assert len(set(hosts_of(cloud, servers))) == 2
    assert {row.member.path: row.instance_uuid
            for row in cloud.table.members(record.uuid)} == {
                'proxy': None, 'node-0': servers[0], 'node-1': servers[1]}
    refused = send(cloud, octavia, 'node-2', 'small', bound)
    assert 'its maximum is 2' in cloud.fault_of(refused)


def test_an_unbound_server_group_is_stock_nova(cloud):
    other = server_group(cloud, 'anti-affinity')
    group = planned(cloud, 2)
    bind(cloud, group, 'node', server_group(cloud))
    servers = [send(cloud, octavia, f'a-{number}', 'small', other)
               for number in range(2)]
    assert len(set(hosts_of(cloud, servers))) == 2
    assert {row.state for row in cloud.table.members(group)} == {
        MemberState.PLANNED}


def test_after_the_unbind_nova_decides(cloud):
    bound = server_group(cloud)
    group = planned(cloud, 2)
    bind(cloud, group, 'node', bound)
    first = send(cloud, octavia, 'a', 'small', bound)
    hosts_of(cloud, [first])
    now = cloud.clock()
    assert cloud.table.bindings.remove(group, [bound], now)
    assert not cloud.table.bindings.remove(group, [bound], now)
    hosts_of(cloud, [send(cloud, octavia, 'b', 'small', bound)])
    assert [row.instance_uuid for row in cloud.table.members(group)
            if row.instance_uuid] == [first]


def test_a_deleted_server_group_is_refused_by_nova_and_shown(cloud):
    bound = server_group(cloud)
    group = planned(cloud, 2)
    bind(cloud, group, 'node', bound)
    binder = Binder(cloud.table, cloud.inventory, cloud.clock)
    assert [each.status for each in binder.bindings(group)] == ['active']
    cloud.compute_for().delete(f'/os-server-groups/{bound}')
    with pytest.raises(keystone_exceptions.BadRequest):
        send(cloud, octavia, 'a', 'small', bound)
    assert [each.status for each in binder.bindings(group)] == ['deleted']
    # The deleted server group does not prevent the plan, and a new server
    # group replaces it.
    cloud.holds.drop([cloud.row(group, 'node-0').hold])
    cloud.reconciler.reconcile()
    assert cloud.row(group, 'node-0').state == MemberState.PLANNED
    new = server_group(cloud)
    bind(cloud, group, 'node', new)
    assert [each.target for each in binder.bindings(group)] == [new]


def test_the_group_and_its_bindings_are_deleted_together(cloud):
    bound = server_group(cloud)
    group = planned(cloud, 2)
    bind(cloud, group, 'node', bound)
    cloud.lifecycle.delete(group)
    hosts_of(cloud, [send(cloud, octavia, 'a', 'small', bound)])
    bind(cloud, planned(cloud, 2), 'node', bound)


def test_a_pointer_counts_and_must_not_contradict(cloud):
    bound = server_group(cloud)
    group = planned(cloud, 2)
    other = planned(cloud, 2)
    bind(cloud, group, 'node', bound)
    for path in 'node', 'node-1':
        server = cloud.create_server(
            'a', 'small', {'group': group, 'member': path},
            hints={'group': bound})
        assert hosts_of(cloud, [server])
    fault = cloud.fault_of(cloud.create_server(
        'b', 'small', {'group': other, 'member': 'node'},
        hints={'group': bound}))
    assert f'server group {bound} is bound to another member' in fault
    assert {row.state for row in cloud.table.members(other)} == {
        MemberState.PLANNED}


def test_the_plan_keeps_the_policy_of_the_bound_server_group(cloud):
    """A member that is planned again is not planned on a sibling's host."""
    bound = server_group(cloud, 'anti-affinity')
    group = planned(cloud, 6, APART)
    bind(cloud, group, 'node', bound)
    # Replace the hard policy of the group itself.
    document = cloud.table.get_group(group).document
    cloud.table.update_group(
        group, [GroupStatus.PLANNED],
        document={**document, 'policies': [{'type': 'soft-affinity'}]})
    lost = [cloud.row(group, f'node-{number}').hold for number in range(3)]
    cloud.holds.drop(lost)
    cloud.reconciler.reconcile()
    rows = cloud.table.members(group)
    assert {row.state for row in rows} == {MemberState.PLANNED}
    assert len({row.place.host for row in rows}) == 6


def test_a_move_keeps_the_policies_of_the_group(cloud):
    """This also holds after the unbind: the server is still a member."""
    bound = server_group(cloud)
    group = planned(cloud, 2, [{'type': 'anti-affinity', 'level': 'rack'}])
    bind(cloud, group, 'node', bound)
    servers = [send(cloud, octavia, f'a-{number}', 'small', bound)
               for number in range(2)]
    hosts_of(cloud, servers)
    sibling = cloud.host_of(servers[1])
    for _ in range(2):
        away, near = places_to_move(cloud, servers[0], sibling)
        for host in HOSTS:
            (cloud.enable_compute if host.name in (away, near)
             else cloud.disable_compute)(host.name)
        # Nova itself would choose the host in the rack of the sibling.
        load = cloud.create_server('load', 'large', host=away, user=ADMIN)
        cloud.wait_for_status(load, 'ACTIVE')
        assert cloud.live_migrate(servers[0]) == away
        cloud.table.bindings.remove(group, [bound], cloud.clock())


def places_to_move(cloud, server, sibling):
    """A host in a rack without members, and a host in the sibling's rack."""
    racks = {host.name: host.rack for host in HOSTS}
    now = cloud.host_of(server)
    return next(name for name, rack in racks.items() if rack not in (
        racks[sibling], racks[now])), next(
            name for name, rack in racks.items()
            if rack == racks[sibling] and name != sibling)


def test_a_server_from_before_the_bind_is_no_member(cloud):
    bound = server_group(cloud)
    before = send(cloud, octavia, 'before', 'small', bound)
    (now,) = hosts_of(cloud, [before])
    group = planned(cloud, 2, [{'type': 'anti-affinity', 'level': 'rack'}])
    bind(cloud, group, 'node', bound)
    # A member could not move into the rack of another member.
    rack = cloud.row(group, 'node-1').place.location[-1]
    near = next(host.name for host in HOSTS
                if host.rack == rack and host.name != now)
    for host in HOSTS:
        if host.name != near:
            cloud.disable_compute(host.name)
    assert cloud.live_migrate(before) == near
    assert {row.state for row in cloud.table.members(group)} == {
        MemberState.PLANNED}


@pytest.mark.parametrize('hints, statements', [
    ({}, 0), ({'group': [str(uuid.uuid4())]}, 1)])
def test_a_request_with_a_server_group_needs_one_statement(
        cloud, hints, statements):
    """Other requests need none."""
    instance = str(uuid.uuid4())
    spec = cloud.request_spec('small', None, instance)
    spec.scheduler_hints = hints
    with counted() as calls:
        assert cloud.select_destinations(spec, [instance])[0]
    cloud.delete_consumer(instance)
    assert len([text for text in calls.sql
                if 'holistic_bindings' in text]) == statements


def test_a_failed_lookup_is_refused_or_yields(cloud, monkeypatch):
    def away(*_):
        raise TableError('placement table: gone')

    bound = server_group(cloud)
    monkeypatch.setattr(Bindings, 'pointed', away)
    assert 'placement table' in cloud.fault_of(
        send(cloud, octavia, 'a', 'small', bound)).lower()
    cloud.conf.set_override('failure_mode', 'yield', group='holistic')
    try:
        hosts_of(cloud, [send(cloud, octavia, 'b', 'small', bound)])
    finally:
        cloud.conf.clear_override('failure_mode', group='holistic')


@pytest.mark.parametrize('policy, rules, count, message', [
    ('affinity', {}, 2, 'on 2 hosts, and its policy affinity allows one'),
    ('anti-affinity', {'max_server_per_host': 2}, 13, None),
    ('anti-affinity', {}, 13,
     'on one host, and its policy anti-affinity allows 1'),
])
def test_a_plan_that_contradicts_the_policy_is_not_bound(
        cloud, policy, rules, count, message):
    policies = APART if count == 2 else [
        {'type': 'anti-affinity', 'max_per_domain': 2}]
    group = planned(cloud, count, policies)
    bound = server_group(cloud, policy, **rules)
    if message is None:
        assert bind(cloud, group, 'node', bound).path == 'node'
        return
    with pytest.raises(errors.BindingRefused, match=message):
        bind(cloud, group, 'node', bound)
    assert cloud.table.bindings.of_group(group) == ()


def test_existing_servers_of_the_server_group_count(cloud):
    bound = server_group(cloud, 'affinity')
    first = send(cloud, octavia, 'first', 'small', bound)
    (host,) = hosts_of(cloud, [first])
    racks = {each.name: each.rack for each in HOSTS}
    elsewhere = next(name for name in racks if name != host)
    away = planned(cloud, 1, [{
        'type': 'location', 'path': f'az1/{racks[elsewhere]}/{elsewhere}'}])
    with pytest.raises(errors.BindingRefused, match='allows one'):
        bind(cloud, away, 'node', bound)
    located_group = planned(cloud, 1, [
        {'type': 'location', 'path': f'az1/{racks[host]}/{host}'}])
    bind(cloud, located_group, 'node', bound)
    second = send(cloud, octavia, 'second', 'small', bound)
    assert hosts_of(cloud, [second]) == [host]


def test_only_groups_of_one_counted_member_can_be_bound(cloud):
    record = cloud.planner.create({'name': 'shop', 'members': [
        {'name': 'lb', 'flavor': 'small'}], 'groups': [
            {'name': 'db', 'members': [
                {'name': 'node', 'flavor': 'small', 'count': 2}]},
            {'name': 'web', 'members': [
                {'name': 'a', 'flavor': 'small'},
                {'name': 'b', 'flavor': 'small'}]}]},
        project_id=PROJECT, user_id=USER)
    group, bound = record.uuid, server_group(cloud)
    for path, error, message in [
            ('', exceptions.InvalidDocument, 'ambiguous'),
            ('web', exceptions.InvalidDocument, "'web/a' or 'web/b'"),
            ('db/node-0', exceptions.InvalidDocument, "use 'db/node'"),
            ('no', MemberUnknown, "no member 'no'")]:
        with pytest.raises(error, match=message):
            bind(cloud, group, path, bound)
    assert bind(cloud, group, 'db', bound).path == 'db/node'
    # A repeated request changes nothing.
    assert bind(cloud, group, 'db/node', bound) == bind(
        cloud, group, 'db', bound)
    with pytest.raises(errors.BindingRefused, match="member 'db/node' of"):
        bind(cloud, group, 'lb', bound)
    with pytest.raises(errors.BindingRefused, match='is bound to server'):
        bind(cloud, group, 'db', server_group(cloud))
    other_server_group = cloud.create_server_group('theirs', 'affinity',
                                                   project_id='x')
    for unknown in other_server_group, str(uuid.uuid4()):
        with pytest.raises(exceptions.InvalidDocument,
                           match='unknown server group'):
            bind(cloud, group, 'lb', unknown)

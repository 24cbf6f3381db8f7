# SPDX-License-Identifier: Apache-2.0
"""No server from outside the group is ever placed on a host of an exclusive
group."""

from nova.compute import vm_states
from nova import context
from nova import objects
import pytest

from nova_holistic.embedded.calls.servers import ADMIN, PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.embedded.waiting import EmbeddedCloudError
from nova_holistic.table.records import GroupStatus
from tests.functional.call_counts import counted

HOSTS = tuple(
    EmbeddedHost(f'{rack}-{number}', zone='az1', rack=rack, vcpus=4)
    for rack in ('r1', 'r2', 'r3') for number in (1, 2))
INSTANCE = '5e1d7c80-3b0f-4c53-9d55-1f6a3a0c2b11'
RACKS = {host.name: host.rack for host in HOSTS}


def alone(level, count=1):
    """A group that reserves its hosts or racks."""
    return {'name': 'alone',
            'policies': [{'type': 'exclusive', 'level': level}],
            'members': [{'name': 'node', 'flavor': 'small', 'count': count}]}


def others(count):
    """Servers on as many hosts in a group without policies."""
    return {'name': 'others', 'policies': [{'type': 'anti-affinity'}],
            'members': [{'name': 'web', 'flavor': 'small', 'count': count}]}


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        cloud.create_flavor('whole', 4, 4096, 10)
        yield cloud


@pytest.fixture
def cloud(running):
    """The cloud, which must be unchanged after the test."""
    yield running
    for name in ('host_grace', 'host_percent'):
        running.conf.clear_override(name, group='reconciler')
    running.enable_computes()
    running.clear()
    running.run_periodics()


def create(cloud, document):
    return cloud.planner.create(document, project_id=PROJECT, user_id=USER)


def planned(cloud, document):
    record = create(cloud, document)
    assert record.status == GroupStatus.PLANNED, record.reasons
    return record.uuid


def hosts_of(cloud, group):
    return [m.place.host for m in cloud.table.members(group)]


def domain(level, hosts):
    """Every host that shares a domain with one of these hosts."""
    if level == 'host':
        return set(hosts)
    return {name for name, rack in RACKS.items()
            if rack in {RACKS[host] for host in hosts}}


def build(cloud, group, member, flavor='small'):
    server = cloud.create_server(
        member, flavor, {'group': group, 'member': member})
    cloud.wait_for_status(server, 'ACTIVE')
    return server


def fault_of(cloud, server):
    return cloud.wait_for_status(server, 'ERROR')['fault']['message']


def other_server(cloud, flavor='whole', **arguments):
    """Create a server without a pointer; returns its UUID, and its host or
    None."""
    server = cloud.create_server('other-server', flavor, **arguments)
    try:
        cloud.wait_for_status(server, 'ACTIVE')
    except EmbeddedCloudError:
        assert 'No valid host' in fault_of(cloud, server)
        return server, None
    return server, cloud.host_of(server)


@pytest.mark.parametrize('level, built', [('host', False), ('rack', True)])
def test_foreign_servers_use_all_but_the_exclusive_hosts(cloud, level, built):
    group = planned(cloud, alone(level))
    if built:
        build(cloud, group, 'node')
    closed = domain(level, hosts_of(cloud, group))
    landed = [other_server(cloud)[1] for _ in range(len(HOSTS) - len(closed))]
    assert sorted(landed) == sorted(RACKS.keys() - closed)
    # The only free capacity is half of a host that the group reserves.
    assert other_server(cloud, 'small')[1] is None


def test_members_are_created_on_their_exclusive_hosts(cloud):
    group = planned(cloud, alone('rack', count=2))
    servers = [build(cloud, group, f'node-{n}') for n in range(2)]
    assert [cloud.host_of(s) for s in servers] == hosts_of(cloud, group)


@pytest.mark.parametrize('level', ['host', 'rack'])
def test_a_plan_of_another_group_avoids_exclusive_domains(cloud, level):
    closed = domain(level, hosts_of(cloud, planned(cloud, alone(level))))
    free = len(HOSTS) - len(closed)
    group = planned(cloud, others(free))
    assert set(hosts_of(cloud, group)) == RACKS.keys() - closed
    build(cloud, group, 'web-0')
    cloud.lifecycle.delete(group)
    refused = create(cloud, others(free + 1))
    assert refused.status == GroupStatus.UNPLACEABLE
    assert f'{len(closed)} of 6 hosts count as disabled: they are reserved ' \
        'for other groups' in [r['message'] for r in refused.reasons]


@pytest.mark.parametrize('level', ['host', 'rack'])
def test_an_exclusive_plan_avoids_domains_in_use(cloud, level):
    server, host = other_server(cloud, 'small', host='r1-1', user=ADMIN)
    held = others(1)
    held['members'][0]['location'] = 'az1/r2'
    taken = domain(level, [host, *hosts_of(cloud, planned(cloud, held))])
    free = RACKS.keys() - taken
    group = alone(level, count=len(free))
    group['policies'].append({'type': 'anti-affinity'})
    assert set(hosts_of(cloud, planned(cloud, group))) == free


def test_members_of_an_exclusive_group_may_share_a_host(cloud):
    group = planned(cloud, alone('host', count=2))
    server = build(cloud, group, 'node-0')
    row = cloud.table.members(group)[1]
    only = cloud.host_of(server)
    assert row.place.host != only
    # Five of six hosts are given up in the first pass.
    cloud.conf.set_override('host_grace', 0, group='reconciler')
    cloud.conf.set_override('host_percent', 100, group='reconciler')
    for host in RACKS.keys() - {only}:
        cloud.disable_compute(host)
    cloud.reconciler.reconcile()
    assert hosts_of(cloud, group) == [only, only]
    assert {str(m.state) for m in cloud.table.members(group)} == {
        'built', 'planned'}


def test_a_yielding_member_of_another_group_avoids_exclusive_hosts(cloud):
    """Its pointer is ignored in favour of stock Nova, so its plan has no
    effect."""
    group = planned(cloud, alone('rack'))
    closed = domain('rack', hosts_of(cloud, group))
    pointed = planned(cloud, others(1))
    cloud.lifecycle.release(pointed)
    for host in RACKS.keys() - closed:
        assert other_server(cloud, host=host, user=ADMIN)[1] == host
    cloud.conf.set_override('failure_mode', 'yield', group='holistic')
    try:
        server = cloud.create_server(
            'web', 'small', {'group': pointed, 'member': 'web-0'})
        assert 'No valid host' in fault_of(cloud, server)
    finally:
        cloud.conf.clear_override('failure_mode', group='holistic')


@pytest.mark.parametrize('move', ['live_migrate', 'migrate'])
def test_a_foreign_server_cannot_move_to_an_exclusive_host(cloud, move):
    server, source = other_server(cloud, 'small')
    group = planned(cloud, alone('rack'))
    closed = domain('rack', hosts_of(cloud, group))
    assert source not in closed
    target = next(host for host in RACKS if host not in {*closed, source})
    for host in RACKS.keys() - {*closed, source, target}:
        cloud.disable_compute(host)
    assert getattr(cloud, move)(server) == target
    cloud.disable_compute(source)
    with pytest.raises(EmbeddedCloudError, match='live-migration'):
        cloud.live_migrate(server)
    assert cloud.host_of(server) == target


@pytest.mark.parametrize('level', ['host', 'rack'])
def test_an_exclusive_member_cannot_move_to_foreign_servers(cloud, level):
    group = planned(cloud, alone(level))
    server = build(cloud, group, 'node')
    own = cloud.host_of(server)
    first, second = sorted(set(RACKS.values()) - {RACKS[own]})
    # This server fills its host, so the host is not a candidate.
    assert other_server(cloud, host=f'{first}-1', user=ADMIN)[1]
    cloud.disable_compute(own)
    cloud.disable_compute(f'{second}-1')
    cloud.disable_compute(f'{second}-2')
    mate = next(h for h in RACKS if RACKS[h] == RACKS[own] and h != own)
    cloud.disable_compute(mate)
    if level == 'host':
        assert cloud.live_migrate(server) == f'{first}-2'
        return
    with pytest.raises(EmbeddedCloudError, match='live-migration'):
        cloud.live_migrate(server)
    cloud.enable_compute(f'{second}-1')
    assert cloud.live_migrate(server) == f'{second}-1'


@pytest.mark.parametrize('change', [
    {'hidden': True}, {'vm_state': vm_states.SOFT_DELETED}])
def test_servers_that_nova_does_not_list_are_not_foreign(cloud, change):
    server = build(cloud, planned(cloud, alone('rack')), 'node')
    own = RACKS[cloud.host_of(server)]
    first, second = sorted(set(RACKS.values()) - {own})
    other, _ = other_server(cloud, host=f'{first}-1', user=ADMIN)
    for name in sorted(domain('rack', {cloud.host_of(server)})):
        cloud.disable_compute(name)
    for number in 1, 2:
        cloud.disable_compute(f'{second}-{number}')
    with pytest.raises(EmbeddedCloudError, match='live-migration'):
        cloud.live_migrate(server)
    before = changed(other, change)
    try:
        assert cloud.live_migrate(server) == f'{first}-2'
    finally:
        changed(other, before)


def changed(server, values):
    """Change attributes of a server in Nova's database; returns the values
    before."""
    instance = objects.Instance.get_by_uuid(
        context.get_admin_context(), server)
    before = {name: getattr(instance, name) for name in values}
    instance.update(values)
    instance.save()
    return before


def test_an_exclusive_member_avoids_hosts_planned_for_others(cloud):
    group = planned(cloud, alone('host'))
    server = build(cloud, group, 'node')
    own_host = cloud.host_of(server)
    taken = hosts_of(cloud, planned(cloud, others(4)))
    free = next(host for host in RACKS if host not in {own_host, *taken})
    assert cloud.live_migrate(server) == free


def test_exclusiveness_follows_a_member_that_moved(cloud):
    group = planned(cloud, alone('host'))
    server = build(cloud, group, 'node')
    before = cloud.host_of(server)
    now = cloud.live_migrate(server)
    assert now != before
    for host in RACKS.keys() - {before, now}:
        cloud.disable_compute(host)
    assert other_server(cloud)[1] == before
    assert other_server(cloud, 'small')[1] is None


def test_both_hosts_of_an_unconfirmed_resize_are_closed(cloud):
    """The user may revert the server to its source, which has free
    capacity."""
    group = planned(cloud, alone('host'))
    server = build(cloud, group, 'node')
    before = cloud.host_of(server)
    cloud.act(server, 'migrate')
    cloud.wait_for_status(server, 'VERIFY_RESIZE')
    now = cloud.host_of(server)
    assert now != before
    for host in before, now:
        assert other_server(
            cloud, 'small', host=host, user=ADMIN)[1] is None
    cloud.act(server, 'confirmResize')
    cloud.wait_for_status(server, 'ACTIVE')
    assert other_server(
        cloud, 'small', host=before, user=ADMIN)[1] == before
    assert other_server(cloud, 'small', host=now, user=ADMIN)[1] is None


@pytest.mark.parametrize('end', ['release', 'delete'])
def test_a_released_exclusive_domain_is_open_to_all(cloud, end):
    group = planned(cloud, alone('rack'))
    host, = hosts_of(cloud, group)
    for other in RACKS.keys() - {host}:
        cloud.disable_compute(other)
    assert other_server(cloud)[1] is None
    getattr(cloud.lifecycle, end)(group)
    assert other_server(cloud)[1] == host


def test_a_weighted_exclusive_policy_forbids_no_server(cloud):
    document = alone('rack')
    document['policies'][0]['weight'] = 5
    host, = hosts_of(cloud, planned(cloud, document))
    for other in RACKS.keys() - {host}:
        cloud.disable_compute(other)
    assert other_server(cloud, 'small')[1] == host


def test_members_outside_an_exclusive_subgroup_avoid_its_hosts(
        cloud):
    document = {'name': 'shop', 'groups': [alone('host')],
                'members': [{'name': 'web', 'flavor': 'small', 'count': 5}],
                'policies': [{'type': 'anti-affinity'}]}
    group = planned(cloud, document)
    servers = {m.member.path: m.place.host for m in cloud.table.members(group)}
    assert servers['alone/node-0'] not in {
        host for path, host in servers.items() if path != 'alone/node-0'}
    web = build(cloud, group, 'web-0')
    for host in RACKS.keys() - {servers['alone/node-0'], servers['web-0']}:
        cloud.disable_compute(host)
    with pytest.raises(EmbeddedCloudError, match='live-migration'):
        cloud.live_migrate(web)


def test_two_statements_are_sent_if_no_group_is_exclusive(cloud):
    """They read whether a group has adopted the server, and which groups are
    exclusive."""
    planned(cloud, others(3))
    with counted() as calls:
        assert other_server(cloud, 'small')[1]
    statements = [statement for statement in calls.sql if 'holistic_'
                  in statement]
    assert len(statements) == 2
    assert 'holistic_members' in statements[0]
    assert 'holistic_groups' in statements[1]


def test_a_create_does_not_read_all_host_mappings(cloud):
    """It reads the servers in the rack of a host, and not the whole cloud."""
    group = planned(cloud, alone('rack'))
    spec = cloud.request_spec(
        'small', {'group': group, 'member': 'node-0'}, INSTANCE)
    with counted() as calls:
        cloud.select_destinations(spec, [INSTANCE])
    statements = [each for each in calls.recorder.sent if 'FROM host_mappings'
                  in each.text]
    cloud.delete_consumer(INSTANCE)
    assert statements
    assert all(each.parameters for each in statements)


def asked_for(cloud, **arguments):
    """Statements of a successful create of a server outside the group, without
    those of Nova's own tables."""
    with counted() as calls:
        assert other_server(cloud, 'small', **arguments)[1]
    return [statement for statement in calls.sql
            if 'holistic_' in statement or 'aggregate' in statement]


def test_many_foreign_servers_cost_no_more_statements_than_one(cloud):
    """A create of one server also reads whether a group has adopted it."""
    planned(cloud, alone('host', count=2))
    # The first create fills the caches of the group.
    asked_for(cloud)
    one, many = asked_for(cloud), asked_for(cloud, min_count=3)
    adopted, *own_statements = [each for each in one if 'holistic_' in each]
    assert 'holistic_members' in adopted
    assert len(own_statements) == 1
    assert [each for each in many if 'holistic_' in each] == own_statements


def test_changed_levels_cost_the_same_for_any_member_count(cloud):
    """This holds for any number of members: one statement reads all their
    current locations."""
    found = []
    for count in 1, 3:
        group = planned(cloud, {**alone('host', count), 'policies': [
            {'type': 'exclusive', 'level': 'host'},
            {'type': 'anti-affinity'}]})
        cloud.table.update_group(
            group, [GroupStatus.PLANNED], levels=('row', 'host'))
        closed = set(hosts_of(cloud, group))
        assert len(closed) == count
        asked_for(cloud)
        found.append(asked_for(cloud))
        assert {cloud.host_of(server['id']) for server in cloud.servers()
                }.isdisjoint(closed)
        for server in cloud.servers():
            cloud.delete_server(server['id'])
        cloud.lifecycle.delete(group)
    few, many = found
    assert len(few) == len(many)
    assert any('aggregate_hosts.host IN' in each for each in many)


def test_current_locations_count_after_the_levels_changed(cloud):
    group = planned(cloud, alone('rack'))
    closed = domain('rack', hosts_of(cloud, group))
    cloud.table.update_group(
        group, [GroupStatus.PLANNED], levels=('row', 'host'))
    landed = {other_server(cloud)[1] for _ in range(len(HOSTS) - len(closed))}
    assert landed == RACKS.keys() - closed
    assert other_server(cloud, 'small')[1] is None
    build(cloud, group, 'node')

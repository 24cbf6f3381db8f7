# SPDX-License-Identifier: Apache-2.0
"""The reconciler reads the states of a group's servers from a real Nova."""

from nova import conf as nova_conf
import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost

RACKS = {'h1': 'r1', 'h2': 'r2', 'h3': 'r3'}
GROUP = {
    'name': 'shop',
    'policies': [{'type': 'anti-affinity', 'level': 'rack'}],
    'members': [{'name': name, 'flavor': 'small'} for name in ('web', 'db')],
}


@pytest.fixture(scope='module')
def running(lend_cloud):
    hosts = [EmbeddedHost(name, rack=rack, vcpus=4)
             for name, rack in RACKS.items()]
    options = {('topology', 'levels'): ['rack', 'host'],
               ('reconciler', 'grace'): 0}
    with lend_cloud(hosts, options=options) as cloud:
        cloud.create_flavor('small', 1, 512, 1)
        cloud.create_flavor('large', 2, 1024, 2)
        cloud.create_flavor('huge', 64, 512, 1)
        yield cloud


@pytest.fixture
def group(cloud):
    record = cloud.planner.create(GROUP, project_id=PROJECT, user_id=USER)
    assert record.status == 'planned', record.reasons
    return record.uuid


def build(cloud, group, member):
    server = cloud.create_server(
        member, 'small', {'group': group, 'member': member})
    cloud.wait_for_status(server, 'ACTIVE')
    return server


def member(cloud, group, path):
    return next(m for m in cloud.table.members(group)
                if m.member.path == path)


def held(cloud, group):
    return {m.member.path for m in cloud.table.members(group)
            if cloud.holds.exists(m.hold)}


def test_members_with_active_servers_become_built(cloud, group):
    planned = member(cloud, group, 'web').place
    build(cloud, group, 'web')
    assert cloud.reconciler.reconcile() == {'built': 1}
    row = member(cloud, group, 'web')
    assert (row.state, row.place, row.held) == ('built', planned, False)
    assert cloud.table.get_group(group).status == 'building'
    build(cloud, group, 'db')
    cloud.reconciler.reconcile()
    assert cloud.table.get_group(group).status == 'complete'
    assert held(cloud, group) == set()


def test_after_the_release_a_deleted_server_is_gone(cloud, group):
    """The member of a released group is not planned again."""
    server = build(cloud, group, 'web')
    cloud.reconciler.reconcile()
    cloud.lifecycle.release(group, ['db'])
    cloud.lifecycle.release(group)
    cloud.delete_server(server)
    assert cloud.reconciler.reconcile() == {'gone': 1}
    assert member(cloud, group, 'web').state == 'released'
    assert held(cloud, group) == set()


def test_the_place_of_a_migrated_server_is_taken_from_nova(cloud, group):
    server = build(cloud, group, 'web')
    cloud.reconciler.reconcile()
    taken = {m.place.host for m in cloud.table.members(group)}
    free = next(host for host in RACKS if host not in taken)
    cloud.live_migrate(server)
    assert cloud.host_of(server) == free
    assert cloud.reconciler.reconcile() == {'moved': 1}
    place = member(cloud, group, 'web').place
    assert (place.host, place.location) == (free, (RACKS[free],))
    assert place.provider == cloud.providers()[free]


SMALL = {'VCPU': 1, 'MEMORY_MB': 512, 'DISK_GB': 1}
LARGE = {'VCPU': 2, 'MEMORY_MB': 1024, 'DISK_GB': 2}


def resources(cloud, group, path):
    return dict(member(cloud, group, path).member.requirements.resources)


def passes(cloud, number=2):
    """Run passes of the reconciler; returns their corrections."""
    repaired = {}
    for _ in range(number):
        repaired.update(cloud.reconciler.reconcile())
    return repaired


def test_a_resized_server_has_its_new_resources(cloud, group):
    server = build(cloud, group, 'web')
    assert passes(cloud) == {'built': 1}
    assert resources(cloud, group, 'web') == SMALL
    host = cloud.resize(server, 'large')
    assert passes(cloud)['resized'] == 1
    row = member(cloud, group, 'web')
    assert (row.place.host, row.state) == (host, 'built')
    assert resources(cloud, group, 'web') == LARGE
    assert cloud.holds.has(server, row)
    assert passes(cloud) == {}
    cloud.resize(server, 'small')
    assert passes(cloud)['resized'] == 1
    assert resources(cloud, group, 'web') == SMALL


def test_a_resize_on_the_same_host(cloud, group):
    """A pass reads the new flavor although the server is on the same host."""
    server = build(cloud, group, 'web')
    passes(cloud)
    own = cloud.host_of(server)
    for host in RACKS.keys() - {own}:
        cloud.disable_compute(host)
    nova_conf.CONF.set_override('allow_resize_to_same_host', True)
    try:
        assert cloud.resize(server, 'large') == own
    finally:
        nova_conf.CONF.clear_override('allow_resize_to_same_host')
        cloud.enable_computes()
    assert passes(cloud).get('resized') == 1
    assert resources(cloud, group, 'web') == LARGE


def test_a_resize_counts_once_it_is_confirmed(cloud, group):
    server = build(cloud, group, 'web')
    passes(cloud)
    cloud.act(server, 'resize', flavorRef=cloud.flavor_id('large'))
    cloud.wait_for_status(server, 'VERIFY_RESIZE')
    assert 'resized' not in passes(cloud)
    assert resources(cloud, group, 'web') == SMALL
    cloud.act(server, 'revertResize')
    cloud.wait_for_status(server, 'ACTIVE')
    assert 'resized' not in passes(cloud)
    assert resources(cloud, group, 'web') == SMALL


def test_a_claim_of_a_server_in_error_is_undone(cloud, group):
    server = cloud.create_server('web', 'huge')
    cloud.wait_for_status(server, 'ERROR')
    row = cloud.table.claim(group, 'web', server, cloud.clock())
    cloud.holds.swap(row, server, PROJECT, USER)
    assert held(cloud, group) == {'db'}
    assert cloud.reconciler.reconcile() == {'unclaimed': 1}
    assert held(cloud, group) == {'web', 'db'}
    assert member(cloud, group, 'web').state == 'planned'
    # The member can be claimed again.
    build(cloud, group, 'web')


def set_state(cloud, server, state):
    """Set the state of a server as an administrator does."""
    cloud.compute.post(f'/servers/{server}/action',
                       json={'os-resetState': {'state': state}})


def test_a_server_in_error_after_it_ran_counts_as_built(cloud, group):
    server = build(cloud, group, 'web')
    set_state(cloud, server, 'error')
    assert cloud.reconciler.reconcile() == {'built': 1}
    row = member(cloud, group, 'web')
    assert (row.state, row.place.host) == ('built', cloud.host_of(server))
    assert cloud.reconciler.reconcile() == {}
    cloud.delete_server(server)
    assert cloud.reconciler.reconcile() == {'gone': 1}


def test_releasing_a_group_keeps_its_built_server(cloud, group):
    build(cloud, group, 'web')
    cloud.reconciler.reconcile()
    done = cloud.lifecycle.release(group)
    assert (done.released, done.kept) == (('db',), ('web',))
    assert held(cloud, group) == set()
    assert cloud.table.get_group(group).status == 'complete'

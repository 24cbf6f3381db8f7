# SPDX-License-Identifier: Apache-2.0
"""A compute service of a real Nova stops and returns."""

import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost

HOSTS = [EmbeddedHost(f'h{number}', rack='r1', vcpus=4)
         for number in range(1, 5)]
GROUP = {
    'name': 'shop', 'policies': [{'type': 'anti-affinity', 'level': 'host'}],
    'members': [{'name': 'node', 'count': 2, 'flavor': 'whole'}]}
GRACE = 600


@pytest.fixture(scope='module')
def running(lend_cloud):
    options = {('topology', 'levels'): ['rack', 'host'],
               ('reconciler', 'host_grace'): GRACE}
    with lend_cloud(HOSTS, options=options) as cloud:
        cloud.create_flavor('whole', 4, 512, 1)
        yield cloud


@pytest.fixture
def cloud(running):
    """The cloud, which must be unchanged after the test."""
    yield running
    running.conf.set_override('host_grace', GRACE, group='reconciler')
    running.clear()


@pytest.fixture
def group(cloud):
    record = cloud.planner.create(
        GROUP, project_id=PROJECT, user_id=USER, lease=0)
    assert record.status == 'planned', record.reasons
    return record.uuid


@pytest.fixture
def other_servers(cloud, group):
    """Consumers on all hosts on which the group holds nothing."""
    free = cloud.usages().keys() - cloud.used().keys()
    consumers = [cloud.add_consumer(host, {'VCPU': 1}) for host in free]
    assert len(consumers) == 2
    yield consumers
    for consumer in consumers:
        cloud.delete_consumer(consumer)


def build(cloud, group, member):
    """Create a server of the member; returns its host."""
    server = cloud.create_server(
        member, 'whole', {'group': group, 'member': member})
    cloud.wait_for_status(server, 'ACTIVE')
    return cloud.host_of(server)


def test_a_short_outage_drops_no_hold(cloud, group):
    before = cloud.row(group, 'node-0')
    cloud.stop_compute(before.place.host)
    assert cloud.reconciler.reconcile() == {}
    assert cloud.row(group, 'node-0') == before
    assert cloud.holds.has(before.hold, before)
    cloud.start_compute(before.place.host)
    assert cloud.reconciler.reconcile() == {}
    # Another server of the same size gets one of the other hosts.
    other_server = cloud.create_server('other-server', 'whole')
    cloud.wait_for_status(other_server, 'ACTIVE')
    assert cloud.host_of(other_server) != before.place.host
    assert build(cloud, group, 'node-0') == before.place.host


@pytest.mark.usefixtures('other_servers')
def test_a_member_returns_with_its_host_after_a_long_outage(cloud, group):
    before = cloud.row(group, 'node-0')
    cloud.conf.set_override('host_grace', 0, group='reconciler')
    cloud.stop_compute(before.place.host)
    assert cloud.reconciler.reconcile() == {'stranded': 1}
    assert cloud.row(group, 'node-0').state == 'lost'
    assert cloud.holds.exists(before.hold) is None
    cloud.start_compute(before.place.host)
    assert cloud.reconciler.reconcile() == {'restored': 1}
    assert build(cloud, group, 'node-0') == before.place.host

# SPDX-License-Identifier: Apache-2.0
"""Engines act on the versioned notifications of a real Nova.

No test runs a pass of the reconciler. Every change results from a notification
of Nova.
"""

import time

from nova.conf import CONF as NOVA
from nova import exception
from nova import rpc
import oslo_messaging as messaging
import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.messaging.transport import get_nova_notification_transport
from nova_holistic.service.notification_listener import NotificationListener
from nova_holistic.service.reported_changes import ReportedChanges
from nova_holistic.table.records import MemberState

HOSTS = tuple(EmbeddedHost(name, rack=rack, vcpus=4)
              for name, rack in (('h1', 'r1'), ('h2', 'r2'), ('h3', 'r3')))
GROUP = {'name': 'shop', 'members': [{'name': 'web', 'flavor': 'small'}]}
LONGEST_WAIT = 300.0
"""Timeout in seconds. A test that passes waits for a small part of it."""


@pytest.fixture
def cloud(lend_cloud):
    options = {('reconciler', 'host_grace'): 0,
               ('nova_notifications', 'host_interval'): 0}
    with lend_cloud(HOSTS, options=options) as cloud:
        cloud.create_flavor('small', 2, 512, 1)
        yield cloud


@pytest.fixture(autouse=True)
def listener(cloud, monkeypatch):
    """Nova sends notifications, and an engine's listener receives them."""
    NOVA.set_override('notification_format', 'versioned', 'notifications')
    monkeypatch.setattr(rpc, 'NOTIFIER', messaging.Notifier(
        rpc.NOTIFICATION_TRANSPORT, driver='messagingv2',
        topics=['versioned_notifications'],
        serializer=rpc.RequestContextSerializer(rpc.JsonPayloadSerializer())))
    conf = cloud.conf
    changes = ReportedChanges(conf, cloud.reconciler, cloud.inventory)
    found = NotificationListener(
        conf, get_nova_notification_transport(conf), changes)
    changes.start()
    found.start()
    assert found.wait_until_listening(LONGEST_WAIT)
    yield found
    found.stop(LONGEST_WAIT)
    changes.stop()
    NOVA.clear_override('notification_format', 'notifications')


@pytest.fixture
def group(cloud):
    record = cloud.planner.create(GROUP, project_id=PROJECT, user_id=USER)
    assert record.status == 'planned', record.reasons
    return record.uuid


def create(cloud, group):
    return cloud.create_server(
        'web', 'small', {'group': group, 'member': 'web'})


def wait_for(cloud, condition):
    until = time.monotonic() + LONGEST_WAIT
    while not condition():
        assert time.monotonic() < until, cloud.reconciler.reconcile()
        time.sleep(0.05)


def is_held(cloud, group):
    row = cloud.row(group, 'web')
    return ((row.state, row.held, row.instance_uuid)
            == (MemberState.PLANNED, True, None)
            and cloud.holds.has(row.hold, row))


def test_a_member_is_built_as_soon_as_its_server_is(cloud, group):
    server = create(cloud, group)
    wait_for(cloud, lambda: cloud.row(group, 'web').state == 'built')
    assert cloud.row(group, 'web').instance_uuid == server


def test_the_place_of_a_failed_build_is_held_again_at_once(
        cloud, group, monkeypatch):
    def no_spawn(*args, **kwargs):
        raise exception.NovaException('out of order')

    for service in cloud.computes.services.values():
        monkeypatch.setattr(service.manager.driver, 'spawn', no_spawn)
    cloud.wait_for_status(create(cloud, group), 'ERROR')
    wait_for(cloud, lambda: is_held(cloud, group))


def test_the_place_of_a_deleted_server_is_held_again_at_once(cloud, group):
    server = create(cloud, group)
    cloud.wait_for_status(server, 'ACTIVE')
    cloud.delete_server(server)
    wait_for(cloud, lambda: is_held(cloud, group))


def test_a_migrated_member_is_found_on_its_new_host_at_once(cloud, group):
    server = create(cloud, group)
    cloud.wait_for_status(server, 'ACTIVE')
    wait_for(cloud, lambda: cloud.row(group, 'web').state == 'built')
    before = cloud.row(group, 'web').place.host
    cloud.live_migrate(server)
    wait_for(cloud, lambda: cloud.row(group, 'web').place.host != before)
    assert cloud.row(group, 'web').place.host == cloud.host_of(server)


def test_a_planned_member_leaves_a_disabled_host_at_once(cloud, group):
    before = cloud.row(group, 'web').place.host
    cloud.disable_compute(before)
    wait_for(cloud, lambda: is_held(cloud, group)
             and cloud.row(group, 'web').place.host != before)


def test_servers_of_others_cost_one_query_and_no_request(cloud, group):
    """The engine does not send a request to Nova for a server without a
    member."""
    server = cloud.create_server('other', 'small')
    cloud.wait_for_status(server, 'ACTIVE')
    asked = []
    get = cloud.reconciler._reported._instances.get
    cloud.reconciler._reported._instances.get = lambda uuid: (
        asked.append(uuid), get(uuid))[1]
    assert cloud.reconciler.check_servers([server]) == frozenset()
    assert asked == []

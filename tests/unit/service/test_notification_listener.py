# SPDX-License-Identifier: Apache-2.0
"""Notifications as a service sends them, on a transport in this process."""

import time

from oslo_config import cfg
import oslo_messaging as messaging
import pytest

from nova_holistic import conf as options
from nova_holistic.messaging.transport import get_nova_notification_transport
from nova_holistic.service.notification_listener import NotificationListener

SERVER = '3f1a6f5e-2f6c-4f0e-9b3e-7a57f4d0a001'
LAST = '3f1a6f5e-2f6c-4f0e-9b3e-7a57f4d0a002'


class Recorder:
    def __init__(self):
        self.seen = []
        self.used = set()

    def use_changed(self, hosts):
        self.used |= hosts

    def server_changed(self, instance_uuid):
        self.seen.append(instance_uuid)

    def hosts_changed(self):
        self.seen.append('hosts')


@pytest.fixture(scope='module')
def conf():
    conf = cfg.ConfigOpts()
    options.register_opts(conf)
    conf([], project='nova-holistic')
    conf.set_override('transport_url', 'fake://', 'nova_notifications')
    conf.set_override('exchange', 'openstack', 'nova_notifications')
    return conf


@pytest.fixture(scope='module')
def listened(conf):
    """A notifier, and a recorder of the reports of a listener."""
    changes = Recorder()
    transport = get_nova_notification_transport(conf)
    listener = NotificationListener(conf, transport, changes)
    listener.start()
    assert listener.wait_until_listening(30)
    yield messaging.Notifier(
        transport, driver='messagingv2',
        topics=['versioned_notifications']), changes
    listener.stop(30)


@pytest.fixture
def received(listened):
    """Send a notification; returns the reports of the listener."""
    notifier, changes = listened

    def send(event_type, payload):
        del changes.seen[:]
        notifier.info({}, event_type, payload)
        notifier.info({}, 'instance.delete.end', data(uuid=LAST))
        until = time.monotonic() + 300
        while LAST not in changes.seen:
            assert time.monotonic() < until, changes.seen
            time.sleep(0.01)
        return changes.seen[:-1]

    return send


def test_hosts_whose_use_may_have_changed_are_reported(listened, received):
    _, changes = listened
    changes.used.clear()
    received('instance.delete.end', data(uuid=SERVER, host='cmp-1'))
    received('instance.update', data(uuid=SERVER, host='cmp-2'))
    received('instance.create.end', data(uuid=SERVER, host=None))
    assert changes.used == {'cmp-1'}


def data(**fields):
    return {'nova_object.data': fields}


def update(old, new):
    return 'instance.update', data(uuid=SERVER, state_update=data(
        old_state=old, state=new, new_task_state=None))


@pytest.mark.parametrize('event_type', [
    'instance.create.end', 'instance.create.error', 'instance.delete.end',
    'instance.live_migration_post.end', 'instance.resize_confirm.end',
    'instance.shelve_offload.end'])
def test_the_end_of_a_step_of_a_server_is_reported(received, event_type):
    assert received(event_type, data(uuid=SERVER)) == [SERVER]


@pytest.mark.parametrize('event_type', [
    'instance.create.start', 'instance.exists', 'keypair.create.end',
    'flavor.update', 'instance.action.end.soon'])
def test_other_notifications_are_not_reported(received, event_type):
    assert received(event_type, data(uuid=SERVER)) == []


def test_a_build_that_failed_in_a_conductor_is_reported(received):
    assert received('compute_task.build_instances.error',
                    data(instance_uuid=SERVER)) == [SERVER]


@pytest.mark.parametrize('old, new, reported', [
    ('building', 'error', [SERVER]), ('active', 'deleted', [SERVER]),
    ('building', 'building', []), ('building', 'active', []),
    ('error', 'error', []), ('error', 'deleted', [])])
def test_an_update_is_reported_if_the_server_ends(
        received, old, new, reported):
    assert received(*update(old, new)) == reported


@pytest.mark.parametrize('event_type', [
    'service.update', 'service.delete', 'aggregate.add_host.end',
    'aggregate.update_metadata.end'])
def test_changes_of_hosts_are_reported(received, event_type):
    assert received(event_type, data(binary='nova-compute')) == ['hosts']


def test_services_that_run_no_servers_are_not_reported(received):
    assert received(
        'service.update', data(binary='nova-conductor')) == []


@pytest.mark.parametrize('payload', [
    None, [], 'text', {}, {'nova_object.data': 7}, data(uuid=7), data(uuid=''),
    data(uuid='x' * 37)])
def test_a_payload_of_another_form_is_ignored(received, payload):
    assert received('instance.create.end', payload) == []

# SPDX-License-Identifier: Apache-2.0
"""A looked-up answer sends the same notifications as stock Nova."""

import contextlib
import threading
import time
import uuid

from nova.conf import CONF as NOVA
from nova import context as nova_context
from nova import objects
from nova.objects import base
from nova import rpc
from nova.scheduler import request_filter
import oslo_messaging as messaging
import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.scheduler import notification_sender
from nova_holistic.scheduler.notification_sender import NotificationSender

HOSTS = tuple(EmbeddedHost(f'cmp-{number}', zone='az1', rack=f'r{number}')
              for number in range(3))
SMALL = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10}
GROUP = {'name': 'shop', 'members': [
    {'name': 'web', 'flavor': 'small', 'count': 2}]}
PLAN = {'web-0': 'cmp-0', 'web-1': 'cmp-1'}
TOPICS = ('notifications', 'versioned_notifications')
START, END = 'scheduler.select_destinations.start', (
    'scheduler.select_destinations.end')
LONGEST_WAIT = 60.0
"""Timeout in seconds. A test that passes waits for a small part of it."""


class _Received:
    """An endpoint that keeps what it receives, without identifiers and
    dates."""

    def __init__(self, topic):
        self._topic = topic
        self.messages = []

    def info(self, context, publisher, event, payload, metadata):
        # The same topic has events of groups.
        if event.startswith('scheduler.'):
            # Nova creates another context when it sends a message.
            del context['timestamp']
            self.messages.append(
                (self._topic, 'info', publisher, event, context, payload))


class _Broker:
    """Lets drivers of notifications wait for the test."""

    def __init__(self):
        self.accepts = threading.Event()
        self.accepts.set()


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS, options={
            ('holistic', 'search_time_limit'): 0}) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        yield cloud


@pytest.fixture
def scheduler(cloud):
    return cloud.controllers.scheduler.manager


@pytest.fixture
def override():
    """A function that overrides an option of Nova until the end of the
    test."""
    with contextlib.ExitStack() as stack:
        def override(name, value, group=None):
            stack.callback(NOVA.set_override, name, (
                NOVA[group] if group else NOVA)[name], group)
            NOVA.set_override(name, value, group)
        yield override


@pytest.fixture
def notify(monkeypatch, scheduler, override):
    """A function that makes Nova send notifications in a format."""
    sender = NotificationSender()

    def notify(wanted):
        override('notification_format', wanted, 'notifications')
        override('driver', ['messagingv2'], 'oslo_messaging_notifications')
        serializer = rpc.RequestContextSerializer(rpc.JsonPayloadSerializer())
        for name, topic, without in (
                ('LEGACY_NOTIFIER', TOPICS[0], 'versioned'),
                ('NOTIFIER', TOPICS[1], 'unversioned')):
            monkeypatch.setattr(rpc, name, messaging.Notifier(
                rpc.NOTIFICATION_TRANSPORT, serializer=serializer,
                driver='noop' if wanted == without else 'messagingv2',
                topics=[topic]))
        monkeypatch.setattr(scheduler, 'notifier',
                            rpc.get_notifier('scheduler'))
        monkeypatch.setattr(scheduler, '_notifications', sender)

    yield notify
    sender.close()


@pytest.fixture
def broker(monkeypatch):
    """A message broker that accepts notifications while its event is set."""
    broker = _Broker()
    send = messaging.notify.messaging.MessagingDriver.notify

    def notify(*args, **kwargs):
        assert broker.accepts.wait(LONGEST_WAIT)
        send(*args, **kwargs)

    monkeypatch.setattr(
        messaging.notify.messaging.MessagingDriver, 'notify', notify)
    yield broker
    broker.accepts.set()


@contextlib.contextmanager
def received():
    """The messages on both topics, in their order on each topic."""
    endpoints = [_Received(topic) for topic in TOPICS]
    listeners = [messaging.get_notification_listener(
        rpc.NOTIFICATION_TRANSPORT, [messaging.Target(topic=topic)],
        [endpoint], executor='eventlet')
        for topic, endpoint in zip(TOPICS, endpoints)]
    for listener in listeners:
        listener.start()
    try:
        yield endpoints
    finally:
        for listener in listeners:
            listener.stop()
            listener.wait()


def messages(endpoints, number):
    """The messages, after that number has arrived."""
    until = time.monotonic() + LONGEST_WAIT
    while sum(len(each.messages) for each in endpoints) < number:
        assert time.monotonic() < until, endpoints
        time.sleep(0.01)
    found = [message for each in endpoints for message in each.messages]
    assert len(found) == number
    for each in endpoints:
        each.messages.clear()
    return found


def requested(cloud, group, servers, zone=None):
    """The request as it arrives at the scheduler."""
    spec = cloud.request_spec(
        'small', {'group': group, 'member': 'web'}, servers[0])
    spec.num_instances = len(servers)
    spec.availability_zone = zone
    spec.ignore_hosts = ['elsewhere']
    return spec


def copied(context, spec):
    serializer = base.NovaObjectSerializer()
    return serializer.deserialize_entity(
        context, serializer.serialize_entity(context, spec))


def events(found):
    return [(topic, event) for topic, _, _, event, _, _ in found]


def asked(cloud, scheduler, spec, servers, endpoints, number):
    """The messages of our scheduler and of stock Nova for one request."""
    context, found = nova_context.RequestContext(USER, PROJECT), []
    for ask in (scheduler.select_destinations,
                super(type(scheduler), scheduler).select_destinations):
        answer = ask(context, spec_obj=copied(context, spec),
                     instance_uuids=servers, return_objects=True,
                     return_alternates=True)
        assert len(answer) == len(servers)
        found.append(messages(endpoints, number))
        for server in servers:
            cloud.delete_consumer(server)
    return found


@pytest.mark.parametrize('wanted, expected', [
    ('unversioned', [(TOPICS[0], START), (TOPICS[0], END)]),
    ('versioned', [(TOPICS[1], START), (TOPICS[1], END)]),
    ('both', [(topic, event) for topic in TOPICS for event in (START, END)])])
@pytest.mark.parametrize('number', [1, 2])
def test_the_notifications_are_those_of_stock_nova(
        cloud, scheduler, notify, wanted, expected, number):
    notify(wanted)
    group = cloud.plan(GROUP, PLAN, resources=SMALL)
    servers = [str(uuid.uuid4()) for _ in range(number)]
    spec = requested(cloud, group, servers)
    with received() as endpoints:
        looked_up, stock = asked(
            cloud, scheduler, spec, servers, endpoints, len(expected))
    assert events(looked_up) == expected
    assert looked_up == stock


@pytest.mark.parametrize('number', [1, 2])
def test_a_default_zone_is_reported_as_by_stock_nova(
        cloud, scheduler, override, notify, number):
    """A search removes it from the request."""
    notify('both')
    override('default_schedule_zone', 'az1')
    group = cloud.plan(GROUP, PLAN, resources=SMALL)
    servers = [str(uuid.uuid4()) for _ in range(number)]
    spec = requested(cloud, group, servers, zone='az1')
    with received() as endpoints:
        looked_up, stock = (zones(found) for found in asked(
            cloud, scheduler, spec, servers, endpoints, 4))
    assert looked_up == stock == ['az1'] * 4


def test_a_changed_request_is_described_again(
        cloud, scheduler, notify, monkeypatch):
    def restrict(context, spec):
        spec.requested_destination = objects.Destination()

    notify('versioned')
    monkeypatch.setattr(request_filter, 'ALL_REQUEST_FILTERS', [
        *request_filter.ALL_REQUEST_FILTERS, restrict])
    group = cloud.plan(GROUP, PLAN, resources=SMALL)
    servers = [str(uuid.uuid4())]
    with received() as endpoints:
        looked_up, stock = asked(
            cloud, scheduler, requested(cloud, group, servers), servers,
            endpoints, 2)
    # Stock Nova calls the request filters before the first notification.
    assert looked_up[0] != stock[0]
    assert looked_up[1] == stock[1]


def zones(found):
    return [payload['nova_object.data']['availability_zone']
            if topic == TOPICS[1] else
            payload['request_spec']['instance_properties'][
                'availability_zone']
            for topic, *_, payload in found]


def test_a_refused_request_has_no_notification_at_its_end(
        cloud, scheduler, notify):
    notify('versioned')
    group = cloud.plan(GROUP, PLAN, resources=SMALL)
    server = str(uuid.uuid4())
    spec = requested(cloud, group, [server], zone='az2')
    with received() as endpoints:
        with pytest.raises(Exception, match='another availability zone'):
            cloud.select_destinations(spec, [server])
        assert events(messages(endpoints, 1)) == [(TOPICS[1], START)]


def test_an_answer_does_not_wait_for_the_broker(cloud, notify, broker):
    notify('both')
    group = cloud.plan(GROUP, PLAN, resources=SMALL)
    server = str(uuid.uuid4())
    spec = requested(cloud, group, [server])
    broker.accepts.clear()
    with received() as endpoints:
        answer, = cloud.select_destinations(spec, [server])
        assert answer[0].service_host == 'cmp-0'
        assert not any(each.messages for each in endpoints)
        broker.accepts.set()
        assert events(messages(endpoints, 4)) == [
            (topic, event) for topic in TOPICS for event in (START, END)]
    cloud.delete_consumer(server)


def test_a_stop_waits_until_the_broker_has_all_notifications(
        cloud, override, notify, broker):
    notify('versioned')
    # Nova's tests do not wait for the end of a service.
    override('manager_shutdown_timeout', LONGEST_WAIT)
    override('graceful_shutdown_timeout', LONGEST_WAIT)
    group = cloud.plan(GROUP, PLAN, resources=SMALL)
    server = str(uuid.uuid4())
    broker.accepts.clear()
    with received() as endpoints:
        cloud.select_destinations(requested(cloud, group, [server]), [server])
        stop = threading.Thread(target=cloud.controllers.scheduler.stop)
        stop.start()
        stop.join(0.2)
        assert stop.is_alive()
        broker.accepts.set()
        stop.join(LONGEST_WAIT)
        assert not stop.is_alive()
        assert events(messages(endpoints, 2)) == [
            (TOPICS[1], START), (TOPICS[1], END)]
    cloud.restart_scheduler('holistic')
    cloud.delete_consumer(server)


def test_beyond_the_limit_requests_send_their_own_notifications(
        cloud, notify, broker, monkeypatch):
    """Otherwise a slow message broker would receive the notifications of all
    requests one by one."""
    notify('versioned')
    monkeypatch.setattr(notification_sender, 'MAX_WAITING', 0)
    group = cloud.plan(GROUP, PLAN, resources=SMALL)
    server = str(uuid.uuid4())
    broker.accepts.clear()
    answers = []
    ask = threading.Thread(target=lambda: answers.append(
        cloud.select_destinations(requested(cloud, group, [server]),
                                  [server])))
    with received() as endpoints:
        ask.start()
        ask.join(0.5)
        assert not answers
        broker.accepts.set()
        ask.join(LONGEST_WAIT)
        assert len(answers) == 1
        assert events(messages(endpoints, 2)) == [
            (TOPICS[1], START), (TOPICS[1], END)]
    cloud.delete_consumer(server)

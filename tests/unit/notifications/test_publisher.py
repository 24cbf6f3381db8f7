# SPDX-License-Identifier: Apache-2.0
"""Notifications on a bus in this process, and on an unavailable bus."""

import json
import pathlib
import queue
import threading

from oslo_config import cfg
import oslo_messaging as messaging
import pytest

from nova_holistic import conf as options
from nova_holistic.messaging.context import RequestContext
from nova_holistic.messaging.transport import (
    BadTransport, get_notification_transport)
from nova_holistic.metrics import instruments
from nova_holistic.notifications import publisher
from nova_holistic.table.database import Database
from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.table import builders

ROOT = pathlib.Path(__file__).parents[3]
SAMPLE = ROOT / 'doc/source/admin/samples/member-state.json'
ENOUGH = 300


class Consumer:
    """Receives the messages of a topic."""

    filter_rule = messaging.NotificationFilter()

    def __init__(self):
        self.received = queue.Queue()

    def info(self, context, publisher_id, event_type, payload, metadata):
        self.received.put((context, publisher_id, event_type, payload))


@pytest.fixture
def conf(tmp_path):
    return configured(tmp_path, 'fake://')


def configured(directory, url):
    file = directory / 'holistic.conf'
    file.write_text(f'[DEFAULT]\ntransport_url = {url}\n')
    conf = cfg.ConfigOpts()
    options.register_opts(conf)
    conf([], default_config_files=[str(file)], default_config_dirs=[])
    return conf


@pytest.fixture
def table(tmp_path):
    return PlacementTable(Database(new_table(tmp_path), service='engine'))


def switch_on(conf):
    get_notification_transport(conf)
    conf.set_override('driver', ['messagingv2'],
                      group='oslo_messaging_notifications')


def listen(conf):
    consumer = Consumer()
    server = messaging.get_notification_listener(
        get_notification_transport(conf),
        [messaging.Target(topic=topic)
         for topic in conf.holistic_notifications.topics],
        [consumer], executor='threading')
    server.start()
    return server, consumer


def test_a_listener_receives_what_the_manual_shows(conf, table):
    conf.set_override('topics', ['changes'], group='holistic_notifications')
    switch_on(conf)
    server, consumer = listen(conf)
    try:
        publisher.follow(conf, table.database, 'engine')
        group = builders.planned(table, builders.a_group(
            uuid='6f1d8b3e-5c92-4a74-8b1d-0c9f2e7a5d31'), web=None)
        with RequestContext('req-2c9e64d1', 'blue', 'ann').logged():
            table.claim(group.uuid, 'db/web',
                        'b0a1c2d3-e4f5-4a6b-8c7d-9e8f7a6b5c4d', builders.NOON)
        found = [consumer.received.get(timeout=ENOUGH) for _ in range(4)]
    finally:
        server.stop()
        server.wait()
    assert [event_type for _, _, event_type, _ in found] == [
        'holistic.group.status', 'holistic.plan.written',
        'holistic.member.state', 'holistic.group.status']
    _, publisher_id, event_type, payload = found[2]
    assert publisher_id.startswith('nova-holistic-engine:')
    sample = json.loads(SAMPLE.read_text())
    assert sample['event_type'] == event_type
    assert sample['payload'] == payload


@pytest.mark.parametrize('driver', [[], ['noop']])
def test_nothing_is_sent_unless_a_driver_is_configured(conf, table, driver):
    get_notification_transport(conf)
    conf.set_override('driver', driver, group='oslo_messaging_notifications')
    assert publisher.follow(conf, table.database, 'engine') is None


def test_an_unknown_transport_is_an_error_at_the_start(
        tmp_path, table):
    conf = configured(tmp_path, 'nothing://')
    with pytest.raises(BadTransport, match='oslo_messaging_notifications'):
        publisher.follow(conf, table.database, 'engine')


@pytest.mark.parametrize('url', [
    'rabbit://user:s3cret@host:port/', 'rabbit://user:s3cret/pass@host:5672/',
    'rabbit://user:s3cret@[::1/'])
def test_an_invalid_url_is_an_error_at_the_start_without_its_password(
        tmp_path, table, url):
    conf = configured(tmp_path, url)
    with pytest.raises(BadTransport) as caught:
        publisher.follow(conf, table.database, 'engine')
    assert str(caught.value) == ('[oslo_messaging_notifications] '
                                 'transport_url is not a valid URL')


class Stuck:
    """A notifier whose bus does not respond."""

    def __init__(self):
        self.asked, self.free = threading.Event(), threading.Event()
        self.sent = []

    def info(self, context, event_type, payload):
        self.asked.set()
        assert self.free.wait(ENOUGH)
        self.sent.append(event_type)
        raise RuntimeError('the bus went away')


def test_an_unavailable_bus_delays_and_fails_nothing(table):
    notifier = Stuck()
    publishing = publisher.Publisher(notifier, waiting=2)
    table.database.listen(publishing)
    builders.planned(table)
    assert notifier.asked.wait(ENOUGH)
    groups = [builders.planned(table) for _ in range(9)]
    assert all(table.get_group(group.uuid) for group in groups)
    publishing.close(0.0)
    notifier.free.set()
    publishing.close(ENOUGH)
    # The message that was being sent, and those in the queue.
    assert notifier.sent == ['holistic.group.status'] * 3


def test_an_event_that_the_bus_does_not_receive_does_not_count_as_sent(
        tmp_path, table, caplog, monkeypatch):
    """oslo.messaging logs that it could not send an event, and does not
    report it."""
    conf, counted = configured(tmp_path, 'rabbit://127.0.0.1:1/'), []
    switch_on(conf)
    conf.set_override('retry', 0, group='oslo_messaging_notifications')
    monkeypatch.setattr(instruments.NOTIFICATIONS, 'add',
                        lambda result: counted.append(result))
    publishing = publisher.follow(conf, table.database, 'engine')
    table.create_group(builders.a_group())
    publishing.close(ENOUGH)
    assert 'Could not send notification' in caplog.text
    assert counted == ['handed-over']

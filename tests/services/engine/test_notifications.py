# SPDX-License-Identifier: Apache-2.0
"""The state changes of a group are sent over a real broker."""

import queue

import oslo_messaging as messaging

from nova_holistic.messaging.transport import get_notification_transport
from nova_holistic.notifications import publisher
from tests.services.background_processes import WAIT_SECONDS


class Consumer:
    """Receives the notifications about one group."""

    def __init__(self, group):
        self.filter_rule = messaging.NotificationFilter(
            event_type=r'^holistic\.')
        self.received = queue.Queue()
        self._group = group

    def info(self, context, publisher_id, event_type, payload, metadata):
        data = payload['nova_holistic_object.data']
        if data['group_uuid'] == self._group:
            self.received.put((publisher_id, event_type, data['to_state']))


def test_the_states_of_a_group_are_notified_in_order(rabbit_world):
    conf = rabbit_world.conf()
    # This registers the options that are set next.
    get_notification_transport(conf).cleanup()
    conf.set_override('transport_url', rabbit_world.transport_url)
    conf.set_override('driver', ['messagingv2'],
                      group='oslo_messaging_notifications')
    group = rabbit_world.ask()
    consumer = Consumer(group)
    transport = get_notification_transport(conf)
    listener = messaging.get_notification_listener(
        transport, [messaging.Target(topic=topic) for topic
                    in conf.holistic_notifications.topics],
        [consumer], executor='threading')
    listener.start()
    sender = publisher.follow(conf, rabbit_world.table.database, 'engine')
    try:
        rabbit_world.start()
        rabbit_world.settled(group)
        states = []
        while 'planned' not in states:
            sent_by, kind, state = consumer.received.get(timeout=WAIT_SECONDS)
            assert sent_by.startswith('nova-holistic-engine:')
            if kind == 'holistic.group.status':
                states.append(state)
        assert states == ['planned']
    finally:
        listener.stop()
        listener.wait()
        sender.close(WAIT_SECONDS)
        transport.cleanup()

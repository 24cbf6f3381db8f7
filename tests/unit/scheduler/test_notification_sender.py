# SPDX-License-Identifier: Apache-2.0
"""A thread sends notifications in their order, and none is lost at a stop."""

import threading

import pytest

from nova_holistic.scheduler import notification_sender
from nova_holistic.scheduler.notification_sender import NotificationSender

LONGEST_WAIT = 60.0
"""Timeout in seconds. A test that passes waits for a small part of it."""


@pytest.fixture
def broker():
    """An event that the test sets as soon as the message broker answers."""
    broker = threading.Event()
    yield broker
    broker.set()


def slow(broker, sent, number):
    """A call that sends a notification as soon as the broker answers."""
    def call():
        assert broker.wait(LONGEST_WAIT)
        sent.append((number, threading.current_thread()))
    return call


def numbers(sent):
    return [number for number, _ in sent]


def test_the_caller_does_not_wait_and_a_stop_waits_for_all(broker):
    sender, sent = NotificationSender(), []
    for number in range(20):
        sender.send(slow(broker, sent, number))
    assert sent == []
    stop = threading.Thread(target=sender.close)
    stop.start()
    stop.join(0.05)
    assert stop.is_alive()
    broker.set()
    stop.join(LONGEST_WAIT)
    assert numbers(sent) == list(range(20))
    (thread,) = {thread for _, thread in sent}
    assert thread is not threading.current_thread()
    assert not thread.is_alive()


def test_a_request_that_ends_after_the_stop_sends_after_all_others(broker):
    sender, sent = NotificationSender(), []
    sender.send(slow(broker, sent, 'start'))
    stop = threading.Thread(target=sender.close)
    stop.start()
    while sender.has_room():
        pass
    end = threading.Thread(
        target=sender.send, args=[slow(broker, sent, 'end')])
    end.start()
    broker.set()
    end.join(LONGEST_WAIT)
    assert numbers(sent) == ['start', 'end']
    assert sent[1][1] is end


def test_a_stop_does_not_wait_forever(broker, monkeypatch, caplog):
    monkeypatch.setattr(notification_sender, 'MAX_STOP_SECONDS', 0.05)
    sender, sent = NotificationSender(), []
    sender.send(slow(broker, sent, 1))
    sender.send(slow(broker, sent, 2))
    sender.close()
    assert '2 notifications are not sent' in caplog.text


def test_a_stop_without_notifications_is_immediate(caplog):
    sender = NotificationSender()
    sender.close()
    sender.close()
    assert not caplog.text
    assert not sender.has_room()


def test_the_number_of_unsent_notifications_is_limited(broker):
    sender, sent = NotificationSender(), []
    most = notification_sender.MAX_WAITING
    for number in range(most - 1):
        sender.send(slow(broker, sent, number))
    assert sender.has_room()
    # The thread may already wait with the first one.
    for number in range(2):
        sender.send(slow(broker, sent, most + number))
    assert not sender.has_room()
    broker.set()
    while not sender.has_room():
        pass
    sender.close()
    assert len(sent) == most + 1


def test_an_error_does_not_prevent_later_notifications(caplog):
    def fail():
        raise ValueError('the broker is out of order')

    sender, sent = NotificationSender(), []
    sender.send(fail)
    sender.send(lambda: sent.append(1))
    sender.close()
    assert sent == [1]
    assert 'the broker is out of order' in caplog.text

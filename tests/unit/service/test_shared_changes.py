# SPDX-License-Identifier: Apache-2.0
"""Engines inform each other of the notifications that they receive."""

from nova_holistic.messaging import payloads
from nova_holistic.service.shared_changes import (
    ChangesEndpoint, SharedChanges)


class Changes:
    """Records the calls of the methods that a listener or an endpoint uses."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        return lambda *arguments: self.calls.append((name, *arguments))


def shared():
    own, casts = Changes(), []
    return own, casts, SharedChanges(own, 'one', casts.append)


def test_many_changes_are_one_cast():
    own, casts, changes = shared()
    for host in 'cab':
        changes.use_changed([host, 'a'])
    changes.hosts_changed()
    assert changes.send()
    assert casts == [
        payloads.CloudChanges('one', ('a', 'b', 'c'), True)]
    assert [name for name, *_ in own.calls] == [
        'use_changed', 'use_changed', 'use_changed', 'hosts_changed']


def test_nothing_is_sent_twice():
    _, casts, changes = shared()
    changes.use_changed(['a'])
    assert changes.send()
    assert changes.send() is False
    assert len(casts) == 1


def test_a_changed_server_is_read_by_one_engine():
    own, casts, changes = shared()
    changes.server_changed('uuid')
    assert changes.send() is False
    assert own.calls == [('server_changed', 'uuid')]


def test_no_message_exceeds_the_maximum_number_of_hosts():
    _, casts, changes = shared()
    names = [f'{number:04}' for number in range(payloads.MAX_HOSTS + 1)]
    changes.use_changed(names)
    assert changes.send()
    assert [len(each.hosts) for each in casts] == [payloads.MAX_HOSTS, 1]
    assert [host for each in casts for host in each.hosts] == names


def receive(changes):
    inventory = Changes()
    ChangesEndpoint('one', inventory).cloud_changed(None, **changes)
    return inventory.calls


def test_an_engine_marks_hosts_that_another_engine_names():
    assert receive({'engine': 'two', 'hosts': ['a'], 'nova': True}) == [
        ('mark_hosts', ('a',)), ('mark_nova',)]
    assert receive({'engine': 'two', 'hosts': ['a'], 'nova': False}) == [
        ('mark_hosts', ('a',))]


def test_an_engine_ignores_its_own_message():
    assert receive({'engine': 'one', 'hosts': ['a'], 'nova': True}) == []


def test_a_bad_message_is_ignored():
    for hosts in 'a', [1], ['x' * 256], ['h'] * (payloads.MAX_HOSTS + 1):
        assert receive({'engine': 'two', 'hosts': hosts, 'nova': True}) == []
    assert receive({'engine': 'two', 'hosts': [], 'nova': 1}) == []
    assert receive({'engine': 'two', 'hosts': []}) == []

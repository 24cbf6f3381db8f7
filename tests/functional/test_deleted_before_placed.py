# SPDX-License-Identifier: Apache-2.0
"""A server that is deleted before its request reaches nova-scheduler gets no
place, and a server that is deleted before the conductor creates it in its cell
leaves a held place.

If the conductor has given up, no service waits for the scheduler's answer, and
none frees the allocation of the server.
"""

import threading

from nova.conductor import manager as conductor
import oslo_messaging
import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.table.records import MemberState

HOSTS = tuple(EmbeddedHost(name, vcpus=4) for name in ('h1', 'h2'))
GROUP = {'name': 'shop', 'members': [
    {'name': 'web', 'count': 2, 'flavor': 'small'}]}


@pytest.fixture
def cloud(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 512, 1)
        yield cloud


@pytest.fixture
def group(cloud):
    record = cloud.planner.create(GROUP, project_id=PROJECT, user_id=USER)
    assert record.status == 'planned', record.reasons
    return record.uuid


class SlowBroker:
    """A broker that delivers requests late to the scheduler and loses its
    answers.

    :ivar sent: a conductor has sent a request
    :ivar delivers: the request reaches the scheduler
    :ivar answered: the scheduler has answered
    """

    def __init__(self):
        self.sent, self.delivers, self.answered = (
            threading.Event() for _ in range(3))


class SlowConductor:
    """A conductor that is slow after the scheduler's answer.

    :ivar answered: the scheduler has answered
    :ivar continues: the conductor continues
    """

    def __init__(self):
        self.answered, self.continues = threading.Event(), threading.Event()


@pytest.fixture
def broker(monkeypatch):
    events = SlowBroker()
    schedule = conductor.ComputeTaskManager._schedule_instances

    def lose_answer(*args, **kwargs):
        events.sent.set()
        events.delivers.wait(60)
        try:
            schedule(*args, **kwargs)
        finally:
            events.answered.set()
        raise oslo_messaging.MessagingTimeout()

    monkeypatch.setattr(conductor.ComputeTaskManager, '_schedule_instances',
                        lose_answer)
    yield events
    events.delivers.set()


def states(cloud, group):
    return [(row.state, row.held, row.instance_uuid)
            for row in cloud.table.members(group)]


PLANNED = (MemberState.PLANNED, True, None)


def test_a_deleted_server_takes_no_place(cloud, group, broker):
    held = cloud.used()
    server = cloud.create_server(
        'web', 'small', {'group': group, 'member': 'web-0'})
    assert broker.sent.wait(60)
    cloud.delete_server(server)
    broker.delivers.set()
    assert broker.answered.wait(60)
    assert states(cloud, group) == [PLANNED, PLANNED]
    assert cloud.used() == held
    # This also holds after the group is deleted.
    cloud.lifecycle.delete(group)
    assert cloud.used() == {}


def test_another_server_of_the_same_request_takes_its_place(
        cloud, group, broker):
    cloud.create_server('web', 'small', {'group': group, 'member': 'web'},
                        min_count=2)
    assert broker.sent.wait(60)
    deleted, kept = (server['id'] for server in cloud.servers())
    cloud.delete_server(deleted)
    broker.delivers.set()
    assert broker.answered.wait(60)
    assert kept in {row.instance_uuid for row in cloud.table.members(group)}
    assert cloud.allocations(kept)
    cloud.wait_for_status(kept, 'ERROR')
    assert cloud.reconciler.reconcile()['unclaimed']


@pytest.fixture
def slow_conductor(monkeypatch):
    events = SlowConductor()
    schedule = conductor.ComputeTaskManager._schedule_instances

    def be_slow(*args, **kwargs):
        answer = schedule(*args, **kwargs)
        events.answered.set()
        events.continues.wait(60)
        return answer

    monkeypatch.setattr(conductor.ComputeTaskManager, '_schedule_instances',
                        be_slow)
    yield events
    events.continues.set()


def test_the_place_of_a_server_deleted_before_its_build_is_held_again(
        cloud, group, slow_conductor):
    """Nova keeps no record of this server, but frees its allocation."""
    held = cloud.used()
    server = cloud.create_server(
        'web', 'small', {'group': group, 'member': 'web-0'})
    assert slow_conductor.answered.wait(60)
    cloud.delete_server(server)
    assert cloud.allocations(server) == {}
    assert states(cloud, group)[0][0] == MemberState.CLAIMED
    assert cloud.reconciler.reconcile() == {'unclaimed': 1}
    assert states(cloud, group) == [PLANNED, PLANNED]
    assert cloud.used() == held

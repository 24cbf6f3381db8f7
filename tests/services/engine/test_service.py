# SPDX-License-Identifier: Apache-2.0
"""Engines and their clients in one process."""

from datetime import timedelta
import threading

from oslo_utils import timeutils
import pytest
import sqlalchemy as sa

from nova_holistic.exceptions import InvalidDocument
from nova_holistic.messaging import errors
from nova_holistic.reconcile.reconciler import Reconciler
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table import errors as table_errors
from nova_holistic.table.history.pages import Page
from nova_holistic.table.records import GroupStatus, PlanStatus, Task
from nova_holistic.table.schema.models import EventRow
from tests.services.background_processes import WAIT_SECONDS, wait_for
from tests.services.engine.world import ANN, HOSTS, pair

NOBODY = '5f0c8a52-8a1f-4f0e-9d55-1f6f6bb2f6a1'


def test_a_group_announced_by_message_is_planned(world):
    first = world.ask()
    engine = world.start(pickup_interval=3600.0)
    assert engine.listener.wait_until_listening(WAIT_SECONDS)
    # The engine polls the table only once, and that poll has ended.
    world.settled(first)
    group = world.ask()
    client = world.client()
    client.plan_group(ANN, group)
    settled = world.settled(group)
    assert settled.status == GroupStatus.PLANNED
    assert settled.lease_expires_at > timeutils.utcnow()
    assert len({HOSTS[m.place.host]
                for m in world.table.members(group)}) == 2
    world.assert_agreement()


def test_engines_receive_calls_of_a_service_with_an_exchange(world):
    """A service such as nova-api has its own exchange by default."""
    assert world.start().listener.wait_until_listening(WAIT_SECONDS)
    group = world.ask()
    world.settled(group)
    client = world.client(exchange='nova')
    client.extend(ANN, group, 7200)
    assert world.table.get_group(group).lease_expires_at > (
        timeutils.utcnow() + timedelta(seconds=7000))


def test_a_group_without_a_message_is_found_in_the_table(world):
    group = world.ask()
    world.start()
    assert world.settled(group).status == GroupStatus.PLANNED
    world.assert_agreement()


def test_an_unplaceable_group_reports_its_reasons(world):
    world.start()
    group = world.settled(world.ask(pair(count=5)))
    assert group.status == GroupStatus.UNPLACEABLE
    assert group.reasons
    assert world.table.members(group.uuid) == ()


@pytest.mark.parametrize('document, place', [
    ({'group': {'name': 'x', 'members': [{'name': 'a', 'flavor': 'huge'}]}},
     'members[0].flavor'),
    (pair() | {'group': pair()['group'] | {'policies': [
        {'type': 'anti-affinity', 'level': 'planet'}]}},
     'policies[0].level'),
])
def test_a_definition_error_is_reported_with_its_position(
        world, document, place):
    world.start()
    group = world.settled(world.ask(document))
    assert group.status == GroupStatus.ERROR
    assert place in group.reasons[0]['at']


def test_lost_members_are_replanned(world):
    world.start()
    group = world.ask()
    world.settled(group)
    lost = world.table.members(group)[0]
    world.holds.drop([lost.hold])
    world.table.change_state(lost.id, ['planned'], 'lost',
                             timeutils.utcnow(), held=False)
    assert world.table.tasks.request(
        group, NewTask(
            Task.REPLANNING, {}, [GroupStatus.PLANNED], 1), timeutils.utcnow())
    assert world.settled(group).reasons == ()
    assert {str(m.state) for m in world.table.members(group)} == {'planned'}
    world.assert_agreement()


def test_an_unplaceable_group_is_planned_on_a_later_request(world):
    consumers = [world.placement.allocate(provider, {'VCPU': 16})
                 for provider in world.hosts.values()]
    world.start()
    group = world.ask()
    assert world.settled(group).status == GroupStatus.UNPLACEABLE
    for consumer in consumers:
        world.placement.adapter.delete(f'/allocations/{consumer}')
    assert world.table.tasks.request(
        group, NewTask(
            Task.REPLANNING, {'lease': 60}, [GroupStatus.UNPLACEABLE]),
        timeutils.utcnow())
    settled = world.settled(group)
    assert (settled.status, settled.reasons) == (GroupStatus.PLANNED, ())
    world.assert_agreement()


def test_a_plan_holds_nothing(world):
    world.start()
    plans = {world.ask_plan(): 'planned',
             world.ask_plan(pair(count=5)): 'unplaceable'}
    for uuid, status in plans.items():
        world.client().plan(ANN, uuid)
        plan = wait_for('the plan', lambda: (  # noqa: B023
            plan if (plan := world.table.plans.get(uuid)).answer else None))
        assert (str(plan.status), plan.answer['status']) == (status, status)
    assert world.vcpus_used() == 0


def test_an_expired_lease_is_noticed_by_an_engine(world):
    for _ in range(2):
        world.start()
    group = world.ask(pending={'lease': 1})
    world.settled(group)
    wait_for('the release', lambda: (
        world.table.get_group(group).status == GroupStatus.RELEASED))
    wait_for('room again', lambda: world.vcpus_used() == 0)


def test_leases_expire_while_a_pass_does_not_end(
        world, monkeypatch):
    begun, end = threading.Event(), threading.Event()

    def reconcile(self, pace):
        begun.set()
        end.wait()
        return {}

    monkeypatch.setattr(Reconciler, 'reconcile', reconcile)
    world.start(reconcile_interval=0.4)
    try:
        assert begun.wait(WAIT_SECONDS)
        group = world.ask(pending={'lease': 1})
        wait_for('the release', lambda: (
            world.table.get_group(group).status == GroupStatus.RELEASED))
    finally:
        end.set()


def test_an_engine_deletes_old_plans(world):
    recent, old = world.ask_plan(), world.ask_plan()
    long_ago = timeutils.utcnow() - timedelta(days=3)
    world.table.plans.take(old, 'gone', long_ago, long_ago)
    world.table.plans.finish(old, 'gone', PlanStatus.PLANNED, {}, long_ago)
    world.start()
    wait_for('the end of the plan', lambda: (
        world.table.plans.get(old) is None))
    assert world.table.plans.get(recent)


def test_an_engine_deletes_old_events(world):
    group = world.ask()
    long_ago = timeutils.utcnow() - timedelta(days=91)
    with world.table.database.writer() as session:
        session.execute(sa.update(EventRow).values(at=long_ago))
    assert world.table.history.read(Page(group, 100))
    world.start(event_retention=90)
    # SQLite gives the IDs of deleted events to new events.
    wait_for('the end of the events', lambda: long_ago not in {
        each.at for each in world.table.history.read(Page(group, 100))})
    # Recent events of the engine are kept.
    assert world.settled(group).status == GroupStatus.PLANNED
    assert GroupStatus.PLANNED in {
        each.to_state for each in world.table.history.read(Page(group, 100))}


def test_release_extend_and_delete_work_by_message(world):
    world.start()
    client = world.client()
    group = world.ask()
    planned = world.settled(group)
    client.extend(ANN, group, 7200)
    assert world.table.get_group(
        group).lease_expires_at > planned.lease_expires_at
    outcome = client.release(ANN, group, ['node-0'])
    assert (outcome.released, outcome.kept) == (('node-0',), ())
    assert client.release(ANN, group).released == ('node-1',)
    client.delete(ANN, group)
    assert world.table.get_group(group) is None
    assert world.vcpus_used() == 0


def test_errors_arrive_with_their_class_and_message(world):
    world.start()
    client = world.client()
    with pytest.raises(table_errors.GroupUnknown) as caught:
        client.delete(ANN, NOBODY)
    assert type(caught.value) is table_errors.GroupUnknown
    assert str(caught.value) == f'there is no group {NOBODY}'
    group = world.ask()
    world.settled(group)
    with pytest.raises(table_errors.MemberUnknown, match='node-7'):
        client.release(ANN, group, ['node-7'])
    with pytest.raises(errors.HostUnknown) as caught:
        client.update_resource_stats(ANN, 'z9', {'heat': 1.0})
    assert str(caught.value) == "there is no host 'z9'"


def test_a_missing_engine_raises_engine_unreachable(world):
    with pytest.raises(errors.EngineUnreachable):
        world.client(timeout=1).delete(ANN, NOBODY)


def test_statistics_sent_by_message_are_stored(world):
    world.start()
    world.client().update_resource_stats(
        ANN, 'a1', {'cpu_temperature': 61.5, 'fans': 4})
    stored = world.table.statistics.since(
        timeutils.utcnow() - timedelta(minutes=1))
    assert stored == {'a1': {'cpu_temperature': 61.5, 'fans': 4.0}}


def test_the_engine_validates_its_messages(world):
    world.start()
    # Another kind of client could send such a message.
    send = world.client()._client.call
    for arguments, place in [
            ({'name': 'a1', 'stats': {'x': True}}, 'stats.x'),
            ({'name': 'a1', 'stats': {'x': 1}, 'more': 1}, 'more'),
            ({'name': 'a1'}, 'stats')]:
        answer = send(ANN, 'update_resource_stats', **arguments)
        assert answer['error']['class'].endswith('.InvalidDocument')
        assert answer['error']['fields']['place'] == place
    with pytest.raises(InvalidDocument):
        world.client().update_resource_stats(ANN, 'a1', {'x': 'hot'})
    assert not world.table.statistics.since(
        timeutils.utcnow() - timedelta(minutes=1))

# SPDX-License-Identifier: Apache-2.0
"""A group is held completely or not at all."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
import uuid

import pytest

from nova_holistic.engine.decision import snapshot_planner
from nova_holistic import exceptions
from nova_holistic.holds.errors import CapacityUnavailable, HoldsError
from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.messaging import errors
from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.errors import TableError
from nova_holistic.table.records import GroupStatus, Task
from tests.functional.engine.world import RACKS, SMALL, shop


class Failing:
    """A hold client whose request fails before or after it is carried out."""

    def __init__(self, holds, error, done_first=False):
        self._holds = holds
        self._error = error
        self._done_first = done_first

    def put(self, *args):
        if self._done_first:
            self._holds.put(*args)
        raise self._error

    def __getattr__(self, name):
        return getattr(self._holds, name)


def create_with(world, holds):
    return world.planner_with(world.table, holds).create(
        shop(), project_id='blue', user_id='ann')


def racks(world, group):
    return {m.member.path: m.place.location[0]
            for m in world.table.members(group.uuid)}


def test_all_members_of_a_planned_group_are_held(world):
    group = world.create()
    assert group.status == GroupStatus.PLANNED
    assert world.states(group) == {
        'web': 'planned', 'db/node-0': 'planned', 'db/node-1': 'planned'}
    placed = racks(world, group)
    assert {placed['db/node-0'], placed['db/node-1']} == {'a', 'b'}
    world.assert_agreement()


def test_the_table_remembers_what_the_scheduler_needs(world):
    group = world.create()
    assert group.levels == ('rack', 'host')
    for row in world.table.members(group.uuid):
        assert dict(row.member.requirements.resources) == SMALL
        assert row.place.provider == world.hosts[row.place.host]
        assert row.place.node == f'{row.place.host}.example.org'
        assert row.place.labels == (('power', row.place.host[-1]),)
        assert row.place.host not in {p.host for p in row.alternates}
    node = world.table.members(group.uuid)[1]
    # The other rack has the other node.
    assert {RACKS[p.host] for p in node.alternates} == {node.place.location[0]}


def test_a_lease_begins_when_the_group_is_planned(world):
    hour = world.now + timedelta(hours=1)
    assert world.create().lease_expires_at == hour
    minute = world.now + timedelta(minutes=1)
    assert world.create(lease=60).lease_expires_at == minute
    assert world.create(shop(1), lease=0).lease_expires_at is None


def test_a_dry_run_leaves_no_trace(world):
    plan = world.planner.plan(shop())
    assert isinstance(plan, Plan)
    assert set(plan.hosts()) == {'web', 'db/node-0', 'db/node-1'}
    assert world.table.list_groups() == ()
    assert world.vcpus_used() == 0
    assert isinstance(world.planner.plan(shop(nodes=3)), Unplaceable)


def test_a_group_that_does_not_fit_is_recorded_with_reasons(world):
    group = world.create(shop(nodes=3))
    assert group.status == GroupStatus.UNPLACEABLE
    assert group.reasons and all(r['message'] for r in group.reasons)
    assert world.vcpus_used() == 0


def test_two_groups_do_not_take_each_others_room(world):
    groups = [world.create() for _ in range(3)]
    assert [str(g.status) for g in groups] == [
        'planned', 'planned', 'unplaceable']
    assert world.vcpus_used() == 6
    world.assert_agreement()


def test_the_planner_retries_when_capacity_was_taken(world):
    def other_server(number):
        if number == 1:
            for provider in (world.hosts['a1'], world.hosts['b1']):
                world.placement.allocate(provider, {'VCPU': 2})

    world.inventory.stale = other_server
    # Each rack has only one host left, with capacity for two.
    group = world.create()
    if world.inventory.taken == 1:
        pytest.fail('the first plan did not need a room that was taken')
    assert group.status == GroupStatus.PLANNED
    assert {m.place.host for m in world.table.members(group.uuid)} == {
        'a2', 'b2'}
    assert world.vcpus_used() == 4 + 3


def test_concurrent_planners_never_exceed_the_capacity(world):
    # The cloud has capacity for eight small servers. Four groups need three
    # each.
    with ThreadPoolExecutor(4) as pool:
        groups = list(pool.map(lambda _: world.create(), range(4)))
    assert sorted(str(g.status) for g in groups) == [
        'planned', 'planned', 'unplaceable', 'unplaceable']
    assert world.vcpus_used() == 6
    world.assert_agreement()


def test_capacity_gone_on_every_attempt_is_an_error(world):
    refusing = Failing(world.holds, CapacityUnavailable('no room'))
    group = create_with(world, refusing)
    assert world.inventory.taken == world.conf.planner.attempts
    assert group.status == GroupStatus.ERROR
    assert 'no room' in group.reasons[0]['message']
    world.assert_agreement()


@pytest.mark.parametrize('done_first', [True, False])
def test_a_placement_failure_leaves_nothing_held(
        world, done_first):
    silent = Failing(world.holds, HoldsError('timed out'), done_first)
    group = create_with(world, silent)
    assert group.status == GroupStatus.ERROR
    (reason,) = group.reasons
    assert (reason['at'], reason['message']) == ('', 'timed out')
    assert 'timed out' not in reason['public']
    assert world.vcpus_used() == 0
    world.assert_agreement()


def test_a_group_whose_hosts_cannot_be_read_holds_nothing(world):
    """Nova does not respond to the engine. When it responds again, the group
    is planned."""
    def silent(number):
        raise ServiceFailed('nova', '/os-hypervisors', 'no answer')

    world.inventory.stale = silent
    group = world.create()
    assert group.status == GroupStatus.ERROR
    (reason,) = group.reasons
    assert 'no answer' in reason['message']
    assert 'no answer' not in reason['public']
    assert world.vcpus_used() == 0
    world.inventory.stale = lambda number: None
    assert world.reconciler.reconcile() == {}
    assert world.table.get_group(group.uuid).status == GroupStatus.ERROR
    assert world.table.tasks.request(
        group.uuid, NewTask(
            Task.PLANNING, {}, [GroupStatus.ERROR]), world.clock())
    world.planner.perform(world.table.tasks.take(
        group.uuid, 'engine-1', world.clock(), world.clock()))
    assert world.table.get_group(group.uuid).status == GroupStatus.PLANNED
    world.assert_agreement()


def test_an_unexpected_error_is_raised_and_leaves_nothing_held(world):
    broken = Failing(world.holds, ZeroDivisionError('oops'), done_first=True)
    with pytest.raises(ZeroDivisionError):
        create_with(world, broken)
    assert [g.status for g in world.table.list_groups()] == [
        GroupStatus.ERROR]
    assert world.vcpus_used() == 0


def test_a_table_that_fails_after_the_put_leaves_nothing_held(world):
    class Table:
        """A table that cannot write the status planned."""

        def update_group(self, *args, **changes):
            if changes.get('status') == GroupStatus.PLANNED:
                raise TableError('no answer')
            return world.table.update_group(*args, **changes)

        def __getattr__(self, name):
            return getattr(world.table, name)

    with pytest.raises(TableError):
        world.planner_with(Table(), world.holds).create(
            shop(), project_id='blue', user_id='ann')
    assert world.vcpus_used() == 0
    world.assert_agreement()


def test_a_plan_that_breaks_a_policy_is_never_held(world, monkeypatch):
    lenient = shop()
    lenient['group']['groups'][0]['policies'] = [
        {'type': 'affinity', 'level': 'rack'}]
    wrong = world.planner.plan(lenient)
    # No existing solver makes the mistake that this check detects.
    monkeypatch.setattr(snapshot_planner, 'solve', lambda *args,
                        **kwargs: wrong)
    group = world.create()
    assert group.status == GroupStatus.ERROR
    assert 'anti-affinity' in group.reasons[0]['at']
    assert world.table.members(group.uuid) == ()
    assert world.vcpus_used() == 0


def test_creating_twice_with_one_uuid_gives_one_group(world):
    chosen = str(uuid.uuid4())
    first = world.create(uuid=chosen)
    world.wait(10)
    assert world.create(uuid=chosen) == first
    assert world.vcpus_used() == 3
    assert len(world.table.list_groups()) == 1


def test_a_uuid_of_another_group_or_project_is_refused(world):
    chosen = str(uuid.uuid4())
    world.create(uuid=chosen)
    with pytest.raises(errors.GroupExists):
        world.create(shop(1), uuid=chosen)
    with pytest.raises(errors.GroupExists):
        world.create(uuid=chosen, project_id='red')


def unused(**keys):
    """A nested group without a replica inside another group."""
    return [{'name': 'db', 'members': [{'name': 'node', 'resources': SMALL}],
             'groups': [{'name': 'more', 'members': [
                 {'name': 'node', 'resources': SMALL}],
                 'count': {'min': 0, 'desired': 0, 'max': 2}, **keys}]}]


@pytest.mark.parametrize('key, value, place', [
    ('members', [{'name': 'web', 'flavor': 'm1.none'}], 'members[0].flavor'),
    ('members', [{'name': 'web', 'count': 0, 'resources': SMALL}],
     'members[0].count'),
    ('policies', [{'type': 'affinity', 'level': 'moon'}],
     'policies[0].level'),
    ('groups', unused(members=[{'name': 'web', 'flavor': 'm1.none'}]),
     'groups[0].groups[0].members[0].flavor'),
    ('groups', unused(policies=[{'type': 'affinity', 'level': 'moon'}]),
     'groups[0].groups[0].policies[0].level'),
])
def test_an_invalid_document_names_its_position_and_is_not_stored(
        world, key, value, place):
    document = shop()
    document['group'][key] = value
    with pytest.raises(exceptions.InvalidDocument) as caught:
        world.create(document)
    assert caught.value.place == place
    assert world.table.list_groups() == ()
    with pytest.raises(exceptions.InvalidDocument) as planned:
        world.planner.plan(document)
    assert (planned.value.place, str(planned.value)) == (
        place, str(caught.value))


def test_an_unknown_objective_is_refused_before_anything_is_written(world):
    with pytest.raises(exceptions.UnknownPlugin):
        world.create(objective='cheapest')
    assert world.table.list_groups() == ()

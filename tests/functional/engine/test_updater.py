# SPDX-License-Identifier: Apache-2.0
"""A revised definition: who has a server stays, and the rest as it can."""

import contextlib
import copy
import itertools
import uuid

import pytest

from nova_holistic.engine import errors
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds.errors import HoldsError
from nova_holistic.table.errors import MemberUnknown, TableError
from nova_holistic.table.records import GroupStatus, MemberState, Task
from tests.functional.engine.mortal import Death, Life, Mortal
from tests.functional.engine.world import RACKS, shop, SMALL

LARGE = {'VCPU': 2, 'MEMORY_MB': 512}
SETTLED = tuple(s for s in GroupStatus if s != GroupStatus.PLANNING)


def revised(*, policies=None, top=None, web=SMALL, node=SMALL, **keys):
    """The shop, with other rules, other members or other sizes."""
    document = copy.deepcopy(shop(**keys)['group'])
    document['members'][0]['resources'] = web
    database = document['groups'][0]
    database['members'][0]['resources'] = node
    if policies is not None:
        database['policies'] = policies
    if top is not None:
        document['policies'] = top
    return document


def ask(world, group, document, **pending):
    assert world.table.tasks.ask(
        group.uuid, Task.UPDATING, {'document': document, **pending},
        SETTLED, None, world.now)


def take(world, group):
    """Another engine has the task; the one before is dead."""
    world.wait(60)
    return world.table.tasks.take(
        group.uuid, str(uuid.uuid4()), world.now, world.now)


def update(world, group, document, planner=None, **pending):
    ask(world, group, document, **pending)
    (planner or world.planner).perform(take(world, group))
    return world.table.get_group(group.uuid)


def rows(world, group):
    return {m.member.path: m for m in world.table.members(group.uuid)}


def hosts(world, group):
    return {path: m.place.host for path, m in rows(world, group).items()}


def fill(world, *but):
    """Others take all room that is left, except on some hosts."""
    for host, provider in world.hosts.items():
        left = 2 - world.placement.used(provider)['VCPU']
        if left and host not in but:
            world.placement.allocate(provider, {'VCPU': left})


def held(world, group):
    """What Placement has for members of the group."""
    return sum(world.holds.exists(m.hold) is not None
               for m in rows(world, group).values())


def assert_settled(world, group, revision):
    record = world.table.get_group(group.uuid)
    assert (record.revision, record.task, record.pending, record.engine) == (
        revision, None, None, None)
    return record


def alternates(world, group):
    return {path: [place.host for place in m.alternates]
            for path, m in rows(world, group).items()}


def test_a_changed_policy_replaces_the_alternates(world):
    """Two servers that may be together may go on to one host."""
    group = world.create(revised(policies=[]))
    before = alternates(world, group)
    assert any(before.values())
    update(world, group, revised(policies=[]) | {'name': 'renamed'})
    assert alternates(world, group) == before
    update(world, group, revised(policies=[{'type': 'anti-affinity'}]))
    after = alternates(world, group)
    assert not set(after['db/node-0']) & set(after['db/node-1'])


@pytest.mark.parametrize('rule, kept', [
    ({'type': 'anti-affinity', 'max_per_domain': 2}, True),
    ({'type': 'anti-affinity', 'max_per_domain': '50%'}, False),
    ({'type': 'spread', 'level': 'host', 'max_skew': 2}, False)])
def test_alternates_are_cleared_if_a_new_member_changes_a_limit(
        world, rule, kept):
    group = world.create(revised(policies=[], top=[rule]))
    before = alternates(world, group)
    assert before['web']
    update(world, group, revised(policies=[], top=[rule]) | {'members': [
        {'name': 'cache', 'resources': SMALL},
        {'name': 'web', 'resources': SMALL}]})
    after = alternates(world, group)
    assert after['web'] == (before['web'] if kept else [])


def test_existing_members_stay_when_members_are_added(world):
    group = world.create()
    before = rows(world, group)
    record = update(world, group, revised() | {'members': [
        {'name': 'cache', 'resources': SMALL},
        {'name': 'web', 'resources': SMALL}]})
    assert_settled(world, group, 2)
    assert (record.status, record.reasons) == (GroupStatus.PLANNED, ())
    after = rows(world, group)
    assert list(after) == ['cache', 'web', 'db/node-0', 'db/node-1']
    assert {p: m for p, m in after.items() if p != 'cache'} == before
    world.assert_agreement()
    world.build(group, 'cache')
    world.assert_agreement()


def test_an_update_stores_the_new_name_document_and_objective(world):
    group = world.create()
    document = revised() | {'name': 'store'}
    record = update(world, group, document, objective='stack')
    assert (record.name, record.document, record.objective) == (
        'store', document, 'stack')


def test_removing_a_planned_member_frees_its_capacity(world):
    group = world.create()
    update(world, group, revised(nodes=1))
    assert list(rows(world, group)) == ['web', 'db/node-0']
    world.assert_agreement()
    with pytest.raises(MemberUnknown):
        world.claim(group, 'db/node-1')


def test_removing_a_built_member_keeps_its_server(world):
    group = world.create()
    row = world.build(group, 'db/node-1')
    record = update(world, group, revised(nodes=1))
    assert record.status == GroupStatus.PLANNED
    assert list(rows(world, group)) == ['web', 'db/node-0']
    assert world.holds.has(row.instance_uuid, row)
    assert world.vcpus_used() == 2 + 1


def test_an_update_moves_planned_members_and_not_built_ones(world):
    group = world.create(revised(policies=[
        {'type': 'affinity', 'level': 'rack'}]))
    built = world.build(group, 'db/node-0').place.host
    record = update(world, group, revised())
    assert record.reasons == ()
    after = hosts(world, group)
    assert after['db/node-0'] == built
    assert RACKS[after['db/node-1']] != RACKS[built]
    world.assert_agreement()


def test_an_update_moves_as_few_members_as_possible(world):
    """Four in one rack, of which the new rule allows two."""
    single = {'name': 'db',
              'policies': [{'type': 'affinity', 'level': 'rack'}],
              'members': [{'name': 'node', 'count': 4, 'resources': SMALL}]}
    group = world.create({'group': single})
    before = hosts(world, group)
    record = update(world, group, {**single, 'policies': [
        {'type': 'anti-affinity', 'level': 'rack', 'max_per_domain': 2}]})
    assert record.reasons == ()
    after = hosts(world, group)
    assert sum(before[path] != after[path] for path in before) == 2
    world.assert_agreement()


def test_a_new_preference_moves_no_member(world):
    group = world.create(revised(top=[{'type': 'affinity', 'level': 'host'}],
                                 nodes=1))
    before = hosts(world, group)
    update(world, group, revised(nodes=1, top=[
        {'type': 'anti-affinity', 'level': 'host', 'weight': 10}]))
    assert hosts(world, group) == before


def test_an_update_moves_other_members_if_the_changed_ones_cannot(world):
    """The database may be in rack a alone, where only the web server leaves
    room enough."""
    group = world.create(revised(nodes=1, node=LARGE, top=[
        {'type': 'anti-affinity', 'level': 'rack'}]))
    at = hosts(world, group)
    rack = RACKS[at['web']]
    fill(world, *(h for h, r in RACKS.items() if h == at['web']
                  or r != rack and h != at['db/node-0']))
    record = update(world, group, revised(
        nodes=1, node=LARGE, top=[],
        policies=[{'type': 'location', 'path': f'{rack}/{at["web"]}'}]))
    assert record.reasons == ()
    after = hosts(world, group)
    assert after['db/node-0'] == at['web'] != after['web']
    assert world.holds.has(rows(world, group)['web'].hold,
                           rows(world, group)['web'])


def test_an_unplaceable_update_changes_nothing(world):
    group = world.create()
    world.build(group, 'web')
    before, record = rows(world, group), world.table.get_group(group.uuid)
    refused = update(world, group, revised(nodes=3))
    assert_settled(world, group, 1)
    assert refused.reasons and all(r['message'] for r in refused.reasons)
    assert (refused.document, refused.status) == (
        record.document, record.status)
    assert rows(world, group) == before
    world.assert_agreement()


def test_an_update_that_built_servers_violate_is_refused(world):
    group = world.create()
    for path in ('db/node-0', 'db/node-1'):
        world.build(group, path)
    refused = update(world, group, revised(policies=[
        {'type': 'affinity', 'level': 'rack'}]))
    assert refused.reasons and refused.revision == 1
    world.assert_agreement()


def test_an_unknown_flavor_is_reported_with_its_position(world):
    group = world.create()
    document = revised()
    del document['members'][0]['resources']
    document['members'][0]['flavor'] = 'huge'
    refused = update(world, group, document)
    assert refused.reasons[0]['at'] == 'members[0].flavor'
    assert_settled(world, group, 1)
    world.assert_agreement()


def test_a_planned_member_with_more_resources_is_replanned(world):
    group = world.create()
    update(world, group, revised(web=LARGE))
    row = rows(world, group)['web']
    assert row.member.requirements.resources == LARGE
    assert world.holds.has(row.hold, row)
    assert world.vcpus_used() == 2 + 2


def test_the_resources_of_a_built_member_cannot_change(world):
    group = world.create()
    world.build(group, 'db/node-0')
    refused = update(world, group, revised(node=LARGE))
    assert [r['at'] for r in refused.reasons] == ['db/node-0']
    assert refused.revision == 1
    world.assert_agreement()


def test_an_update_plans_released_members_again(world):
    group = world.create()
    world.lifecycle.release(group.uuid)
    record = update(world, group, revised())
    assert record.status == GroupStatus.PLANNED
    assert record.lease_expires_at > world.now
    assert set(world.states(group).values()) == {'planned'}
    world.assert_agreement()
    world.build(group, 'web')


def test_an_unplaceable_group_is_planned_by_a_smaller_definition(world):
    group = world.create(shop(3))
    assert group.status == GroupStatus.UNPLACEABLE
    record = update(world, group, revised(nodes=2))
    assert (record.status, record.reasons) == (GroupStatus.PLANNED, ())
    assert record.lease_expires_at > world.now
    world.assert_agreement()


def test_adding_a_member_returns_a_complete_group_to_building(world):
    group = world.create()
    for path in rows(world, group):
        world.build(group, path)
    world.table.settle(group.uuid, world.now)
    assert update(world, group, revised() | {'members': [
        {'name': 'web', 'resources': SMALL},
        {'name': 'cache', 'resources': SMALL}]}).status == (
            GroupStatus.BUILDING)
    world.assert_agreement()


def test_an_update_places_a_lost_member_too(world):
    group = world.create()
    row = rows(world, group)['web']
    world.holds.drop([row.hold])
    world.table.change_state(row.id, [MemberState.PLANNED], MemberState.LOST,
                             world.now, held=False)
    update(world, group, revised(nodes=1))
    assert world.states(group) == {'web': 'planned', 'db/node-0': 'planned'}
    world.assert_agreement()


def test_a_new_member_can_use_the_capacity_of_a_removed_one(world):
    """The cloud is full; a member is replaced by another one."""
    group = world.create()
    fill(world)
    used = world.vcpus_used()
    document = revised()
    document['members'][0]['name'] = 'front'
    record = update(world, group, document)
    assert record.reasons == ()
    assert list(rows(world, group)) == ['front', 'db/node-0', 'db/node-1']
    assert world.vcpus_used() == used
    row = rows(world, group)['front']
    assert row.held and world.holds.has(row.hold, row)
    world.build(group, 'front')


def test_members_exchange_hosts_in_a_full_cloud(world):
    single = {'name': 'pair', 'members': [
        {'name': name, 'resources': LARGE, 'location': f'a/{host}'}
        for name, host in (('one', 'a1'), ('two', 'a2'))]}
    group = world.create({'group': single})
    fill(world)
    crossed = copy.deepcopy(single)
    for member, host in zip(crossed['members'], ('a2', 'a1')):
        member['location'] = f'a/{host}'
    record = update(world, group, crossed)
    assert record.reasons == ()
    assert hosts(world, group) == {'one': 'a2', 'two': 'a1'}
    assert held(world, group) == 2


def test_an_exclusive_group_can_be_updated_beside_its_own_servers(world):
    alone = {'name': 'alone', 'policies': [{'type': 'exclusive'}],
             'members': [{'name': 'node', 'count': 2, 'resources': SMALL}]}
    group = world.create({'group': alone})
    world.build(group, 'node-0')
    more = copy.deepcopy(alone)
    more['members'][0]['count'] = 3
    assert update(world, group, more).reasons == ()
    less = copy.deepcopy(alone)
    less['members'][0]['skip'] = [0]
    assert update(world, group, less).reasons == ()
    assert world.states(group) == {'node-1': 'planned'}


class Meanwhile:
    """Something happens just before a call to Placement."""

    def __init__(self, holds, call, event):
        self._holds = holds
        self._call = call
        self._events = iter([event])

    def __getattr__(self, name):
        method = getattr(self._holds, name)

        def call(*args):
            if name == self._call:
                next(self._events, lambda: None)()
            return method(*args)

        return call


@pytest.mark.parametrize('full', [False, True])
def test_a_claim_of_a_member_that_an_update_removes_is_kept(world, full):
    """In one step or in two: the claim was first."""
    group = world.create(revised(nodes=1))
    built = []
    if full:
        fill(world)
    document = revised(nodes=1)
    document['members'].append({'name': 'front', 'resources': SMALL})
    del document['members'][0]

    def claimed():
        built.append(world.build(group, 'web'))

    planner = world.planner_with(
        world.table, Meanwhile(world.holds, 'put', claimed))
    record = update(world, group, document, planner)
    (row,) = built
    assert world.holds.has(row.instance_uuid, row)
    assert (record.reasons == ()) is not full
    if full:
        assert world.states(group)['web'] == 'built'
    assert_settled(world, group, 1 if full else 2)
    assert held(world, group) == sum(
        state == 'planned' for state in world.states(group).values())


def test_a_claim_of_members_that_must_move_refuses_the_update(world):
    group = world.create(revised(nodes=2, policies=[
        {'type': 'affinity', 'level': 'host'}]))
    at = hosts(world, group)['db/node-0']
    planner = world.planner_with(world.table, Meanwhile(
        world.holds, 'put', lambda: [
            world.build(group, path) for path in rows(world, group)
            if path.startswith('db')]))
    refused = update(world, group, revised(), planner)
    assert refused.reasons and refused.revision == 1
    assert {hosts(world, group)[f'db/node-{n}'] for n in (0, 1)} == {at}
    world.assert_agreement()


def test_members_released_during_an_update_stay_released(world):
    group = world.create()
    planner = world.planner_with(world.table, Meanwhile(
        world.holds, 'put', lambda: world.lifecycle.release(
            group.uuid, ['db/node-1'])))
    document = revised(web=LARGE)
    update(world, group, document, planner)
    assert world.states(group) == {
        'web': 'planned', 'db/node-0': 'planned', 'db/node-1': 'released'}
    assert_settled(world, group, 2)


def test_a_group_deleted_during_an_update_holds_nothing(world):
    group = world.create()
    planner = world.planner_with(world.table, Meanwhile(
        world.holds, 'put', lambda: world.lifecycle.delete(group.uuid)))
    ask(world, group, revised(web=LARGE))
    with pytest.raises(errors.OwnershipLost):
        planner.perform(take(world, group))
    assert world.vcpus_used() == 0


def test_a_group_deleted_after_its_engine_died_holds_nothing(world):
    group = world.create()

    def die():
        raise Death

    for call in ('put', 'drop'):
        planner = world.planner_with(
            world.table, Meanwhile(world.holds, call, die))
        group = world.create()
        ask(world, group, revised(web=LARGE))
        record = take(world, group)
        with pytest.raises(Death):
            planner.perform(record)
        world.lifecycle.delete(group.uuid)
        assert world.vcpus_used() == 3


class Silent:
    """A Placement that does not answer some calls."""

    def __init__(self, holds, *calls):
        self._holds = holds
        self._calls = calls

    def __getattr__(self, name):
        def fail(*args):
            raise HoldsError('timed out')

        return fail if name in self._calls else getattr(self._holds, name)


def test_a_placement_failure_refuses_the_update(world):
    group = world.create()
    silent = world.planner_with(world.table, Silent(world.holds, 'put'))
    refused = update(world, group, revised(web=LARGE), silent)
    assert 'timed out' in refused.reasons[0]['message']
    assert_settled(world, group, 1)
    world.assert_agreement()


@pytest.mark.parametrize('calls', [('put', 'drop'), ('drop',)])
def test_the_next_engine_drops_holds_that_could_not_be_dropped(
        world, calls):
    group = world.create()
    silent = world.planner_with(world.table, Silent(world.holds, *calls))
    ask(world, group, revised(web=LARGE))
    with pytest.raises(errors.HoldsLeft):
        silent.perform(take(world, group))
    world.planner.perform(take(world, group))
    assert_settled(world, group, 2)
    assert held(world, group) == 3
    assert world.vcpus_used() == 4


def test_giving_up_an_update_keeps_the_previous_plan(world):
    group = world.create()
    ask(world, group, revised(web=LARGE))
    silent = world.planner_with(
        world.table, Silent(world.holds, 'drop', 'put'))
    with pytest.raises(errors.HoldsLeft):
        silent.perform(take(world, group))
    world.planner.give_up(take(world, group), 'tried too often')
    record = assert_settled(world, group, 1)
    assert record.reasons[0]['message'] == 'tried too often'
    world.assert_agreement()


def test_a_replaced_engine_changes_nothing(world):
    group = world.create()
    other = []
    planner = world.planner_with(world.table, Meanwhile(
        world.holds, 'put', lambda: other.append(take(world, group))))
    ask(world, group, revised(web=LARGE))
    with pytest.raises(errors.OwnershipLost):
        planner.perform(take(world, group))
    world.assert_agreement()
    world.planner.perform(other[0])
    assert_settled(world, group, 2)
    assert world.vcpus_used() == 4


def test_an_exchange_without_an_answer_is_undone(world):
    group = world.create()
    fill(world)
    before, used = rows(world, group), world.vcpus_used()

    class Unanswered:
        def exchange(self, emptied, filled, *owner):
            world.holds.exchange(emptied, filled, *owner)
            if emptied[0] in {m.hold for m in before.values()}:
                raise HoldsError('timed out')

        def __getattr__(self, name):
            return getattr(world.holds, name)

    refused = update(
        world, group, revised() | {'members': [
            {'name': 'front', 'resources': SMALL}]},
        world.planner_with(world.table, Unanswered()))
    assert 'timed out' in refused.reasons[0]['message']
    assert_settled(world, group, 1)
    assert {path: (m.id, m.place, m.hold, m.held) for path, m
            in rows(world, group).items()} == {
                path: (m.id, m.place, m.hold, m.held)
                for path, m in before.items()}
    assert set(world.states(group).values()) == {'planned'}
    assert held(world, group) == 3
    assert world.vcpus_used() == used


def test_a_revision_written_without_an_answer_is_kept(world):
    """The database has written it, and nobody was told."""
    group = world.create()
    lost = []

    class Unanswered:
        def __init__(self, thing):
            self._thing = thing

        def __getattr__(self, name):
            found = getattr(self._thing, name)
            return Unanswered(found) if name == 'database' else found

        @contextlib.contextmanager
        def writer(self):
            with self._thing.writer() as session:
                yield session
            if lost:
                raise TableError(lost.pop())

    planner = world.planner_with(Unanswered(world.table), Meanwhile(
        world.holds, 'put', lambda: lost.append('gone away')))
    ask(world, group, revised() | {'members': [
        {'name': 'web', 'resources': SMALL},
        {'name': 'cache', 'resources': SMALL}]})
    with pytest.raises(TableError):
        planner.perform(take(world, group))
    assert not lost
    world.planner.perform(take(world, group))
    assert_settled(world, group, 2)
    world.assert_agreement()


SCENES = {
    # New room beside the old; a member moves, one goes and one comes.
    'beside': (lambda world: None, lambda: revised(
        nodes=1, web=LARGE) | {'groups': [
            *revised(nodes=1)['groups'],
            {'name': 'more', 'members': [
                {'name': 'new', 'resources': SMALL}]}]}),
    # The same room: one comes where another goes.
    'instead': (fill, lambda: revised(nodes=2) | {'members': [
        {'name': 'front', 'resources': SMALL}]}),
    # It cannot be.
    'refused': (lambda world: None, lambda: revised(nodes=3)),
}


@pytest.mark.parametrize('scene', SCENES)
def test_an_interrupted_update_is_finished_by_another_engine(world, scene):
    prepare, document = SCENES[scene]
    group = world.create()
    prepare(world)
    strangers = world.vcpus_used() - 3
    world.lifecycle.delete(group.uuid)
    for calls in itertools.count():
        group = world.create()
        life = Life(calls)
        planner = world.planner_with(
            Mortal(life, world.table),
            HoldClient(Mortal(life, world.placement.adapter)))
        ask(world, group, document())
        record = take(world, group)
        try:
            planner.perform(record)
        except Death:
            pass
        except TableError:
            pytest.fail('a dead engine does not complain')
        record = take(world, group)
        if record is not None:
            world.planner.perform(record)
        assert_settled(world, group, 1 if scene == 'refused' else 2)
        assert set(world.states(group).values()) == {'planned'}
        assert held(world, group) == len(rows(world, group))
        wanted = sum(m.member.requirements.resources['VCPU']
                     for m in rows(world, group).values())
        assert world.vcpus_used() == strangers + wanted
        world.lifecycle.delete(group.uuid)
        assert world.vcpus_used() == strangers
        if not life.over:
            assert calls > 5
            return

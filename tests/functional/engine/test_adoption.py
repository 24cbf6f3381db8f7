# SPDX-License-Identifier: Apache-2.0
"""Existing servers become members on their hosts, and nothing is allocated
twice."""

from dataclasses import replace
import uuid

import pytest

from nova_holistic.holds.errors import HoldsError
from nova_holistic.reconcile.instances import MoveView
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import GroupStatus, MemberState
from tests.functional.engine.adopting import (
    a_server, allocated, ask_for_group, create)
from tests.functional.engine.process_death import (
    CallBudget, KillableProxy, ProcessKilled)
from tests.functional.engine.updates import (
    hosts, Meanwhile, rows, take, update)
from tests.functional.engine.world import shop, SMALL

SPREAD = [{'type': 'anti-affinity', 'level': 'host'}]


def nodes(count=3, adopt=None, policies=SPREAD, **keys):
    return {'name': 'nodes', 'policies': policies,
            'members': [{'name': 'node', 'count': count,
                         'resources': SMALL, **keys}],
            **({'adopt': adopt} if adopt is not None else {})}


def on_one_host(world, count, **options):
    """A group of this many members. Two of them adopt servers on one host,
    which the policy does not permit."""
    servers = [a_server(world, 'a1') for _ in range(2)]
    return create(world, nodes(
        count, dict(zip(('node-0', 'node-1'), servers))), **options)


def test_a_new_group_plans_its_other_members_around_adopted_servers(world):
    server = a_server(world, 'a1')
    before = allocated(world, [server])
    record = create(world, nodes(adopt={'node-1': server}))
    assert (record.status, record.reasons) == (GroupStatus.BUILDING, ())
    members = rows(world, record)
    adopted = members['node-1']
    assert (adopted.state, adopted.instance_uuid, adopted.held) == (
        MemberState.BUILT, server, False)
    assert adopted.place.host == 'a1'
    assert list(members) == ['node-0', 'node-1', 'node-2']
    assert len(set(hosts(world, record).values())) == 3
    assert allocated(world, [server]) == before
    assert world.holds.exists(adopted.hold) is None
    assert world.vcpus_used() == 3
    world.build(record, 'node-0')
    world.assert_agreement()


def test_the_definition_of_a_group_does_not_keep_the_request(world):
    record = create(world, nodes(adopt={'node-0': a_server(world, 'a1')}))
    assert record.document == nodes()


def test_a_group_of_adopted_servers_alone_is_complete(world):
    servers = [a_server(world, host) for host in ('a1', 'b1')]
    record = create(world, nodes(2, dict(zip(('node-0', 'node-1'), servers))))
    assert record.status == GroupStatus.COMPLETE
    assert world.vcpus_used() == 2


def test_a_violated_policy_degrades_the_group_and_refuses_nothing(world):
    record = on_one_host(world, 3)
    assert (record.status, record.reasons) == (GroupStatus.DEGRADED, ())
    (violation,) = record.violations
    assert 'a1' in violation['message']
    assert hosts(world, record)['node-2'] != 'a1'
    world.reconciler.reconcile()
    assert world.table.get_group(record.uuid).violations == (violation,)
    world.build(record, 'node-2')
    world.assert_agreement()


def test_planned_members_of_a_degraded_group_can_be_removed(world):
    record = on_one_host(world, 4)
    before = hosts(world, record)
    after = update(world, record, nodes(3))
    assert (after.status, after.reasons) == (GroupStatus.DEGRADED, ())
    assert after.violations == record.violations
    assert hosts(world, record) == {
        path: before[path] for path in ('node-0', 'node-1', 'node-2')}
    assert world.vcpus_used() == 3
    world.assert_agreement()


def test_a_degraded_group_gets_no_further_members(world):
    record = on_one_host(world, 3)
    before = hosts(world, record)
    after = update(world, record, nodes(4))
    assert after.status == GroupStatus.DEGRADED
    assert after.reasons
    assert (after.document, hosts(world, record)) == (nodes(3), before)
    world.assert_agreement()


def test_a_removal_with_a_new_violated_policy_is_refused(world):
    record = on_one_host(world, 3)
    after = update(world, record, nodes(2, policies=[
        *SPREAD, {'type': 'anti-affinity', 'level': 'rack'}]))
    assert after.reasons
    assert after.document == nodes(3)
    world.assert_agreement()


def test_a_strict_adoption_is_refused_with_the_violations(world):
    record = on_one_host(world, 3, strict=True)
    assert record.status == GroupStatus.UNPLACEABLE
    assert 'a1' in record.reasons[0]['message']
    assert not world.table.members(record.uuid)
    assert world.vcpus_used() == 2


def test_a_policy_that_further_members_satisfy_is_not_violated(world):
    """Two servers share a host. The policy holds with the planned members."""
    servers = [a_server(world, 'a1') for _ in range(2)]
    spread = [{'type': 'spread', 'level': 'host', 'max_skew': 1}]
    adopt = dict(zip(('node-0', 'node-1'), servers))
    record = create(world, nodes(5, adopt, spread), strict=True)
    assert (record.status, record.violations) == (GroupStatus.BUILDING, ())
    record = create(world, nodes(2, {}, spread))
    assert record.status == GroupStatus.PLANNED


def test_an_adopted_server_takes_the_place_of_a_planned_member(world):
    record = create(world, nodes(2))
    hold = rows(world, record)['node-0'].hold
    server = a_server(world, 'b2')
    after = update(world, record, nodes(2, {'node-0': server}))
    assert (after.status, after.reasons) == (GroupStatus.BUILDING, ())
    assert hosts(world, record)['node-0'] == 'b2'
    assert world.holds.exists(hold) is None
    assert world.vcpus_used() == 2
    world.assert_agreement()


def test_a_released_member_adopts_a_server(world):
    record = create(world, nodes(3))
    world.lifecycle.release(record.uuid, ['node-0'])
    after = update(world, record, nodes(
        3, {'node-0': a_server(world, 'a1')}))
    assert after.reasons == ()
    assert world.states(record) == {
        'node-0': 'built', 'node-1': 'planned', 'node-2': 'planned'}
    assert world.vcpus_used() == 3


def test_a_repeated_adoption_changes_nothing(world):
    server = a_server(world, 'a1')
    record = create(world, nodes(adopt={'node-0': server}))
    before = rows(world, record)
    after = update(world, record, nodes(adopt={'node-0': server}))
    assert after.reasons == ()
    assert rows(world, record) == before


@pytest.mark.parametrize('server, message', [
    (lambda world: str(uuid.uuid4()), 'the project has no server'),
    (lambda world: a_server(world, 'a1', project='red'),
     'the project has no server'),
    (lambda world: a_server(world, 'a1', {'VCPU': 2, 'MEMORY_MB': 512}),
     'it has MEMORY_MB=512, VCPU=2, but the description states '
     'MEMORY_MB=512, VCPU=1'),
    (lambda world: a_server(world, 'a1', task='deleting'),
     'Nova is working on server'),
    (lambda world: a_server(world, 'a1', status='VERIFY_RESIZE'),
     'try again when its move has ended'),
    (lambda world: a_server(world, 'a1', status='BUILD', launched=False),
     'does not run on a host'),
])
def test_a_server_that_does_not_match_is_refused_with_its_position(
        world, server, message):
    adopt = {'node-2': server(world)}
    used = world.vcpus_used()
    record = create(world, nodes(adopt=adopt))
    assert record.status == GroupStatus.ERROR
    (reason,) = record.reasons
    assert reason['at'] == 'adopt.node-2'
    assert message in reason['message']
    assert world.vcpus_used() == used
    group = create(world, nodes())
    update(world, group, nodes(adopt=adopt))
    assert world.table.get_group(group.uuid).reasons == (reason,)
    assert set(world.states(group).values()) == {'planned'}


def test_all_mistakes_are_reported_together(world):
    record = create(world, nodes(adopt={
        'node-0': str(uuid.uuid4()), 'node-2': str(uuid.uuid4())}))
    assert [each['at'] for each in record.reasons] == [
        'adopt.node-0', 'adopt.node-2']


def test_the_host_has_to_meet_the_description(world):
    record = create(world, nodes(
        adopt={'node-0': a_server(world, 'a1')}, location='b'))
    assert 'its host is not below b' in record.reasons[0]['message']


def test_a_member_of_a_group_is_not_adopted_by_another(world):
    server = a_server(world, 'a1')
    first = create(world, nodes(adopt={'node-0': server}))
    second = create(world, nodes(adopt={'node-0': server}))
    assert second.status == GroupStatus.ERROR
    assert f"is member 'node-0' of group {first.uuid} already" in (
        second.reasons[0]['message'])


def test_a_member_with_a_server_adopts_no_other_one(world):
    record = create(world, nodes(2))
    world.build(record, 'node-0')
    after = update(world, record, nodes(
        2, {'node-0': a_server(world, 'a1')}))
    assert 'already' in after.reasons[0]['message']


def test_of_two_simultaneous_adoptions_of_a_server_one_succeeds(world):
    server = a_server(world, 'a1')
    first = ask_for_group(world, nodes(adopt={'node-0': server}))

    def win():
        world.planner.perform(take(world, first))

    second = create(
        world, nodes(adopt={'node-0': server}),
        world.planner_with(world.table, Meanwhile(world.holds, 'put', win)))
    statuses = [world.table.get_group(each.uuid).status
                for each in (first, second)]
    assert statuses == [GroupStatus.BUILDING, GroupStatus.ERROR]
    assert [row.instance_uuid for row in world.rows()].count(server) == 1
    assert world.vcpus_used() == 3
    world.assert_agreement()


@pytest.mark.parametrize('event, message', [
    (lambda world, server: world.instances.delete(server),
     'the project has no server'),
    (lambda world, server: world.instances.views.update({
        server: a_view(world, server, status='MIGRATING',
                       task='migrating')}), 'Nova is working on'),
])
def test_a_server_that_is_deleted_or_moved_meanwhile_is_refused(
        world, event, message):
    server = a_server(world, 'a1')
    record = create(
        world, nodes(adopt={'node-0': server}), world.planner_with(
            world.table, Meanwhile(
                world.holds, 'put', lambda: event(world, server))))
    assert record.status == GroupStatus.ERROR
    assert message in record.reasons[0]['message']
    assert world.vcpus_used() == 1
    world.reconcile_members()
    world.assert_nothing_left()


def a_view(world, server, **changes):
    return replace(world.instances.views[server], **changes)


def test_a_move_that_was_not_seen_is_corrected(world):
    """Nova moves the server when the group has just been written."""
    server = a_server(world, 'a1')
    record = create(world, nodes(2, {'node-0': server}))
    world.instances.views[server] = a_view(
        world, server, status='MIGRATING')
    world.instances.moves[server] = MoveView('a1', 'b1')
    world.reconciler.reconcile()
    assert rows(world, record)['node-0'].next_place.host == 'b1'


def test_a_deleted_server_gives_its_member_back(world):
    server = a_server(world, 'a1')
    record = create(world, nodes(2, {'node-0': server}))
    world.instances.delete(server)
    world.holds.drop([server])
    world.reconcile_members()
    assert set(world.states(record).values()) == {'planned'}
    assert world.vcpus_used() == 2
    world.assert_agreement()


def test_a_replan_of_an_unplaceable_group_still_adopts_its_server(world):
    server = a_server(world, 'a1')
    record = create(world, nodes(7, {'node-0': server}))
    assert record.status == GroupStatus.UNPLACEABLE
    assert record.document['adopt'] == {'node-0': server}
    world.table.update_group(
        record.uuid, list(GroupStatus),
        document=nodes(3, {'node-0': server}))
    assert world.table.tasks.request(
        record.uuid, NewTask('replanning', {}, list(GroupStatus)), world.now)
    world.planner.perform(take(world, record))
    after = world.table.get_group(record.uuid)
    assert after.status == GroupStatus.BUILDING
    assert rows(world, record)['node-0'].instance_uuid == server


def test_a_server_keeps_others_off_an_exclusive_host(world):
    server = a_server(world, 'a1')
    record = create(world, nodes(
        1, {'node-0': server}, [{'type': 'exclusive'}]))
    assert record.status == GroupStatus.COMPLETE
    assert record.exclusive
    other = world.create(shop())
    assert 'a1' not in hosts(world, other).values()


def test_a_server_next_to_others_degrades_an_exclusive_group(world):
    server, _ = (a_server(world, 'a1') for _ in range(2))
    record = create(world, nodes(
        1, {'node-0': server}, [{'type': 'exclusive'}]))
    assert (record.status, record.exclusive) == (GroupStatus.DEGRADED, True)


def test_no_crash_allocates_anything_twice(world):
    """The engine crashes after 0, 1, 2 and more calls. Each time, another
    engine continues."""
    for calls in range(40):
        servers = [a_server(world, 'a1')]
        before = allocated(world, servers)
        record = ask_for_group(world, nodes(2, {'node-1': servers[0]}))
        life = CallBudget(calls)
        try:
            world.planner_with(
                KillableProxy(life, world.table),
                KillableProxy(life, world.holds)
            ).perform(take(world, record))
        except (ProcessKilled, HoldsError):
            pass
        assert world.vcpus_used() <= 2
        if world.table.get_group(record.uuid).task is not None:
            world.planner.perform(take(world, record))
        after = world.table.get_group(record.uuid)
        assert after.status in (
            GroupStatus.BUILDING, GroupStatus.DEGRADED), after
        assert world.vcpus_used() == 2
        assert allocated(world, servers) == before
        world.reconcile_members()
        world.assert_agreement()
        world.lifecycle.delete(record.uuid)
        world.holds.drop(servers)
        for server in servers:
            world.instances.delete(server)
        assert world.vcpus_used() == 0
        if not life.over:
            return
    pytest.fail('the engine crashed each time')

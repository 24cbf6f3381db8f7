# SPDX-License-Identifier: Apache-2.0
"""A group with fewer servers than it desires states which are missing, and
why, for as long as they are missing."""

import pytest

from nova_holistic.engine import errors
from nova_holistic.table.coordination.refusals import Refusal
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import MemberState, Task
from tests.functional.engine.updates import (
    ask, assert_settled, LARGE, revised, rows, Silent, take, update)
from tests.functional.engine.world import shop

NODES = {'min': 1, 'desired': 3, 'max': 5}
MISSING = [
    ('db/node-2', 'cannot be placed, for the reasons that follow'),
    ('db', 'anti-affinity rack needs 3 racks; there are 2')]


@pytest.fixture
def group(world):
    """Two of three desired nodes, because there are two racks."""
    group = world.create(shop(nodes=NODES))
    assert reasons(group) == MISSING
    return group


def reasons(record):
    return [(each['at'], each['message']) for each in record.reasons]


def now(world, group):
    return reasons(world.table.get_group(group.uuid))


def lose(world, group, path):
    row = rows(world, group)[path]
    world.holds.drop([row.hold])
    assert world.table.change_state(
        row.id, [MemberState.PLANNED], MemberState.LOST, world.now,
        held=False)


def perform(world, group, task, *statuses):
    assert world.table.tasks.request(
        group.uuid, NewTask(task, {}, statuses), world.now)
    world.planner.perform(take(world, group))


def test_a_replan_of_another_member_keeps_the_reasons(world, group):
    lose(world, group, 'web')
    assert reasons(world.planner.replan(group.uuid)) == MISSING
    lose(world, group, 'web')
    perform(world, group, Task.REPLANNING, 'planned')
    assert now(world, group) == MISSING
    assert world.states(group)['web'] == 'planned'


def test_a_pass_counts_a_replan_that_succeeds(world, group):
    lose(world, group, 'web')
    assert world.reconciler.reconcile()['replanned'] == 1
    assert now(world, group) == MISSING


def test_a_refused_update_adds_its_reasons(world, group):
    refused = update(world, group, revised(nodes={**NODES, 'min': 3}))
    assert refused.revision == 1
    assert reasons(refused)[0] == (
        'db', 'anti-affinity rack needs 3 racks; there are 2')
    assert reasons(refused)[1:] == MISSING
    # The next task replaces the reasons of the refused update only.
    perform(world, group, Task.REPLANNING, 'planned')
    assert now(world, group) == MISSING


def test_an_update_that_fails_keeps_the_reasons(world, group):
    silent = world.planner_with(world.table, Silent(world.holds, 'put'))
    failed = update(world, group, revised(nodes=NODES, web=LARGE), silent)
    assert 'timed out' in failed.reasons[0]['message']
    assert reasons(failed)[1:] == MISSING


def test_an_update_that_another_engine_finishes_keeps_its_reasons(
        world, group):
    """The first engine stops after it has written the revision."""
    silent = world.planner_with(world.table, Silent(world.holds, 'drop'))
    ask(world, group, revised(nodes={**NODES, 'desired': 4}, web=LARGE))
    with pytest.raises(errors.HoldsNotDropped):
        silent.perform(take(world, group))
    world.planner.perform(take(world, group))
    assert_settled(world, group, 2)
    assert now(world, group) == [
        ('db/node-2, db/node-3', MISSING[0][1]), MISSING[1]]


def test_an_update_decides_again_which_members_are_missing(world, group):
    after = update(world, group, revised(nodes={**NODES, 'desired': 2}))
    assert reasons(after) == []


def test_a_repair_keeps_the_reasons(world, group):
    world.build(group, 'web')
    world.table.settle(group.uuid, world.now)
    perform(world, group, Task.REPAIRING, 'building')
    assert now(world, group) == MISSING


def test_a_refused_host_is_another_reason(world, group):
    refusal = {'at': 'db/node-2', 'message': 'refused'}
    world.table.refusals.add(
        rows(world, group)['db/node-0'], [Refusal('a1', 'filter')],
        refusal, world.now)
    assert now(world, group) == [*MISSING, ('db/node-2', 'refused')]


def test_after_the_release_of_all_members_none_is_missing(world, group):
    world.build(group, 'db/node-0')
    world.lifecycle.release(group.uuid)
    assert now(world, group) == []


@pytest.mark.parametrize('name, after', [
    ('web', MISSING), ('db/node-0', MISSING), ('db/node', [])])
def test_a_release_of_members_concerns_only_these(world, group, name, after):
    world.lifecycle.release(group.uuid, [name])
    assert now(world, group) == after


def test_after_the_lease_no_member_is_missing(world, group):
    record = world.table.get_group(group.uuid)
    world.wait((record.lease_expires_at - world.now).total_seconds())
    assert world.lifecycle.expire() == [group.uuid]
    assert now(world, group) == []

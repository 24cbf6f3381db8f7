# SPDX-License-Identifier: Apache-2.0
"""The end of a group's lease after an update."""

from datetime import timedelta

import pytest

from nova_holistic.table.changes import group_revision
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import GroupStatus, Task
from tests.functional.engine.world import shop, SMALL

WITH_CACHE = {**shop()['group'], 'members': [
    {'name': 'web', 'resources': SMALL},
    {'name': 'cache', 'resources': SMALL}]}


def update(world, group, *, lease, waiting=0):
    """Add a member. An engine begins the update ``waiting`` seconds after its
    request."""
    assert world.table.tasks.request(
        group.uuid, NewTask(
            Task.UPDATING, {'document': WITH_CACHE, 'lease': lease},
            [GroupStatus.PLANNED]), world.now)
    world.wait(waiting)
    world.planner.perform(world.table.tasks.take(
        group.uuid, 'engine', world.now, world.now))
    record = world.table.get_group(group.uuid)
    assert (record.revision, record.reasons) == (2, ())
    return record


@pytest.mark.parametrize('before, asked, after', [
    (7200, 60, 7200), (60, 7200, 7200), (600, 600, 600)])
def test_the_lease_ends_when_the_later_of_both_does(
        world, before, asked, after):
    group = world.create(lease=before)
    record = update(world, group, lease=asked)
    assert record.lease_expires_at == world.now + timedelta(seconds=after)


def test_a_group_without_a_lease_gets_none(world):
    group = world.create(lease=0)
    assert update(world, group, lease=60).lease_expires_at is None


@pytest.mark.parametrize('waiting', [60, 61])
def test_a_lease_that_ended_while_the_group_waited_releases_nothing(
        world, waiting):
    """The update requests no lease."""
    group = world.create(lease=60)
    record = update(world, group, lease=0, waiting=waiting)
    assert record.lease_expires_at is None
    world.wait(1)
    assert world.lifecycle.expire() == []
    assert set(world.states(group).values()) == {'planned'}
    world.assert_agreement()


def test_an_update_to_no_lease_ends_the_current_lease(world):
    group = world.create(lease=600)
    assert update(world, group, lease=0).lease_expires_at is None
    world.wait(601)
    assert world.lifecycle.expire() == []


def test_an_update_to_no_lease_needs_no_new_members(world):
    group = world.create(lease=600)
    assert world.table.tasks.request(
        group.uuid, NewTask(
            Task.UPDATING, {'document': shop()['group'], 'lease': 0},
            [GroupStatus.PLANNED]), world.now)
    world.planner.perform(world.table.tasks.take(
        group.uuid, 'engine', world.now, world.now))
    assert world.table.get_group(group.uuid).lease_expires_at is None


def test_a_running_lease_outlives_a_default_without_lease(world):
    """An update without a lease keeps the running lease, although the
    configured default is 0."""
    group = world.create(lease=600)
    ends = group.lease_expires_at
    world.conf.set_override('lease', 0, group='planner')
    assert update(world, group, lease=None).lease_expires_at == ends


@pytest.mark.parametrize('seconds, after', [(7200, 7200), (60, 600)])
def test_a_lease_that_is_extended_during_the_update_is_kept(
        world, monkeypatch, seconds, after):
    """The user extends the lease immediately before the revision is written.
    """
    group = world.create(lease=90)
    revise = group_revision.revise

    def revise_later(*arguments):
        world.lifecycle.extend(group.uuid, seconds)
        return revise(*arguments)

    monkeypatch.setattr(group_revision, 'revise', revise_later)
    record = update(world, group, lease=600)
    assert record.lease_expires_at == world.now + timedelta(seconds=after)

# SPDX-License-Identifier: Apache-2.0
"""The transactions of an engine in the life cycle of a group."""

import contextlib
import dataclasses

import pytest
import sqlalchemy as sa

from nova_holistic.holds.client import HoldClient
from tests.functional.engine.test_due_alternates import planned, queue
from tests.functional.engine.test_orphans import Counted
from tests.functional.engine.updates import take
from tests.functional.engine.world import shop
from tests.statements import recorded
from tests.unit.table import builders


@dataclasses.dataclass
class Transactions:
    """Numbers of the transactions that wrote, and of those that only read."""

    wrote: int = 0
    read: int = 0


@contextlib.contextmanager
def transactions(world):
    """The transactions on the placement table while the block runs."""
    found, engine = Transactions(), world.table.database.engine

    def committed(_connection):
        found.wrote += 1

    def rolled_back(_connection):
        found.read += 1

    sa.event.listen(engine, 'commit', committed)
    sa.event.listen(engine, 'rollback', rolled_back)
    try:
        yield found
    finally:
        sa.event.remove(engine, 'commit', committed)
        sa.event.remove(engine, 'rollback', rolled_back)


@pytest.fixture
def group(world):
    return world.create(shop(2))


def test_an_engine_takes_a_task_in_one_transaction(world):
    new = builders.a_group('planning', task='planning', pending={})
    world.table.create_group(new)
    with transactions(world) as found:
        assert take(world, new).attempts == 1
    assert found == Transactions(wrote=1)


def test_a_plan_takes_two_transactions_that_write(world):
    """The members together with the levels of the group, and the end of the
    task together with the request for alternates."""
    with transactions(world) as found:
        group = planned(world)
    # The client creates the group, and the engine takes its task.
    assert found.wrote == 2 + 2
    assert world.table.get_group(group.uuid).levels == (
        world.inventory.snapshot().levels)
    assert queue(world).waiting(10) == (group.uuid,)


def test_alternates_take_two_transactions_that_write(world):
    """The engine takes the group, and writes the alternates of all members
    together with the end of its work."""
    group, work = planned(world), queue(world)
    with transactions(world) as found:
        work.do(work.take(group.uuid))
    assert found.wrote == 2
    assert all(row.alternates for row in world.table.members(group.uuid))
    assert work.take(group.uuid) is None


def test_a_group_without_alternates_ends_the_work_of_the_engine(world):
    group, work = planned(world), queue(world)
    world.lifecycle.release(group.uuid)
    work.do(work.take(group.uuid))
    assert work.take(group.uuid) is None


def test_a_release_reads_its_group_once(world, group):
    with recorded(world.table.database.engine) as recorder, (
            transactions(world)) as found:
        world.lifecycle.release(group.uuid)
    assert len([text for text in recorder.statements
                if text.startswith('SELECT')
                and 'holistic_groups.document' in text]) == 1
    # The end of the lease, the members, the status of the group, and the
    # dropped holds.
    assert found == Transactions(wrote=4, read=3)


def test_the_members_of_a_released_group_are_not_released_again(world, group):
    row = world.claim(group, 'web')
    world.lifecycle.release(group.uuid)
    with transactions(world) as found:
        world.lifecycle.delete(group.uuid)
    # The deletion. No engine creates servers of the group.
    assert found == Transactions(wrote=1, read=4)
    assert world.holds.exists(row.hold) is None
    world.assert_agreement()


def test_the_hold_of_a_claimed_member_is_deleted_with_one_request(
        world, group):
    row = world.claim(group, 'web')
    world.swap(row)
    world.lifecycle.release(group.uuid)
    wire = Counted(world.placement.adapter)
    world.lifecycle_with(world.table, HoldClient(wire)).delete(group.uuid)
    assert wire.made == [('DELETE', f'/allocations/{row.hold}')]
    # Only the allocation of the server remains.
    assert world.vcpus_used() == 1


def test_planned_members_are_released_before_their_group_is_deleted(
        world, group):
    with transactions(world) as found:
        world.lifecycle.delete(group.uuid)
    assert found == Transactions(wrote=2, read=5)
    assert world.vcpus_used() == 0
    world.assert_agreement()

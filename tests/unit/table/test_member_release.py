# SPDX-License-Identifier: Apache-2.0
"""All holds of a released group are released, and a lease expires unless an
update may renew it."""

from collections import Counter
from datetime import timedelta

import pytest

from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import GroupStatus, MemberState, Task
from tests.unit.table import builders

NOON = builders.NOON
LARGE = 1_001
"""Number of members whose holds do not fit into two statements."""


@pytest.fixture
def leased(table):
    """A group of two members whose lease ends at noon."""
    return builders.planned(
        table, builders.a_group(lease_expires_at=NOON), node=2)


def ask(table, group, task):
    """A client requests the task, and no engine has begun it."""
    assert table.tasks.request(
        group.uuid, NewTask(task, {}, [GroupStatus.PLANNED], 1), NOON)


def states(table, group):
    return Counter(m.state for m in table.members(group.uuid))


def test_every_member_of_a_large_group_is_released(table):
    group = builders.planned(table, node=LARGE)
    table.release([m.hold for m in table.members(group.uuid)], NOON)
    assert states(table, group) == {MemberState.RELEASED: LARGE}


def test_a_lease_does_not_expire_after_an_update_was_requested(table, leased):
    """The client requests the update, which may renew the lease, after an
    engine has read the expired leases."""
    assert [g.uuid for g in table.expired_groups(NOON)] == [leased.uuid]
    ask(table, leased, Task.UPDATING)
    table.expire(leased.uuid, NOON)
    assert states(table, leased) == {MemberState.PLANNED: 2}


def test_a_lease_that_an_update_did_not_renew_expires_after_it(table, leased):
    ask(table, leased, Task.UPDATING)
    table.tasks.take(leased.uuid, 'engine-1', NOON, NOON)
    assert table.tasks.finish(leased.uuid, 'engine-1', {})
    table.expire(leased.uuid, NOON)
    assert states(table, leased) == {MemberState.RELEASED: 2}


def test_a_lease_expires_while_lost_members_wait_to_be_planned(table, leased):
    ask(table, leased, Task.REPLANNING)
    table.expire(leased.uuid, NOON)
    assert states(table, leased) == {MemberState.RELEASED: 2}


def test_the_status_of_a_group_follows_its_expired_lease(table, leased):
    """The status changes together with the members, so that no user extends
    the lease in between."""
    table.expire(leased.uuid, NOON)
    assert table.get_group(leased.uuid).status == GroupStatus.RELEASED
    assert not table.extend_lease(
        leased.uuid, None, NOON + timedelta(hours=1), NOON)
    assert table.get_group(leased.uuid).lease_expires_at == NOON


@pytest.fixture
def served(table, leased):
    """A member of that group with a server."""
    instance = builders.new_uuid()
    table.claim(leased.uuid, 'db/node', instance, NOON)
    return table.member_of_instance(instance)


def test_a_member_whose_server_is_gone_is_released_after_the_lease(
        table, leased, served):
    assert not table.release_unleased(served, NOON - timedelta(seconds=1))
    assert table.member_of_instance(served.instance_uuid) == served
    assert table.release_unleased(served, NOON)
    row = next(m for m in table.members(leased.uuid) if m.id == served.id)
    assert (row.state, row.instance_uuid, row.held) == (
        MemberState.RELEASED, None, True)


def test_a_member_without_a_lease_is_not_released(table):
    group = builders.planned(table, web=None)
    instance = builders.new_uuid()
    row = table.claim(group.uuid, 'db/web', instance, NOON)
    assert not table.release_unleased(row, NOON)
    assert table.member_of_instance(instance).state == MemberState.CLAIMED


@pytest.mark.parametrize('changes', [
    {'to': MemberState.FAILED},
    {'to': MemberState.CLAIMED, 'instance_uuid': 'another'},
    {'to': MemberState.CLAIMED, 'hold': 'another'}])
def test_a_member_that_changes_meanwhile_is_not_released(
        table, leased, served, changes):
    table.change_state(served.id, [MemberState.CLAIMED], now=NOON, **changes)
    assert not table.release_unleased(served, NOON)
    assert MemberState.RELEASED not in states(table, leased)


def test_a_member_is_not_released_after_an_update_was_requested(
        table, leased, served):
    """The update may renew the lease."""
    table.settle(leased.uuid, NOON)
    assert table.tasks.request(
        leased.uuid, NewTask(Task.UPDATING, {}, list(GroupStatus), 1), NOON)
    assert not table.release_unleased(served, NOON)

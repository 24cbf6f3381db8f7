# SPDX-License-Identifier: Apache-2.0
"""All holds that are released are released, and a lease expires unless an
update may renew it."""

from collections import Counter

import pytest

from nova_holistic.table.records import GroupStatus, MemberState, Task
from tests.unit.table import builders

NOON = builders.NOON
LARGE = 1_001
"""Members of a group whose holds do not fit into two statements."""


@pytest.fixture
def leased(table):
    """A group of two members whose lease ends at noon."""
    return builders.planned(
        table, builders.a_group(lease_expires_at=NOON), node=2)


def ask(table, group, task):
    """A client asks for the task, and no engine has begun with it."""
    assert table.tasks.ask(
        group.uuid, task, {}, [GroupStatus.PLANNED], 1, NOON)


def states(table, group):
    return Counter(m.state for m in table.members(group.uuid))


def test_every_member_of_a_large_group_is_released(table):
    group = builders.planned(table, node=LARGE)
    table.release([m.hold for m in table.members(group.uuid)], NOON)
    assert states(table, group) == {MemberState.RELEASED: LARGE}


def test_a_lease_does_not_expire_once_an_update_was_asked_for(table, leased):
    """The update, which may renew the lease, is asked for after an engine has
    read which leases have passed."""
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

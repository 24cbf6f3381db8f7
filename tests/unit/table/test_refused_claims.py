# SPDX-License-Identifier: Apache-2.0
"""No claim succeeds if the instance has lost the member, if the member belongs
to another group, or if the group has no plan."""

import pytest

from nova_holistic.table import errors
from nova_holistic.table.records import GroupStatus, MemberState
from tests.unit.table import builders

NOON = builders.NOON
NOT_CLAIMABLE = [status for status in GroupStatus if status not in (
    GroupStatus.PLANNED, GroupStatus.BUILDING, GroupStatus.DEGRADED)]


def claim(table, group, path, instance):
    return table.claim(group.uuid, path, instance, NOON)


def failed_server(table, group):
    """A server that has claimed db/web and could not be created."""
    instance = builders.new_uuid()
    row = claim(table, group, 'db/web', instance)
    assert table.change_state(
        row.id, [MemberState.CLAIMED], MemberState.FAILED, NOON)
    return instance


def test_a_server_that_failed_does_not_get_its_member_again(table, shop):
    instance = failed_server(table, shop)
    with pytest.raises(errors.MemberNotPlannable, match='it is failed'):
        claim(table, shop, 'db/web', instance)
    assert table.member_of_instance(instance).state == MemberState.FAILED


def test_a_member_released_after_its_server_failed_is_not_claimed_again(
        table, shop):
    instance = failed_server(table, shop)
    table.release([table.member_of_instance(instance).hold], NOON)
    with pytest.raises(errors.MemberNotPlannable, match='it is released'):
        claim(table, shop, 'db/web', instance)
    with pytest.raises(errors.MemberReleased):
        claim(table, shop, 'db/web', builders.new_uuid())
    assert table.member_of_instance(instance).state == MemberState.RELEASED


def test_a_server_of_one_group_is_no_member_of_another(table, shop):
    """Both groups have a member with that path."""
    instance = builders.new_uuid()
    other = builders.planned(table, web=None)
    claim(table, shop, 'db/web', instance)
    with pytest.raises(errors.MemberNotPlannable,
                       match=f'of group {shop.uuid} already'):
        claim(table, other, 'db/web', instance)
    assert table.members(other.uuid)[0].state == MemberState.PLANNED


@pytest.mark.parametrize('path', ['db/web', 'db/node'])
@pytest.mark.parametrize('status', NOT_CLAIMABLE)
def test_no_member_is_claimed_while_its_group_has_no_plan(
        table, status, path):
    """The rows of the members are still planned: an engine changes the group
    before it releases them, or was killed between the two steps."""
    group = builders.planned(table, builders.a_group(status), web=None, node=3)
    with pytest.raises(errors.MemberNotPlannable,
                       match=f'the group is {status}'):
        claim(table, group, path, builders.new_uuid())
    assert {m.state for m in table.members(group.uuid)} == {
        MemberState.PLANNED}
    assert table.get_group(group.uuid).status == status

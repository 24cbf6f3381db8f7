# SPDX-License-Identifier: Apache-2.0
"""A member changes during a purge. SQLite has only one writer at a time."""

from dataclasses import replace

from nova_holistic.table.records import GroupStatus, MemberState
from tests.statements import recorded
from tests.unit.table import builders
from tests.unit.table.test_group_purge import purge, with_members


def test_a_member_that_is_held_while_its_group_is_deleted_is_kept(table):
    group = with_members(table, GroupStatus.ERROR, [
        (MemberState.LOST, False), (MemberState.RELEASED, False)])
    row, _ = table.members(group.uuid)
    held_row = replace(row, held=True, hold=builders.new_uuid())

    def hold(text):
        if text.startswith('DELETE FROM holistic_members'):
            assert table.offer_places([held_row])

    with recorded(before=hold):
        assert not purge(table, group)
    assert table.get_group(group.uuid) is not None
    assert [m.held for m in table.members(group.uuid)] == [True, False]

# SPDX-License-Identifier: Apache-2.0
"""A user releases the path of a deleted server while a held place is given to
this path. SQLite has only one writer at a time."""

from nova_holistic.table.changes import held_places
from nova_holistic.table.changes.held_places import Handover
from nova_holistic.table.records import MemberState
from tests.statements import recorded
from tests.unit.table import builders


def test_a_path_that_is_released_at_the_same_time_gets_no_place(table):
    group = builders.planned(table, one=None)
    (row,) = table.members(group.uuid)
    other = held_places.hand_over(
        table.database, Handover(group, row, 'db/other'), builders.NOON)
    former = member(table, group, 'db/one')
    released = []

    def release(text):
        if text.startswith('UPDATE holistic_members SET requirements'):
            released.append(table.release(
                [former.hold], builders.NOON, with_servers=True))

    with recorded(before=release):
        back = held_places.hand_over(
            table.database, Handover(group, other, 'db/one'), builders.NOON)
    assert released == [True]
    assert back is None
    former = member(table, group, 'db/one')
    assert (former.state, former.unwanted) == (MemberState.RELEASED, True)
    # The change of the other row is rolled back.
    assert member(table, group, 'db/other') == other


def member(table, group, path):
    (found,) = [row for row in table.members(group.uuid)
                if row.member.path == path]
    return found

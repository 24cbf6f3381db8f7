# SPDX-License-Identifier: Apache-2.0
"""The cost of a read of all outlines, and its completeness.

``test_stateful`` compares the cache with the table after each of many
operations.
"""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from nova_holistic.table.queries import outlines
from nova_holistic.table.queries.outlines import OutlineCache
from nova_holistic.table.records import GroupStatus, MemberState
from nova_holistic.table.schema.models import GroupRow, MemberRow
from tests.statements import recorded
from tests.unit.table import builders

LONG_AGO = builders.NOON.replace(year=2020)


def settled(table, number, members=2):
    """Groups with members that have not changed for a long time."""
    made = [builders.planned(table, node=members) for _ in range(number)]
    forget_changes(table)
    return [group.uuid for group in made]


def forget_changes(table):
    with table.database.writer() as session:
        for row in GroupRow, MemberRow:
            session.execute(sa.update(row).values(changed_at=LONG_AGO))


@pytest.fixture
def rows(monkeypatch):
    """Record the outlines that are built from rows."""
    made = []
    for name in 'group_outline', 'member_outline':
        make = getattr(outlines, name)

        def noted(row, make=make):
            made.append(make(row))
            return made[-1]

        monkeypatch.setattr(outlines, name, noted)
    return made


def read(table, rows):
    """The statements of one read, and the number of rows that it reads."""
    rows.clear()
    with recorded(table.database.engine) as sent:
        table.outlines.read()
    return len(sent.statements), len(rows)


def test_a_read_costs_what_has_changed(table, rows):
    costs = []
    for number in 3, 30:
        groups = settled(table, number)
        read(table, rows)
        costs.append(read(table, rows))
    assert costs == [(4, 0), (4, 0)]
    table.claim(groups[0], 'db/node', builders.new_uuid(), builders.NOON)
    # The group with two members is read because its status has changed, and
    # one member is read again.
    assert read(table, rows)[1] == 3 + 1
    forget_changes(table)
    table.claim(groups[0], 'db/node', builders.new_uuid(), builders.NOON)
    assert read(table, rows)[1] == 1


def test_members_that_change_are_read(table):
    (uuid, *_) = settled(table, 3)
    before = table.outlines.read()
    row = table.claim(uuid, 'db/node', builders.new_uuid(), builders.NOON)
    after = table.outlines.read()
    assert after.by_group[uuid][row.id].state == MemberState.CLAIMED
    assert before.by_group[uuid][row.id].state == MemberState.PLANNED
    assert [other for other in before.by_group
            if before.by_group[other] is not after.by_group[other]] == [uuid]


def test_deleted_groups_are_forgotten(table, rows):
    first, second, third = settled(table, 3)
    table.outlines.read()
    table.delete_group(second)
    found = table.outlines.read()
    assert found.groups.keys() == found.by_group.keys() == {first, third}
    assert read(table, rows) == (4, 0)


def test_a_group_is_deleted_and_another_one_created(table):
    first, second = settled(table, 2)
    table.outlines.read()
    table.delete_group(first)
    created = builders.planned(table, node=1)
    assert table.outlines.read().groups.keys() == {second, created.uuid}


def test_released_groups_are_forgotten(table):
    first, second = settled(table, 2)
    table.outlines.read()
    table.release([m.hold for m in table.members(first)], builders.NOON)
    assert table.outlines.read().unsettled() == (first,)
    table.settle(first, builders.NOON)
    assert table.outlines.read().groups.keys() == {second}


def test_a_change_without_a_time_is_found_by_comparing(table, monkeypatch):
    """Services of the previous version change rows without a time stamp."""
    monkeypatch.setattr(outlines, 'ROWS', 4)
    settled(table, 5)
    table.outlines.read()
    with table.database.writer() as session:
        session.execute(sa.update(MemberRow).values(
            state=MemberState.LOST, changed_at=MemberRow.changed_at))
    lost = []
    for _ in range(3):
        table.outlines.compare_some()
        lost.append(len(table.outlines.read().members(
            [MemberState.LOST], [GroupStatus.PLANNED])))
    # Each group has two members.
    assert lost == [4, 8, 10]


def test_a_comparison_costs_the_same_at_any_number_of_groups(
        table, rows, monkeypatch):
    monkeypatch.setattr(outlines, 'ROWS', 4)
    for number in 5, 50:
        settled(table, number)
        table.outlines.read()
        rows.clear()
        with recorded(table.database.engine) as sent:
            table.outlines.compare_some()
        assert (len(sent.statements), len(rows)) == (2, 2 + 4)


def test_the_first_read_takes_a_few_rows_at_a_time(table, monkeypatch):
    """The driver never has all members in memory."""
    settled(table, 4, members=50)
    monkeypatch.setattr(outlines, 'ROWS', 10)
    sizes = []

    def fetched(context):
        sizes.append(context.execution_options.get('yield_per'))

    sa.event.listen(table.database.engine, 'after_cursor_execute',
                    lambda *args: fetched(args[4]))
    found = OutlineCache(table.database).read()
    assert sum(map(len, found.by_group.values())) == 200
    assert sizes.count(10) == 1


def test_an_error_loses_nothing(table, monkeypatch):
    uuids = settled(table, 3)
    table.outlines.read()
    row = table.claim(uuids[0], 'db/node', builders.new_uuid(), builders.NOON)
    with monkeypatch.context() as patch:
        patch.setattr(OutlineCache, '_merge', broken)
        with pytest.raises(RuntimeError):
            table.outlines.read()
    found = table.outlines.read()
    assert found.by_group[uuids[0]][row.id].state == MemberState.CLAIMED
    assert found == OutlineCache(table.database).read()


def broken(*_):
    raise RuntimeError('the connection is gone')


def test_every_statement_that_writes_a_row_sets_its_time(table):
    (uuid,) = settled(table, 1)
    members = table.members(uuid)
    table.forget_holds([members[0].hold])
    table.update_group(uuid, [GroupStatus.PLANNED],
                       lease_expires_at=builders.NOON + timedelta(days=1))
    with table.database.reader() as session:
        changed = session.scalars(sa.select(MemberRow.changed_at).order_by(
            MemberRow.position)).all()
        assert changed[0] > LONG_AGO and changed[1] == LONG_AGO
        assert session.scalar(sa.select(GroupRow.changed_at)) > LONG_AGO

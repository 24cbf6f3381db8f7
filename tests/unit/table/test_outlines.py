# SPDX-License-Identifier: Apache-2.0
"""The cost of a read of all outlines, and its completeness.

``test_stateful`` compares the cache with the table after each of many
operations.
"""

import contextlib
from datetime import timedelta
import itertools

import pytest
import sqlalchemy as sa

from nova_holistic.table.changes import group_purge
from nova_holistic.table.clock import DatabaseClock
from nova_holistic.table.history import deletions
from nova_holistic.table.queries.outline_index import Outlines
from nova_holistic.table.queries import outlines
from nova_holistic.table.queries.outlines import OutlineCache
from nova_holistic.table.records import GroupStatus, MemberState
from nova_holistic.table.schema.deleted_groups import DeletedGroupRow
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table.store import PlacementTable
from tests.statements import recorded
from tests.tables import new_table
from tests.unit.table import builders

LONG_AGO = builders.NOON.replace(year=2020)


def settled(table, number, members=2):
    """Groups with members that have not changed for a long time, and that the
    cache of the table has."""
    made = [builders.planned(table, node=members) for _ in range(number)]
    table.outlines.read()
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


@contextlib.contextmanager
def counted_steps(table):
    """The number of steps of SQLite's virtual machine, which rises with each
    row that a statement reads."""
    steps = itertools.count()

    def begin(link, record):
        link.set_progress_handler(lambda: next(steps) and None, 1)

    sa.event.listen(table.database.engine, 'connect', begin)
    table.database.engine.dispose()
    found = []
    try:
        yield found
    finally:
        sa.event.remove(table.database.engine, 'connect', begin)
        table.database.engine.dispose()
        found.append(next(steps))


def test_a_read_reads_no_row_of_unchanged_groups(tmp_path):
    """The database has the same work with any number of groups."""
    table = PlacementTable(new_table(tmp_path))
    work = []
    for number in 3, 30:
        settled(table, number)
        table.outlines.read()
        with counted_steps(table) as steps:
            table.outlines.read()
        work += steps
    assert work[0] == work[1] > 0


def test_members_that_change_are_read(table):
    (uuid, *_) = settled(table, 3)
    before = table.outlines.read()
    row = table.claim(uuid, 'db/node', builders.new_uuid(), builders.NOON)
    after = table.outlines.read()
    assert after.by_group[uuid][row.id].state == MemberState.CLAIMED
    assert before.by_group[uuid][row.id].state == MemberState.PLANNED
    assert [other for other in before.by_group
            if before.by_group[other] is not after.by_group[other]] == [uuid]


def test_what_has_not_changed_is_the_same_object(table):
    first, second, third = settled(table, 3)
    before = table.outlines.read()
    table.outlines.compare_some()
    assert table.outlines.read() is before
    assert before.changed_since(before) == ()
    assert before.changed_since(Outlines()) == {first, second, third}
    row = table.claim(first, 'db/node', builders.new_uuid(), builders.NOON)
    table.delete_group(second)
    after = table.outlines.read()
    assert after.changed_since(before) == {first, second}
    left = {(uuid, m.id): m for uuid in (first, third)
            for m in table.members(uuid) if m.id != row.id}
    for index in after.planned, after.planned_hosts:
        assert {number for members in index.values()
                for number in members} == left.keys()
    # The providers of two members differ, and their hosts are the same.
    assert after.planned.keys() == {m.place.provider for m in left.values()}
    assert all(members is before.planned[provider]
               for provider, members in after.planned.items())
    assert after.planned_hosts.keys() == {'cmp-0', 'cmp-1'}


def test_a_new_group_may_use_the_member_ids_of_a_deleted_one(table):
    """SQLite gives them to the next rows."""
    (uuid,) = settled(table, 1)
    for _ in range(4):
        table.delete_group(uuid)
        uuid = builders.planned(table, node=2).uuid
        found = table.outlines.read()
        assert found == OutlineCache(table.database).read()
        assert found.planned.keys() == {
            m.place.provider for m in table.members(uuid)}


def test_deleted_groups_are_forgotten(table, rows):
    first, second, third = settled(table, 3)
    table.outlines.read()
    table.delete_group(second)
    found = table.outlines.read()
    assert found.groups.keys() == found.by_group.keys() == {first, third}
    assert read(table, rows) == (4, 0)


def purge(table, uuid):
    table.release([m.hold for m in table.members(uuid)], builders.NOON)
    table.settle(uuid, builders.NOON)
    with table.database.writer() as session:
        session.execute(sa.update(MemberRow).values(held=False).where(
            MemberRow.group_uuid == uuid))
    assert group_purge.purge(
        table.database, uuid, group_purge.Choice([GroupStatus.RELEASED]))


@pytest.mark.parametrize('delete', [purge, PlacementTable.delete_group])
def test_each_cache_forgets_a_group_that_another_engine_deletes(
        table, delete):
    first, second = settled(table, 2)
    caches = [OutlineCache(table.database) for _ in range(3)]
    for cache in caches:
        cache.read()
    delete(table, first)
    for cache in caches:
        assert cache.read().groups.keys() == {second}


def test_a_deletion_is_read_once(table, rows):
    first, second = settled(table, 2)
    table.outlines.read()
    table.delete_group(first)
    table.outlines.read()
    assert read(table, rows) == (4, 0)


def test_a_group_is_created_again_with_the_uuid_of_a_deleted_one(table, rows):
    first, second = settled(table, 2)
    table.outlines.read()
    table.delete_group(first)
    builders.planned(table, builders.a_group(uuid=first), node=3)
    found = table.outlines.read()
    assert found.groups.keys() == {first, second}
    assert len(found.by_group[first]) == 3
    forget_changes(table)
    assert read(table, rows) == (4, 0)
    table.delete_group(first)
    assert table.outlines.read().groups.keys() == {second}


def test_a_deletion_that_is_not_noted_is_found_by_comparing(table):
    """Services of the previous version note no deletion."""
    first, second = settled(table, 2)
    table.outlines.read()
    table.delete_group(first)
    with table.database.writer() as session:
        session.execute(sa.delete(DeletedGroupRow))
    assert first in table.outlines.read().groups
    table.outlines.compare_some()
    assert table.outlines.read().groups.keys() == {second}


def test_a_group_that_was_committed_late_is_found_by_comparing(
        table, monkeypatch):
    monkeypatch.setattr(outlines, 'ROWS', 2)
    known = settled(table, 4)
    table.outlines.read()
    late = [builders.planned(table, node=2).uuid for _ in range(5)]
    forget_changes(table)
    assert table.outlines.read().groups.keys() == {*known}
    for _ in range(len(outlines.KEPT) + 9 // 2):
        table.outlines.compare_some()
    assert table.outlines.read().groups.keys() == {*known, *late}


@pytest.mark.parametrize(('hours', 'found'), [(11, True), (13, False)])
def test_a_cache_that_was_not_read_for_long_reads_everything(
        table, hours, found):
    """The deletion may be forgotten in the meantime."""
    first, second = settled(table, 2)
    table.outlines.read()
    table.delete_group(first)
    with table.database.writer() as session:
        session.execute(sa.delete(DeletedGroupRow))
    table.outlines._read_at -= timedelta(hours=hours)
    assert (first in table.outlines.read().groups) is found


def test_everything_is_read_after_the_clock_was_set_back(table):
    first, second = settled(table, 2)
    table.outlines.read()
    table.outlines._read_at += timedelta(hours=1)
    table.delete_group(first)
    assert table.outlines.read().groups.keys() == {second}


def test_old_deletions_are_forgotten(table):
    first, second = settled(table, 2)
    table.delete_group(first)
    clock = DatabaseClock(table.database)
    for days, left in (0, 1), (2, 0):
        deletions.forget(table.database, clock() + timedelta(days=days))
        with table.database.reader() as session:
            assert len(session.scalars(
                sa.select(DeletedGroupRow.uuid)).all()) == left


def test_a_group_that_does_not_exist_is_not_noted(table):
    (first,) = settled(table, 1)
    for _ in range(2):
        table.delete_group(first)
    with table.database.reader() as session:
        assert session.scalars(sa.select(DeletedGroupRow.uuid)).all() == [
            first]


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
    assert table.outlines.read().unsettled == {first}
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
        found = table.outlines.read()
        lost.append(sum(len(found.members(
            uuid, [MemberState.LOST], [GroupStatus.PLANNED]))
            for uuid in found.groups))
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
        assert (len(sent.statements), len(rows)) == (3, 2 + 4)


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
    table.delete_group(uuids[1])
    found = table.outlines.read()
    assert found.by_group[uuids[0]][row.id].state == MemberState.CLAIMED
    assert found == OutlineCache(table.database).read()


def test_a_comparison_that_fails_skips_no_group(table, monkeypatch):
    """The next comparison continues with other groups, so the next read reads
    all of them."""
    monkeypatch.setattr(outlines, 'ROWS', 2)
    uuids = settled(table, 3)
    with table.database.writer() as session:
        session.execute(sa.update(MemberRow).values(
            state=MemberState.LOST, changed_at=MemberRow.changed_at))
    with monkeypatch.context() as patch:
        patch.setattr(OutlineCache, '_read_groups', broken)
        with pytest.raises(RuntimeError):
            table.outlines.compare_some()
    found = table.outlines.read()
    assert {member.state for uuid in uuids
            for member in found.by_group[uuid].values()} == {MemberState.LOST}


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

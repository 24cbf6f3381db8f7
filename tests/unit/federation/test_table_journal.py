# SPDX-License-Identifier: Apache-2.0
"""The journal of a saga, in the placement table."""

from dataclasses import replace

import pytest

from nova_holistic.federation.errors import JournalRefused
from nova_holistic.federation.saga.journal import PartRecord, PartState
from nova_holistic.federation.table_journal import TableJournal
from nova_holistic.table.records import GroupStatus, Task
from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.table import builders

NOON = builders.NOON
PART = PartRecord('p-1', 'dfw', 'shop', ('db/web',), PartState.CREATING, None)


@pytest.fixture
def table(tmp_path):
    return PlacementTable(new_table(tmp_path))


@pytest.fixture
def group(table):
    """UUID of a group whose task belongs to the process ``one``."""
    record = builders.a_group(GroupStatus.PLANNING, task=Task.PLANNING)
    table.create_group(record)
    assert table.tasks.take(record.uuid, 'one', NOON, NOON)
    return record.uuid


def journal_of(table, group, owner='one'):
    return TableJournal(table.parts, group, owner, lambda: NOON)


def test_what_is_written_is_read(table, group):
    journal = journal_of(table, group)
    journal.write(PART)
    created = replace(PART, state=PartState.CREATED, lease_end=NOON,
                      group_uuid=builders.new_uuid())
    journal.write(created)
    assert journal.read() == (created,)


def test_an_undone_part_is_forgotten(table, group):
    journal = journal_of(table, group)
    journal.write(PART)
    journal.write(replace(PART, state=PartState.UNDONE))
    assert journal.read() == ()


def test_another_process_is_refused(table, group):
    with pytest.raises(JournalRefused):
        journal_of(table, group, 'two').write(PART)


def test_a_group_that_has_changed_since_it_was_read_is_refused(table):
    """A task has begun and ended since."""
    record = builders.a_group(revision=2)
    table.create_group(record)
    for revision in (1, 3):
        with pytest.raises(JournalRefused):
            TableJournal(table.parts, record.uuid, None, lambda: NOON,
                         revision).write(PART)
    journal = TableJournal(table.parts, record.uuid, None, lambda: NOON, 2)
    assert journal.read() == ()
    journal.write(PART)
    assert journal.read() == (PART,)


def test_a_deleted_group_is_refused(table, group):
    table.delete_group(group)
    with pytest.raises(JournalRefused):
        journal_of(table, group).write(PART)

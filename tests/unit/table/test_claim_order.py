# SPDX-License-Identifier: Apache-2.0
"""The servers of a counted member are claimed in the order of the document.
The order in which the database reads the rows does not matter."""

import pytest

from nova_holistic.table.changes import group_revision
from nova_holistic.table.changes.group_revision import Revision
from nova_holistic.table.schema.models import MemberRow
from tests.unit.table import builders

NOON = builders.NOON
NEW_ORDER = ['db/node-2', 'db/node-0', 'db/node-3', 'db/node-1']


@pytest.fixture
def unsorted(table):
    """The table without the index that is sorted by position.

    With this index, a database reads the rows of a group in this order even if
    the query does not sort them.
    """
    (index,) = (each for each in MemberRow.__table__.indexes
                if 'position' in each.columns)
    index.drop(table.database.engine)
    yield table
    index.create(table.database.engine)


def test_servers_are_handed_out_in_an_order_in_which_they_were_not_written(
        unsorted):
    """The rows were written in one order, and an update changed the order."""
    table = unsorted
    group = builders.planned(
        table, builders.a_group(engine='engine-1'), node=4)
    assert group_revision.revise(
        table.database, group.uuid, 'engine-1',
        Revision({}, dict.fromkeys(NEW_ORDER, 'db/node')), NOON)
    claimed = [table.claim(group.uuid, 'db/node', builders.new_uuid(), NOON)
               for _ in NEW_ORDER]
    assert [row.member.path for row in claimed] == NEW_ORDER

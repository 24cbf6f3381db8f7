# SPDX-License-Identifier: Apache-2.0
"""The numbers of groups, members and tasks in the table."""

from collections.abc import Mapping

import sqlalchemy as sa

from nova_holistic.table.database import Database
from nova_holistic.table.schema.models import GroupRow, MemberRow


def totals(database: Database) -> Mapping[str, Mapping[str, int]]:
    """The numbers of ``groups`` by status, of ``members`` by state, and of
    ``tasks`` by task, in one statement each."""
    with database.reader() as session:
        return {name: {str(value): number for value, number
                       in session.execute(
                           sa.select(column, sa.func.count())
                           .where(column.is_not(None)).group_by(column))}
                for name, column in (('groups', GroupRow.status),
                                     ('members', MemberRow.state),
                                     ('tasks', GroupRow.task))}

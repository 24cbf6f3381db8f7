# SPDX-License-Identifier: Apache-2.0
"""Queries about all groups, whose results do not name any group."""

from collections.abc import Mapping

import sqlalchemy as sa

from nova_holistic.table.database import Database
from nova_holistic.table.queries.overview import ACTIVE
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


def any_group_uses_all_hosts(database: Database) -> bool:
    """Whether a policy of an active group depends on all hosts of the cloud,
    so that a scheduler needs them."""
    with database.link() as link:
        return link.scalar(_USES_ALL_HOSTS) is not None


# Each scheduler sends this statement periodically, so it is built once.
# MariaDB does not use the index for "is true".
_USES_ALL_HOSTS = sa.select(GroupRow.__table__.c.uuid).where(
    GroupRow.__table__.c.uses_all_hosts == sa.true(),
    GroupRow.__table__.c.status.in_(ACTIVE)).limit(1)

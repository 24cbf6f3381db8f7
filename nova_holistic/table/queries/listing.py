# SPDX-License-Identifier: Apache-2.0
"""Lists groups page by page, and counts groups and members of projects."""

from collections.abc import Collection, Mapping

import sqlalchemy as sa

from nova_holistic.table.batches import batches
from nova_holistic.table.database import Database
from nova_holistic.table import errors
from nova_holistic.table.queries import group_page
from nova_holistic.table.queries.group_page import Page
from nova_holistic.table.records import GroupRecord, MemberState
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow, MemberRow, PlanRow

_LIGHT = tuple(column for column in GroupRow.__table__.columns
               if column.name not in ('document', 'pending', 'changed_at'))


class Listing:
    """Queries of groups. Every method is one short transaction."""

    def __init__(self, database: Database):
        self._database = database

    def groups(self, page: Page) -> tuple[GroupRecord, ...]:
        """Groups of the page with empty documents.

        The cost does not depend on the number of groups of other projects or
        on other pages, with the exception that ``group_page`` states.

        The group of the marker may have changed since it was listed.
        Therefore, only its project has to be the selected one. If the page has
        a position, the group need not exist any longer.

        :raises GroupUnknown: the marker is not a group of the project, and the
            page has no position
        """
        last = page.position
        with self._database.reader() as session:
            if page.marker is not None and last is None:
                row = session.execute(sa.select(
                    getattr(GroupRow, page.sort_key)).where(
                        GroupRow.uuid == page.marker,
                        *group_page.of_project(page))).first()
                if row is None:
                    raise errors.GroupUnknown(page.marker)
                last = row[0]
            found = session.execute(group_page.statement(page, _LIGHT, last))
            return tuple(rows.light_group_record(row) for row in found)

    def by_idempotency_key(self, project_id: str,
                           key: str) -> GroupRecord | None:
        """The group that the project created with this key; None if no such
        group exists."""
        with self._database.reader() as session:
            row = session.scalar(sa.select(GroupRow).where(
                GroupRow.project_id == project_id,
                GroupRow.idempotency_key == key))
            return row and rows.group_record(row)

    def number(self, project_id: str) -> int:
        """Number of groups of a project."""
        with self._database.reader() as session:
            return session.scalar(
                sa.select(sa.func.count()).select_from(GroupRow)
                .where(GroupRow.project_id == project_id)) or 0

    def number_of_plans(self, project_id: str) -> int:
        """Number of dry runs of a project in the table."""
        with self._database.reader() as session:
            return session.scalar(
                sa.select(sa.func.count()).select_from(PlanRow)
                .where(PlanRow.project_id == project_id)) or 0

    def number_of_members(self, project_id: str) -> int:
        """Number of members of a project that are not released. A group with a
        task counts with its number of members after the task, if this is
        larger."""
        # On PostgreSQL, indexes do not contain the ID: to count it, all
        # members of the project, or of all projects, would be read.
        total = sa.func.count(MemberRow.group_uuid)
        alive = sa.and_(MemberRow.group_uuid == GroupRow.uuid,
                        MemberRow.state != MemberState.RELEASED)
        with self._database.view() as session:
            number = session.scalar(
                sa.select(total).select_from(MemberRow).join(GroupRow, alive)
                .where(GroupRow.project_id == project_id)) or 0
            waiting = session.execute(
                sa.select(GroupRow.asked, total)
                .outerjoin_from(GroupRow, MemberRow, alive)
                .where(GroupRow.project_id == project_id,
                       GroupRow.task.is_not(None),
                       GroupRow.asked.is_not(None))
                .group_by(GroupRow.uuid, GroupRow.asked))
            return number + sum(max(0, asked - now) for asked, now in waiting)

    def member_counts(self, group_uuids: Collection[str],
                      ) -> Mapping[str, Mapping[str, int]]:
        """Numbers of members by state, by UUID of the group, in one query for
        up to ``batches.MAX_BATCH_SIZE`` groups."""
        found: dict[str, dict[str, int]] = {uuid: {} for uuid in group_uuids}
        counts = sa.select(
            MemberRow.group_uuid, MemberRow.state, sa.func.count()).group_by(
                MemberRow.group_uuid, MemberRow.state)
        with self._database.link() as link:
            for batch in batches(group_uuids):
                for group, state, count in link.execute(
                        counts.where(MemberRow.group_uuid.in_(batch))):
                    found[group][state] = count
        return found

    def live_paths(self, group_uuid: str) -> frozenset[str]:
        """Paths of the members of a group that are not released."""
        with self._database.reader() as session:
            return frozenset(session.scalars(
                sa.select(MemberRow.path).where(
                    MemberRow.group_uuid == group_uuid,
                    MemberRow.state != MemberState.RELEASED)))

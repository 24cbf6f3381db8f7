# SPDX-License-Identifier: Apache-2.0
"""Placement's consumers that the table knows."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from nova_holistic.table.batches import batches
from nova_holistic.table.database import Database
from nova_holistic.table.records import MemberState, Task
from nova_holistic.table.schema.models import GroupRow, MemberRow

WANTED = (MemberState.PLANNED, MemberState.CLAIMED)
"""States of a member whose hold exists, or may be created at any moment."""


def known_consumers(database: Database,
                    consumers: Collection[str]) -> frozenset[str]:
    """Consumers that are servers of members, holds in use, or holds that are
    still to be dropped."""
    in_use = sa.or_(MemberRow.held.is_(True), MemberRow.state.in_(WANTED))
    found = set()
    with database.reader() as session:
        for batch in batches(sorted(consumers)):
            found.update(session.scalars(sa.select(MemberRow.hold).where(
                MemberRow.hold.in_(batch), in_use)))
            found.update(session.scalars(sa.select(
                MemberRow.instance_uuid).where(
                    MemberRow.instance_uuid.in_(batch))))
    return frozenset(found)


def any_group(database: Database) -> bool:
    """Whether the table contains any group, in any status."""
    with database.reader() as session:
        return session.scalar(sa.select(GroupRow.uuid).limit(1)) is not None


def unfinished_updates(database: Database) -> Sequence[Mapping[str, Any]]:
    """The parameters and the journals of updates that are not finished."""
    with database.reader() as session:
        return [pending or {} for pending in session.scalars(
            sa.select(GroupRow.pending).where(
                GroupRow.task == Task.UPDATING))]

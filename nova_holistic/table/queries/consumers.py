# SPDX-License-Identifier: Apache-2.0
"""Queries for the search for orphan holds in Placement."""

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
    """The given consumers that are servers of members, holds in use, or holds
    that must still be deleted."""
    if not consumers:
        return frozenset()
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
    """The parameters of unfinished updates, which contain their journals."""
    with database.reader() as session:
        return [pending or {} for pending in session.scalars(
            sa.select(GroupRow.pending).where(
                GroupRow.task == Task.UPDATING))]

# SPDX-License-Identifier: Apache-2.0
"""Gives other places to members that are not held yet.

A lost row that is held is being planned again, or its planner has failed. It
cannot be claimed, and its hold may or may not exist.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.batches import batches
from nova_holistic.table.changes import (
    alternates, places_versions, transitions)
from nova_holistic.table.database import Database, retried
from nova_holistic.table.records import MemberRecord, MemberState
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table import states

_LOST = states.MEMBERS.before(states.REPLAN)


class _Changed(Exception):
    """One of the rows has changed since it was planned again."""


@retried
def offer(database: Database, members: Sequence[MemberRecord]) -> bool:
    """Write the places at which lost members will be held: all, or none.

    :param members: lost and held members with their IDs, new holds and new
        places
    :returns: False if one of them is no longer lost, or another planner is
        planning it
    """
    try:
        with database.writer() as session:
            for member in members:
                _require_change(session, sa.update(MemberRow).where(
                    MemberRow.id == member.id,
                    MemberRow.group_uuid == member.group_uuid,
                    MemberRow.path == member.member.path,
                    MemberRow.state.in_(_LOST),
                    MemberRow.held.is_(False))
                    .values(rows.renewed_values(member)))
    except _Changed:
        return False
    return True


@retried
def move(database: Database, moved: Mapping[str, MemberRecord],
         engine: str | None = None) -> bool:
    """Write the other places at which members will be held: all, or none.

    :param moved: held members of one group with their new holds and places, by
        their previous holds, which are not in Placement
    :param engine: UUID of the engine that must own the group's task; None
        disables this check
    :returns: False if one of the members has changed, or if the engine does
        not own the task; then nothing is written
    """
    group_uuid = next(iter(moved.values())).group_uuid
    try:
        with database.writer() as session:
            # This also prevents other engines from taking the task at the same
            # time.
            owned = [] if engine is None else [GroupRow.engine == engine]
            _require_change(session, sa.update(GroupRow).where(
                GroupRow.uuid == group_uuid, *owned)
                .values(places_version=places_versions.next_version()))
            for hold, member in moved.items():
                _require_change(session, sa.update(MemberRow).where(
                    MemberRow.hold == hold,
                    MemberRow.group_uuid == group_uuid,
                    MemberRow.state == member.state,
                    MemberRow.held.is_(True),
                    MemberRow.instance_uuid.is_(None))
                    .values(places_version=places_versions.of_group(),
                            **rows.renewed_values(member)))
    except _Changed:
        return False
    return True


def _require_change(session: orm.Session, change: sa.Update) -> None:
    """:raises _Changed: the statement changes no row"""
    if not session.execute(change.execution_options(
            synchronize_session=False)).rowcount:
        raise _Changed


@retried
def accept(database: Database, holds: Collection[str], now: datetime) -> None:
    """Mark lost members as planned, because their new holds exist, unless they
    were released in the meantime. Request alternates for them."""
    groups: set[str] = set()
    with database.writer() as session:
        for batch in batches(sorted(holds)):
            transitions.change_members(session, [
                MemberRow.hold.in_(batch), MemberRow.held.is_(True),
                MemberRow.state.in_(_LOST),
            ], {'state': MemberState.PLANNED, 'updated_at': now})
            groups.update(session.scalars(
                sa.select(MemberRow.group_uuid).distinct()
                .where(MemberRow.hold.in_(batch))))
        alternates.request_alternates(session, groups, now)
